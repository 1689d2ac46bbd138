//! Histories of a queue without a bound.

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::check::dual::generate::Dice;
use flowmeter_harness::check::fifo::{History, NEVER, Operation, Outcome};
use std::collections::VecDeque;

const THREADS: usize = 4;

/// A history of that many operations by four threads, most often all of them in one, in the order of their
/// calls; the stamps are the numbers of the events. Illegal ones have the answers of two polls exchanged, in the
/// last quarter if that can be.
pub fn history(length: usize, seed: u64, legal: bool) -> Vec<Operation> {
    for attempt in 0.. {
        let mut dice = Dice::new(seed << 20 | attempt);
        let mut history = queue(&mut dice, length, usize::MAX);
        if legal || exchange(&mut history) {
            return history;
        }
    }
    unreachable!("some history has two values in order")
}

/// What a queue with that room did. Most of the time every thread that drives it is amid an operation.
pub fn queue(dice: &mut Dice, length: usize, room: usize) -> Vec<Operation> {
    /// Where a thread is.
    #[derive(Clone, Copy)]
    enum Stage {
        Idle,
        Called(usize),
        Done(usize),
    }
    let mut stages = [Stage::Idle; THREADS];
    let mut history: Vec<Operation> = Vec::with_capacity(length);
    let mut line = VecDeque::new();
    let (mut now, mut answered) = (0, 0);
    while answered < length {
        let thread = dice.below(THREADS);
        match stages[thread] {
            Stage::Idle if history.len() < length => {
                stages[thread] = Stage::Called(history.len());
                history.push(Operation {
                    thread: thread as u32,
                    invoke: now,
                    returned: NEVER,
                    outcome: match dice.below(2) {
                        0 => Outcome::Put(history.len() as u64),
                        _ => Outcome::TakeEmpty,
                    },
                });
                now += 1;
            }
            Stage::Idle => {}
            Stage::Called(at) => {
                history[at].outcome = match history[at].outcome {
                    Outcome::Put(_) if line.len() == room => Outcome::PutFull,
                    Outcome::Put(value) => {
                        line.push_back(value);
                        Outcome::Put(value)
                    }
                    _ => line.pop_front().map_or(Outcome::TakeEmpty, Outcome::Take),
                };
                stages[thread] = Stage::Done(at);
            }
            Stage::Done(at) => {
                history[at].returned = now;
                now += 1;
                answered += 1;
                stages[thread] = Stage::Idle;
            }
        }
    }
    history
}

/// Exchanges the answers of two polls so that the history is illegal, which tier two knows exactly here.
fn exchange(history: &mut [Operation]) -> bool {
    let is_take = |at: &usize| matches!(history[*at].outcome, Outcome::Take(_));
    let takes: Vec<usize> = (0..history.len()).filter(is_take).collect();
    let late = takes.len() * 3 / 4;
    let pairs = (late..takes.len()).chain((0..late).rev());
    for (one, other) in pairs.filter_map(|at| Some((takes[at], *takes.get(at + 1)?))) {
        let outcomes = [history[one].outcome, history[other].outcome];
        [history[other].outcome, history[one].outcome] = outcomes;
        let read = History::new(history).expect("it is well formed");
        if read.judge(Buffer::Unbounded).is_err() {
            return true;
        }
        [history[one].outcome, history[other].outcome] = outcomes;
    }
    false
}
