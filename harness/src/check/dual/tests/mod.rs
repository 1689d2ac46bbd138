//! Tests the search against a plain enumeration, against histories with known verdicts, and against random executions
//! of the specification.

mod brute;
mod known;
mod known_alts;
mod random;

use super::{Counterexample, Verdict, judge};
use crate::history::{Answer, Call, History, Operation, Storage};
use crate::spec::Rules;

/// Writes a history down event by event, one stamp each.
struct Script(History, u64);

impl Script {
    fn on<const N: usize>(channels: [Storage; N]) -> Script {
        Script(History::new(channels), 0)
    }

    fn invoke(&mut self, thread: usize, call: Call) -> usize {
        self.1 += 1;
        self.0.operations.push(Operation {
            thread,
            call,
            answer: Answer::Pending,
            invoked: self.1,
            returned: u64::MAX,
        });
        self.0.operations.len() - 1
    }

    fn answer(&mut self, op: usize, answer: Answer) {
        self.1 += 1;
        self.0.operations[op].returned = self.1;
        self.0.operations[op].answer = answer;
    }

    /// An operation called and answered with nothing in between.
    fn run(&mut self, thread: usize, call: Call, answer: Answer) {
        let op = self.invoke(thread, call);
        self.answer(op, answer);
    }

    /// Concurrent operations: all called one after the other, then all answered one after the other.
    fn at_once<const N: usize>(&mut self, operations: [(Call, Answer); N]) {
        let called = operations.map(|(call, answer)| (self.invoke(10, call), answer));
        for (thread, (op, answer)) in called.into_iter().enumerate() {
            self.0.operations[op].thread = 10 + thread;
            if answer != Answer::Pending {
                self.answer(op, answer);
            }
        }
    }

    fn at_rest(mut self) -> History {
        self.0.quiescent = true;
        self.0
    }
}

const ACCEPTED: Answer = Answer::Accepted { clause: 0 };
const REFUSED: Answer = Answer::Refused { clause: 0 };
const ENDED: Answer = Answer::Ended { clause: 0 };

fn took(value: u32) -> Answer {
    Answer::Took { clause: 0, value }
}

const BUDGET: u64 = 1_000_000;

fn verdict(history: &History, rules: Rules) -> Option<Box<Counterexample>> {
    match judge(history, rules, BUDGET) {
        Verdict::Legal => None,
        Verdict::Illegal(counterexample) => Some(counterexample),
        Verdict::Inconclusive(why) => panic!("{why}"),
    }
}

#[track_caller]
fn violates(id: &str, history: &History) {
    violates_under(id, history, Rules::STRICT);
}

#[track_caller]
fn violates_under(id: &str, history: &History, rules: Rules) {
    let found = verdict(history, rules).expect("this history is illegal");
    assert_eq!(found.violation.id, id, "{found}");
    let text = found.to_string();
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{text}");
}

#[track_caller]
fn is_legal(history: &History) {
    if let Some(counterexample) = verdict(history, Rules::STRICT) {
        panic!("{counterexample}");
    }
}
