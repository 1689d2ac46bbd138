//! Small programs on real threads at full speed. Their answers are compared with the set of all that the
//! specification allows. An execution of the plan is one program, run [`ROUNDS`] times; programs that may leave a
//! thread waiting are skipped. The seed determines which programs come first, and no program comes twice.

use std::collections::HashSet;
use std::time::Instant;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::check::outcomes::allowed_to_end;
use flowmeter_harness::history::{Answer, Call, Operation, Storage, Value};
use flowmeter_harness::spec::Rules;
use flowmeter_harness::sync::{Exploration, Explored, Failure, world};

use super::super::Explorer;
use super::Case;
use super::family::Generated;
use super::program::Program;
use super::scenarios::Scenarios;
use super::squad::{ROUNDS, Squad, packed, unpacked};
use super::style::Style;
use crate::design::Channels;
use crate::design::channels::Design;

const BUFFERS: [Buffer; 2] = [Buffer::Rendezvous, Buffer::fixed(1)];

/// A prime that divides no number of scenarios: repeated addition of it reaches each scenario once.
const STRIDE: u64 = 1_000_003;

/// How many of the allowed outcomes are printed.
const TOLD: usize = 12;

pub(super) fn cases(
    design: &Design,
    style: Style,
    id: &'static str,
    scenarios: Scenarios,
) -> Vec<Case> {
    let channels = design.channels;
    // Where schedules are explored, histories show more.
    if !style.is_of(design) || world::name() != "std" {
        return Vec::new();
    }
    let rules = Rules::of(&design.implementation.capabilities.claims);
    let shared = |buffer: &Buffer| {
        let (tx, rx) = channels.open::<Value>(*buffer).expect("it has one");
        channels.is_closable(*buffer) && tx.another().is_some() && rx.another().is_some()
    };
    channels
        .having(&BUFFERS)
        .filter(shared)
        .map(|buffer| {
            let scenarios = scenarios.clone();
            let explore = move |_: &Explorer, plan: &Exploration| {
                let search = Search {
                    channels,
                    style,
                    id,
                    scenarios: &scenarios,
                    buffer,
                    rules,
                };
                search.run(plan)
            };
            // A single round shows nothing: the outcome needs many rounds to occur.
            Case::generated(format!("at full speed, {buffer}"), explore, |_| None)
        })
        .collect()
}

struct Search<'a> {
    channels: Channels,
    style: Style,
    id: &'static str,
    scenarios: &'a Scenarios,
    buffer: Buffer,
    rules: Rules,
}

impl Search<'_> {
    fn run(&self, plan: &Exploration) -> Explored {
        let began = Instant::now();
        let count = self.scenarios.count();
        let squad = Squad::new(self.style);
        let (mut executions, mut failure) = (0, None);
        let mut programs = 0;
        for step in 0..count {
            if programs == plan.executions || began.elapsed() >= plan.time {
                break;
            }
            let number = (plan.seed % count + step * STRIDE) % count;
            let program = self.scenarios.program(number, self.buffer);
            let Some(allowed) = self.allowed(&program) else {
                continue;
            };
            programs += 1;
            let mut strange = None;
            let ended = squad.run(self.channels, &program, |outcome| {
                executions += 1;
                if !allowed.contains(&outcome) {
                    strange.get_or_insert(outcome);
                }
            });
            failure = match (ended, strange) {
                (false, _) => Some(format!(
                    "C3: it comes to its end by the specification, and did not, within {} executions: number \
                     {number} of its kind\n{program}",
                    executions + ROUNDS as u64
                )),
                (true, Some(outcome)) => Some(self.tale(number, &program, outcome, &allowed)),
                (true, None) => continue,
            };
            break;
        }
        Explored {
            executions,
            complete: false,
            undecided: 0,
            failure: failure.map(Failure::from),
        }
    }

    /// The outcomes that the specification allows; `None` when a thread may be left waiting.
    fn allowed(&self, program: &Program) -> Option<HashSet<u64>> {
        let storages: Vec<Storage> = program.channels.iter().map(|b| (*b).into()).collect();
        let allowed = allowed_to_end(&storages, &calls(program), self.rules)?;
        Some(allowed.iter().map(|outcome| packed(outcome)).collect())
    }

    fn tale(&self, number: u64, program: &Program, seen: u64, allowed: &HashSet<u64>) -> String {
        let mut tale = format!(
            "{}: the specification does not allow this outcome of number {number} of its kind\n{program}\
             seen:    {}\n",
            self.id,
            told(program, seen)
        );
        let mut allowed: Vec<u64> = allowed.iter().copied().collect();
        allowed.sort_unstable();
        for outcome in allowed.iter().take(TOLD) {
            tale += &format!("allowed: {}\n", told(program, *outcome));
        }
        if let Some(more @ 1..) = allowed.len().checked_sub(TOLD) {
            tale += &format!("and {more} more\n");
        }
        tale
    }
}

/// The calls of each thread. Values are numbered in the order of threads.
fn calls(program: &Program) -> Vec<Vec<Call>> {
    let mut value = 0;
    let mut call = |operation: &super::program::Operation| {
        value += operation.puts();
        operation.call(value - operation.puts(), 0)
    };
    let threads = program.threads.iter();
    threads
        .map(|operations| operations.iter().map(&mut call).collect())
        .collect()
}

/// An outcome as text.
fn told(program: &Program, outcome: u64) -> String {
    let answers = unpacked(outcome, program.size());
    let mut answers = answers.into_iter();
    let text = |call: Call, answer: Answer| {
        let call_text = call.to_string();
        let operation = Operation {
            thread: 0,
            call,
            answer,
            invoked: 0,
            returned: 0,
        };
        format!("{call_text} {}", operation.answer_text())
    };
    let threads: Vec<String> = calls(program)
        .into_iter()
        .map(|calls| {
            let texts: Vec<String> = calls
                .into_iter()
                .map(|call| text(call, answers.next().expect("one for each call")))
                .collect();
            texts.join("; ")
        })
        .collect();
    threads.join(" | ")
}
