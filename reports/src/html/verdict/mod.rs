//! The conclusions as a table, made from the estimates: which implementation to use, which one leads in each group. Below
//! stands how reliable that is. A run that may not call anything faster says so first, and its table compares nothing.

mod groups;
mod typical;
mod worth;

use crate::chart::Data;
use crate::number;
use crate::statistics::{Cell, UNOPTIMISED};

/// The conclusions of one machine.
pub struct Verdict {
    /// What has to be known before the table: that the run is unhealthy, or may not conclude.
    pub first: Vec<Sentence>,
    /// The table.
    pub rows: Vec<Row>,
    /// What was proved, and what the placebos say.
    pub last: Sentence,
}

/// Scenarios, and what leads there.
pub struct Row {
    /// A situation, a group or a scenario.
    pub over: String,
    /// What leads, with its number.
    pub leading: Sentence,
    /// What comes next; or why none leads. Empty in a run that may not conclude.
    pub next: Sentence,
    /// What costs the least CPU time in the group. Empty without a ranking of that.
    pub least_cpu: Sentence,
}

/// A sentence with its names marked.
#[derive(Default)]
pub struct Sentence {
    /// Parts: whether a part is a name, and its text.
    pub parts: Vec<(bool, String)>,
}

impl Sentence {
    fn say(mut self, text: impl Into<String>) -> Sentence {
        self.parts.push((false, text.into()));
        self
    }

    fn name(mut self, name: impl Into<String>) -> Sentence {
        self.parts.push((true, name.into()));
        self
    }

    fn names(mut self, names: &[&str]) -> Sentence {
        for (i, name) in names.iter().enumerate() {
            self = match i {
                0 => self,
                i if i + 1 == names.len() => self.say(" and "),
                _ => self.say(", "),
            };
            self = self.name(*name);
        }
        self
    }

    /// Appends how many more there are.
    fn more(self, more: usize) -> Sentence {
        match more {
            0 => self,
            more => self.say(format!(" and {more} more")),
        }
    }
}

/// The conclusions. A run that may conclude nothing has what was measured, without a comparison.
pub fn of(data: &Data) -> Verdict {
    let mut first = Vec::new();
    let health = data.estimates.health();
    if !health.is_sound() {
        let sentence = health.sentence().replacen("unhealthy", "Unhealthy", 1);
        first.push(Sentence::default().say(format!("{sentence}.")));
    }
    if data.estimates.exploratory {
        first.push(Sentence::default().say(inconclusive(data)));
    }
    let mut rows = typical::rows(data);
    if rows.is_empty() {
        first.push(Sentence::default().say(NO_NUMBER));
    }
    rows.extend(groups::rows(data));
    Verdict {
        first,
        rows,
        last: worth::worth(data),
    }
}

/// The sentence of a run without a number.
const NO_NUMBER: &str = "No implementation has a number in any scenario: see what failed below.";

/// Why a run calls nothing faster.
fn inconclusive(data: &Data) -> String {
    let short = data.runs.iter().find(|run| run.run.exploratory);
    let length = short.map(|run| {
        let (forks, rounds) = (run.run.forks, run.run.rounds);
        let forks_word = if forks == 1 { "fork" } else { "forks" };
        format!("{forks} {forks_word} of {rounds} rounds")
    });
    match (length, data.estimates.unoptimised) {
        (Some(length), false) => {
            format!("This run is too short to call any implementation faster: {length}.")
        }
        (Some(length), true) => format!(
            "This run is too short to call any implementation faster ({length}), and of an {UNOPTIMISED}."
        ),
        (None, _) => format!(
            "This run cannot call any implementation faster, since it is of an {UNOPTIMISED}."
        ),
    }
}

/// The largest number of implementations that a sentence names with their numbers.
const TOLD: usize = 3;

/// The medians of some cells of one scenario with their intervals: the first few, and how many more there are.
fn medians(cells: &[&Cell], told: usize) -> Sentence {
    let mut sentence = Sentence::default();
    for (i, cell) in cells.iter().take(told).enumerate() {
        let Some(m) = cell.measured() else {
            continue;
        };
        let unproved = match cell.unproved {
            Some(_) => ", unproved",
            None => "",
        };
        sentence = sentence
            .say(if i == 0 { "" } else { ", " })
            .name(&cell.implementation)
            .say(format!(
                " {}{} ({}{unproved})",
                m.bound(),
                number::value_with_unit(m.median, &cell.unit),
                number::interval(m.lo, m.hi, &cell.unit)
            ));
    }
    sentence.more(cells.len().saturating_sub(told))
}
