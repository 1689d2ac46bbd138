//! Threads that run one small program repeatedly at full speed. They are started once and begin each round together.
//! Every round has channels of its own, and only the answers are recorded.
//!
//! Invariant: during a round the channels are the only shared memory that a thread accesses.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use flowmeter_harness::channel::Patience;
use flowmeter_harness::history::{Answer, Value};

use super::program::{Operation, Program, Wait};
use super::style::{Halves, Style};
use crate::design::Channels;

/// How many rounds a thread is given at once.
pub(super) const ROUNDS: usize = 256;

/// How often a thread polls the others before it yields its core: there may be more threads than cores.
const SPINS: u32 = 256;

/// A program that leaves no thread waiting is done by then.
const HANGS: Duration = Duration::from_secs(5);

/// The work of one thread for so many rounds.
struct Order {
    operations: Vec<Operation>,
    first: usize,
    rounds: Vec<Halves<Value>>,
    meeting: Arc<Meeting>,
}

/// The packed answers of one thread for each round, and its halves, which are dropped with those of the other
/// threads.
type Report = (usize, Vec<u64>, Vec<Halves<Value>>);

/// The barrier of the threads of a round.
struct Meeting {
    threads: usize,
    arrived: AtomicUsize,
}

impl Meeting {
    /// Relaxed: a stronger order would hide what the channels lack.
    fn begin(&self, round: usize) {
        self.arrived.fetch_add(1, Relaxed);
        let mut looks = 0;
        while self.arrived.load(Relaxed) < (round + 1) * self.threads {
            looks += 1;
            if looks % SPINS == 0 {
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
    }
}

/// Up to three threads.
pub(super) struct Squad {
    orders: Vec<Sender<Order>>,
    reports: Receiver<Report>,
}

impl Squad {
    pub(super) fn new(style: Style) -> Self {
        let (report, reports) = channel();
        let start = |member: usize| {
            let (order, orders) = channel::<Order>();
            let report = report.clone();
            thread::spawn(move || {
                for order in orders {
                    // The receiver is gone once a program has hung.
                    if report.send(obey(style, member, order)).is_err() {
                        return;
                    }
                }
            });
            order
        };
        Squad {
            orders: (0..3).map(start).collect(),
            reports,
        }
    }

    /// Runs the program [`ROUNDS`] times and passes on the answers of each round, packed in the order of threads.
    /// Returns `false` when it hangs; the squad cannot be used after that.
    pub(super) fn run(
        &self,
        channels: Channels,
        program: &Program,
        mut outcome: impl FnMut(u64),
    ) -> bool {
        let meeting = Arc::new(Meeting {
            threads: program.threads.len(),
            arrived: AtomicUsize::new(0),
        });
        let mut rounds: Vec<Vec<Halves<Value>>> =
            program.threads.iter().map(|_| Vec::new()).collect();
        for _ in 0..ROUNDS {
            for (thread, halves) in fresh(channels, program).into_iter().enumerate() {
                rounds[thread].push(halves);
            }
        }
        let mut first = 0;
        for ((operations, rounds), order) in program.threads.iter().zip(rounds).zip(&self.orders) {
            let given = order.send(Order {
                operations: operations.clone(),
                first,
                rounds,
                meeting: Arc::clone(&meeting),
            });
            given.expect("a member obeys until the squad is gone");
            first += operations.iter().map(Operation::puts).sum::<usize>();
        }
        let mut packed = vec![0; ROUNDS];
        let mut kept = Vec::new();
        for _ in &program.threads {
            match self.reports.recv_timeout(HANGS) {
                Ok((member, answers, halves)) => {
                    let before: usize = program.threads[..member].iter().map(Vec::len).sum();
                    for (packed, answers) in packed.iter_mut().zip(answers) {
                        *packed |= answers << (before as u32 * BITS);
                    }
                    kept.push(halves);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
        packed.into_iter().for_each(&mut outcome);
        true
    }
}

/// Halves of new channels for each thread.
fn fresh(channels: Channels, program: &Program) -> Vec<Halves<Value>> {
    let mut all: Vec<Halves<Value>> = program
        .threads
        .iter()
        .map(|_| Halves {
            txs: Vec::new(),
            rxs: Vec::new(),
        })
        .collect();
    for buffer in &program.channels {
        let (tx, rx) = channels.open::<Value>(*buffer).expect("asked before");
        for halves in &mut all[1..] {
            halves.txs.push(tx.another());
            halves.rxs.push(rx.another());
        }
        all[0].txs.push(Some(tx));
        all[0].rxs.push(Some(rx));
    }
    all
}

fn obey(style: Style, member: usize, order: Order) -> Report {
    let patience: Vec<Patience> = order
        .operations
        .iter()
        .map(|operation| match operation {
            Operation::Alts {
                wait: Wait::Not, ..
            } => Patience::Now,
            _ => Patience::Forever,
        })
        .collect();
    let (mut answers, mut rounds) = (Vec::with_capacity(order.rounds.len()), order.rounds);
    for (round, halves) in rounds.iter_mut().enumerate() {
        let (mut value, mut packed) = (order.first as Value, 0);
        order.meeting.begin(round);
        for (at, operation) in order.operations.iter().enumerate() {
            let values: Vec<Value> = (value..value + operation.puts() as Value).collect();
            value += operation.puts() as Value;
            let answer = style.act(halves, operation, patience[at], values);
            packed |= pack(answer) << (at as u32 * BITS);
        }
        answers.push(packed);
    }
    (member, answers, rounds)
}

/// The bits of one answer: nine operations fit into a word.
const BITS: u32 = 6;

/// At most two clauses and eighteen values.
fn pack(answer: Answer) -> u64 {
    let number = match answer {
        Answer::WouldWait => 0,
        Answer::Closed => 1,
        Answer::Accepted { clause } => 2 + clause,
        Answer::Refused { clause } => 4 + clause,
        Answer::Ended { clause } => 6 + clause,
        Answer::Took { clause, value } => 8 + 18 * clause + value as usize,
        Answer::TimedOut | Answer::Cancelled | Answer::Pending => {
            unreachable!("no small program has a deadline, drops a future or is left waiting")
        }
    };
    number as u64
}

/// Answers in the order of threads.
pub(super) fn packed(outcome: &[Answer]) -> u64 {
    let at = |(at, answer): (usize, &Answer)| pack(*answer) << (at as u32 * BITS);
    outcome.iter().enumerate().map(at).sum()
}

/// [`packed`], undone.
pub(super) fn unpacked(packed: u64, operations: usize) -> Vec<Answer> {
    let answer = |at: usize| {
        let number = (packed >> (at as u32 * BITS)) as usize & ((1 << BITS) - 1);
        match number {
            0 => Answer::WouldWait,
            1 => Answer::Closed,
            2 | 3 => Answer::Accepted { clause: number - 2 },
            4 | 5 => Answer::Refused { clause: number - 4 },
            6 | 7 => Answer::Ended { clause: number - 6 },
            _ => Answer::Took {
                clause: (number - 8) / 18,
                value: ((number - 8) % 18) as Value,
            },
        }
    };
    (0..operations).map(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_unpacked_as_it_was_packed() {
        let outcome = [
            Answer::Took {
                clause: 1,
                value: 17,
            },
            Answer::Ended { clause: 1 },
            Answer::WouldWait,
            Answer::Closed,
            Answer::Refused { clause: 0 },
            Answer::Accepted { clause: 1 },
            Answer::Took {
                clause: 0,
                value: 0,
            },
            Answer::Took {
                clause: 0,
                value: 17,
            },
            Answer::Accepted { clause: 0 },
        ];
        assert_eq!(unpacked(packed(&outcome), outcome.len()), outcome);
    }
}
