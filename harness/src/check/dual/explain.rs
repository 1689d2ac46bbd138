//! Names the statement that an illegal history violates.
//!
//! The search decides exactly whether a history is legal, and finds the answer at which it stops being so. The id is a
//! judgement from that answer and from the ledger of values. The rules go from the particular to the general.

use crate::check::Violation;
use crate::history::{Answer, Call, Clause, History, Storage, Value, channel_name};

/// The violated id, and a sentence. `without_priority` says whether the history is legal if the culprit's clauses have
/// no order.
pub(super) fn explain(
    history: &History,
    culprit: Option<usize>,
    without_priority: impl FnOnce() -> bool,
) -> Violation {
    let books = Books(history);
    let (id, text) = books
        .bad_take(culprit)
        .or_else(|| match culprit {
            Some(op) if books.prefers(op) && without_priority() => Some((
                "A5",
                format!("{} although an earlier clause was able", books.answered(op)),
            )),
            Some(op) => Some(books.bad_answer(op)),
            None => books.bad_rest(),
        })
        .unwrap_or_else(|| ("C3", "something waits for ever that need not".to_owned()));
    Violation { id, text }
}

type Named = (&'static str, String);

struct Books<'a>(&'a History);

impl Books<'_> {
    fn call(&self, op: usize) -> String {
        let operation = &self.0.operations[op];
        format!("{} of thread {}", operation.call, operation.thread)
    }

    fn answered(&self, op: usize) -> String {
        let answer = self.0.operations[op].answer_text();
        format!("{} was answered \"{answer}\"", self.call(op))
    }

    fn prefers(&self, op: usize) -> bool {
        let operation = &self.0.operations[op];
        let won = won(operation.answer);
        operation.call.has_priority() && won.is_some_and(|clause| clause > 0)
    }

    fn takers(&self, value: Value) -> Vec<usize> {
        let took = |op: &usize| matches!(self.0.operations[*op].answer, Answer::Took { value: taken, .. } if taken == value);
        (0..self.0.operations.len()).filter(took).collect()
    }

    /// A take with a value that no put can have given it.
    fn bad_take(&self, culprit: Option<usize>) -> Option<Named> {
        let mut takes: Vec<usize> = (0..self.0.operations.len()).collect();
        takes.sort_by_key(|op| Some(*op) != culprit);
        takes.into_iter().find_map(|op| self.bad_value(op))
    }

    fn bad_value(&self, op: usize) -> Option<Named> {
        let Answer::Took { clause, value } = self.0.operations[op].answer else {
            return None;
        };
        let channel = self.0.operations[op].call.clauses()[clause].channel();
        let put = Clause::put(channel, value);
        let putters: Vec<(usize, usize)> = (0..self.0.operations.len())
            .flat_map(|op| {
                let clauses = self.0.operations[op].call.clauses().iter().enumerate();
                clauses
                    .filter(|(_, c)| **c == put)
                    .map(move |(at, _)| (op, at))
            })
            .collect();
        let takers = self.takers(value);
        let answered = self.answered(op);
        if putters.is_empty() {
            return Some(("C2", format!("{answered}, which was never put there")));
        }
        if takers.len() > 1 && self.0.channels[channel] != Storage::Promise {
            let text = format!("value {value} was taken {} times", takers.len());
            return Some(("C2", text));
        }
        if putters.iter().all(|(putter, _)| *putter == op) {
            return Some(("A4", format!("{answered}: it met itself")));
        }
        let faults: Option<Vec<Named>> = putters
            .iter()
            .map(|&(putter, at)| self.not_given(putter, at, op))
            .collect();
        faults?.into_iter().next()
    }

    /// Why that clause of `putter` did not put what `taker` took; `None` if it may have.
    fn not_given(&self, putter: usize, at: usize, taker: usize) -> Option<Named> {
        let operation = &self.0.operations[putter];
        let alone = operation.call.clauses().len() == 1;
        let id = match operation.answer {
            Answer::Accepted { clause } if clause == at => return None,
            Answer::Pending | Answer::Cancelled => return None,
            Answer::Refused { clause } if clause == at => "C1",
            Answer::Refused { .. } | Answer::Ended { .. } => "A2",
            Answer::WouldWait if alone => "C5",
            Answer::TimedOut if alone => "C8",
            Answer::WouldWait => "A6",
            Answer::TimedOut => "A9",
            _ => "A1",
        };
        let clause = operation.call.clauses()[at];
        let taken = format!("was taken by thread {}", self.0.operations[taker].thread);
        Some((
            id,
            match alone {
                true => format!("{}, but its value {taken}", self.answered(putter)),
                false => format!(
                    "the losing clause {clause} {taken}, while {}",
                    self.answered(putter)
                ),
            },
        ))
    }

    /// A value that went into the channel and that no take received, and the operation that lost it.
    fn lost(&self, channel: usize) -> Option<Named> {
        if !matches!(
            self.0.channels[channel],
            Storage::Rendezvous | Storage::Fixed(_) | Storage::Unbounded
        ) {
            return None;
        }
        let (putter, value) =
            (self.0.operations.iter().enumerate()).find_map(|(op, operation)| {
                let Answer::Accepted { clause } = operation.answer else {
                    return None;
                };
                match operation.call.clauses()[clause] {
                    Clause::Put { channel: to, value }
                        if to == channel && self.takers(value).is_empty() =>
                    {
                        Some((op, value))
                    }
                    _ => None,
                }
            })?;
        let lost = format!("{}, and no take had {value}", self.answered(putter));
        let take = Clause::take(channel);
        let suspect = (0..self.0.operations.len()).find(|&op| {
            let operation = &self.0.operations[op];
            let won = won(operation.answer).map(|clause| operation.call.clauses()[clause]);
            operation.call.clauses().len() > 1
                && operation.call.clauses().contains(&take)
                && (won.is_some_and(|won| won != take) || op == putter)
        });
        Some(match suspect {
            Some(op) if op == putter => ("A4", format!("{}: it met itself", self.answered(op))),
            Some(op) => {
                let early = matches!(
                    self.0.operations[op].answer,
                    Answer::Refused { .. } | Answer::Ended { .. }
                );
                let id = if early { "A2" } else { "A1" };
                (
                    id,
                    format!("{lost}, while {}, whose {take} lost", self.answered(op)),
                )
            }
            None => ("C1", lost),
        })
    }

    /// Whether a close of the channel was called before the operation was called (`by_call`) or answered.
    fn closing(&self, channel: usize, op: usize, by_call: bool) -> bool {
        let me = &self.0.operations[op];
        self.0.operations.iter().any(|o| {
            o.call == Call::Close(channel)
                && if by_call {
                    o.returned < me.invoked
                } else {
                    o.invoked < me.returned
                }
        })
    }

    fn bad_answer(&self, op: usize) -> Named {
        let operation = &self.0.operations[op];
        let clauses = operation.call.clauses();
        let channel = won(operation.answer).map_or(0, |clause| clauses[clause].channel());
        let answered = self.answered(op);
        let name = channel_name(channel);
        // A value that went to a losing clause: on a rendezvous it can be nowhere else.
        let mut swallowed = clauses.iter().filter(|clause| {
            let rendezvous = self.0.channels[clause.channel()] == Storage::Rendezvous;
            clauses.len() > 1 && rendezvous && matches!(clause, Clause::Take { .. })
        });
        if let Some(fault) = swallowed.find_map(|clause| self.lost(clause.channel())) {
            return fault;
        }
        match operation.answer {
            Answer::Accepted { clause } => {
                let value = match clauses[clause] {
                    Clause::Put { value, .. } => value,
                    Clause::Take { .. } => return ("A1", format!("{answered}, and is no put")),
                };
                if self.closing(channel, op, true) {
                    (
                        "C6",
                        format!("{answered} although {name} was closed before"),
                    )
                } else if self.0.channels[channel] != Storage::Rendezvous {
                    ("C3", format!("{answered} although {name} was full"))
                } else if self.takers(value).is_empty() {
                    let fault = self.lost(channel);
                    fault.unwrap_or(("C1", format!("{answered} without a taker")))
                } else {
                    ("C1", format!("{answered} before a taker had the value"))
                }
            }
            Answer::Refused { .. } if self.closing(channel, op, false) => (
                "C6",
                format!("{answered} although it waited when {name} was closed"),
            ),
            Answer::Refused { .. } => ("C1", format!("{answered} although {name} was open")),
            Answer::Took { value, .. } => (
                "C2",
                format!("{answered}, but {value} was not first in line at any moment of it"),
            ),
            Answer::Ended { .. } if !self.closing(channel, op, false) => (
                "C2",
                format!("{answered} although no call had closed {name}"),
            ),
            Answer::Ended { .. } => (
                "C6",
                format!("{answered} although something was left in {name}"),
            ),
            Answer::WouldWait | Answer::TimedOut => {
                let mut channels = clauses.iter().filter(|c| matches!(c, Clause::Take { .. }));
                if let Some(fault) = channels.find_map(|c| self.lost(c.channel())) {
                    return fault;
                }
                let id = match (operation.answer, clauses.len()) {
                    (Answer::WouldWait, 1) => "C5",
                    (Answer::WouldWait, _) => "A6",
                    (_, 1) => "C8",
                    _ => "A9",
                };
                (id, format!("{answered} although it was able throughout"))
            }
            Answer::Closed => ("C6", answered),
            Answer::Cancelled | Answer::Pending => ("C9", answered),
        }
    }

    /// A waiting operation that could proceed.
    fn bad_rest(&self) -> Option<Named> {
        (0..self.0.operations.len())
            .filter(|op| self.0.operations[*op].answer == Answer::Pending)
            .find_map(|op| self.bad_wait(op))
    }

    fn bad_wait(&self, op: usize) -> Option<Named> {
        let call = &self.0.operations[op].call;
        let waits = format!("{} waits for ever", self.call(op));
        if let Call::Close(_) = call {
            return Some(("C6", waits));
        }
        if !call.waits() {
            return Some(("C5", waits));
        }
        call.clauses().iter().find_map(|clause| {
            let channel = clause.channel();
            let name = channel_name(channel);
            let partner = self.opposite(op, *clause);
            match (clause, partner) {
                (Clause::Put { value, .. }, _) if !self.takers(*value).is_empty() => Some((
                    "C3",
                    format!("{waits} although its value {value} was taken"),
                )),
                (_, Some(other)) if self.0.channels[channel] == Storage::Rendezvous => {
                    let alts = |op: usize| self.0.operations[op].call.clauses().len() > 1;
                    let id = if alts(op) && alts(other) { "A3" } else { "C3" };
                    Some((id, format!("{waits}, and so does {}", self.call(other))))
                }
                (Clause::Take { .. }, _) if self.lost(channel).is_some() => {
                    Some(("C3", format!("{waits} although {name} has a value")))
                }
                _ if self.0.closes(channel) => {
                    Some(("C6", format!("{waits} although {name} is closed")))
                }
                (Clause::Put { .. }, _) if self.0.channels[channel] != Storage::Rendezvous => {
                    Some(("C3", format!("{waits} although {name} has room")))
                }
                _ => None,
            }
        })
    }

    /// A pending operation that could meet this clause.
    fn opposite(&self, op: usize, clause: Clause) -> Option<usize> {
        (0..self.0.operations.len()).find(|&other| {
            let operation = &self.0.operations[other];
            let meets = |c: &Clause| {
                c.channel() == clause.channel()
                    && matches!(c, Clause::Put { .. }) != matches!(clause, Clause::Put { .. })
            };
            other != op
                && operation.answer == Answer::Pending
                && operation.call.clauses().iter().any(meets)
        })
    }
}

/// The clause that an answer names.
fn won(answer: Answer) -> Option<usize> {
    match answer {
        Answer::Accepted { clause }
        | Answer::Refused { clause }
        | Answer::Took { clause, .. }
        | Answer::Ended { clause } => Some(clause),
        _ => None,
    }
}
