//! A finding in words: what is wrong, a drawing of the execution, and how to replay it.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};

use flowmeter_harness::history::{Mark, Place, drawn};
use flowmeter_harness::sync::trace::{Event, What};
use flowmeter_harness::sync::{Failure, Note};

use crate::program::Program;
use crate::replay::Replay;
use crate::search::REPLAY;

/// A drawing of more lines shows calls and answers only.
const LINES: usize = 80;
/// The step of a thread that waits for a future, whatever that future is compiled with. The one that goes on has no place.
const AWAITS: &str = "waits in block_on";

/// What was found.
pub(crate) struct Finding<'a, O> {
    pub(crate) test: &'a str,
    pub(crate) package: &'a str,
    pub(crate) program: &'a Program<O>,
    /// How many operations the program had at first.
    pub(crate) drawn: usize,
    pub(crate) failure: &'a Failure,
    /// The events of the execution, where it could be run again.
    pub(crate) events: &'a [Event],
    pub(crate) replay: &'a Replay,
}

impl<O: Clone + Debug> fmt::Display for Finding<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.failure.message.trim_end();
        let own = ["not linearizable: ", "hang: ", "undecided: "];
        let kind = match self.failure.limit {
            true => "undecided: the explorer has reached a limit of its own: ",
            false if own.iter().any(|kind| message.starts_with(kind)) => "",
            false => "a panic: ",
        };
        writeln!(f, "{}\n\n{kind}{message}", self.test)?;
        let mut marks = marks(self.program, self.events);
        if marks.len() > LINES {
            marks.retain(|mark| mark.place != Place::Step);
        }
        match marks.is_empty() {
            false => write!(f, "\n{}", picture(self.program, &marks))?,
            true if message.contains('┌') => {}
            true => write!(f, "\n{}", self.program)?,
        }
        write!(f, "\nProgram {}, ", self.replay.program)?;
        match self.program.size() {
            size if size == self.drawn => write!(f, "{size} operations")?,
            size => write!(f, "{} operations shrunk to {size}", self.drawn)?,
        }
        let switches = self
            .failure
            .schedule
            .as_ref()
            .and_then(|schedule| schedule.switches());
        if let Some(switches) = switches {
            write!(f, ", {switches} switches between threads")?;
        }
        write!(
            f,
            ". To replay it:\n  {REPLAY}='{} {}' cargo test -p {} {}",
            self.test, self.replay, self.package, self.test
        )
    }
}

/// The number with which a note begins.
fn number(text: &str) -> Option<usize> {
    text.split(' ').next()?.parse().ok()
}

/// The notes of the program's threads, and their steps within operations.
fn marks<O: Clone>(program: &Program<O>, events: &[Event]) -> Vec<Mark> {
    // For each thread of the world the thread of the program, while it is in an operation.
    let mut inside: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    let mut marks = Vec::new();
    for Event { thread, what } in events {
        let (column, place, text) = match what {
            What::Said(Note::Called(text)) => {
                let Some(owner) = number(text).and_then(|number| program.owner(number)) else {
                    continue;
                };
                inside.insert(*thread, owner);
                (owner, Place::Call, text.clone())
            }
            What::Said(Note::Answered(text)) => match inside.remove(thread) {
                Some(owner) => (owner, Place::Answer, text.clone()),
                None => continue,
            },
            What::Step { what, at } => match inside.get(thread) {
                Some(owner) => {
                    let line = at.as_deref().and_then(|at| at.rsplit('/').next());
                    let text = line.map_or_else(|| what.clone(), |line| format!("{what} {line}"));
                    (*owner, Place::Step, text)
                }
                None => continue,
            },
            What::Said(_) => continue,
        };
        marks.push(Mark {
            column,
            place,
            text,
        });
    }
    marks
}

/// Whether there is a step of the structure within an operation. What awaits an operation is a part of the world.
pub(crate) fn shows_steps(events: &[Event]) -> bool {
    let mut inside = BTreeMap::new();
    events.iter().any(|Event { thread, what }| {
        let is_inside = inside.entry(*thread).or_insert(false);
        match what {
            What::Said(Note::Called(_)) => *is_inside = true,
            What::Said(Note::Answered(_)) => *is_inside = false,
            What::Step { what, at: Some(_) } if what != AWAITS => return *is_inside,
            What::Step { .. } | What::Said(_) => {}
        }
        false
    })
}

/// Draws an execution. Threads that run alone have a line for each operation, and the others a column for each thread.
pub(crate) fn picture<O: Clone>(program: &Program<O>, marks: &[Mark]) -> String {
    let [before, beside, after] = program.phases();
    let of = |phase: &std::ops::Range<usize>| -> Vec<Mark> {
        let all = marks.iter().filter(|mark| phase.contains(&mark.column));
        all.cloned().collect()
    };
    let names: Vec<String> = beside.clone().map(|thread| program.name(thread)).collect();
    let mut columns = of(&beside);
    for mark in &mut columns {
        mark.column -= beside.start;
    }
    let mut text = alone("before", &of(&before));
    text += &drawn(&names, &columns);
    text += &alone("after", &of(&after));
    text
}

/// The calls of one thread with their answers, one a line.
fn alone(name: &str, marks: &[Mark]) -> String {
    let mut text = String::new();
    for mark in marks {
        match mark.place {
            Place::Call => text += &format!("{name:<8}{} -> ", mark.text),
            Place::Step => {}
            // Without the number, which the call has.
            Place::Answer => {
                text += mark.text.split_once(' ').map_or("", |(_, answer)| answer);
                text.push('\n');
            }
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text += "pending\n";
    }
    text
}
