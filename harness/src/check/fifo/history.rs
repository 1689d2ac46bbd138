//! A history with each put paired with its take, ready for judging.

use std::fmt;

use super::{Interval, NEVER, Operation, Outcome, Rejection, queue, rendezvous};
use crate::channel::Buffer;
use crate::check::Violation;

/// What happened on one channel, from its opening on.
#[derive(Clone, Debug)]
pub struct History<'a> {
    pub(super) operations: &'a [Operation],
    /// The values that were certainly in the channel: their put was answered, or they were taken.
    pub(super) values: Vec<Passage>,
    /// Unanswered puts of values that were never taken.
    pub(super) undecided: Vec<usize>,
    /// The operations that are neither a put nor a take of a value.
    pub(super) others: Vec<usize>,
    /// A take of a value that was never put, or that another take received too.
    stray: Option<Stray>,
}

/// The put and the take of one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) put: usize,
    pub(super) take: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Stray {
    NeverPut(usize),
    TakenTwice(usize, usize),
}

/// Why the operations are not a history of a channel with distinct values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    text: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Malformed {}

impl<'a> History<'a> {
    /// Reads operations, in any order. [`History::judge`] finds what the channel did wrong.
    ///
    /// # Errors
    /// When an operation returns before it is called, is called at [`NEVER`], has an answer without a return,
    /// or puts a value that another one puts too.
    pub fn new(operations: &'a [Operation]) -> Result<History<'a>, Malformed> {
        let (mut puts, mut takes, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (index, operation) in operations.iter().enumerate() {
            well_formed(operation)?;
            match operation.outcome {
                Outcome::Put(value) => puts.push((value, index)),
                Outcome::Take(value) => takes.push((value, index)),
                _ => others.push(index),
            }
        }
        puts.sort_unstable();
        takes.sort_unstable();
        let mut history = History {
            operations,
            values: Vec::with_capacity(puts.len()),
            undecided: Vec::new(),
            others,
            stray: None,
        };
        history.pair(&puts, &takes)?;
        Ok(history)
    }

    /// Whether a channel with that buffer can have produced this history.
    ///
    /// # Errors
    /// The rule that is broken, and the operations that show it.
    pub fn judge(&self, buffer: Buffer) -> Result<(), Rejection> {
        if let Some(stray) = self.stray {
            return Err(self.reject_stray(stray));
        }
        match buffer {
            Buffer::Rendezvous => rendezvous::judge(self),
            _ => queue::judge(self, buffer),
        }
    }

    /// Merges puts and takes, both sorted by value.
    fn pair(&mut self, puts: &[(u64, usize)], takes: &[(u64, usize)]) -> Result<(), Malformed> {
        let mut takes = takes.iter().copied().peekable();
        let mut previous = None;
        for &(value, put) in puts {
            if previous.replace(value) == Some(value) {
                let text = format!("value {value} is put twice; values are distinct");
                return Err(Malformed { text });
            }
            while let Some((_, take)) = takes.next_if(|(taken, _)| *taken < value) {
                self.stray = Some(Stray::NeverPut(take));
            }
            let take = takes
                .next_if(|(taken, _)| *taken == value)
                .map(|(_, take)| take);
            while let (Some(first), Some((_, second))) =
                (take, takes.next_if(|(taken, _)| *taken == value))
            {
                self.stray = Some(Stray::TakenTwice(first, second));
            }
            if take.is_none() && self.operations[put].returned == NEVER {
                self.undecided.push(put);
            } else {
                self.values.push(Passage { put, take });
            }
        }
        if let Some((_, take)) = takes.next() {
            self.stray = Some(Stray::NeverPut(take));
        }
        Ok(())
    }

    fn reject_stray(&self, stray: Stray) -> Rejection {
        match stray {
            Stray::NeverPut(take) => {
                let text = format!("{}, which was never put", self.tell(take));
                self.reject("C2", text, [take])
            }
            Stray::TakenTwice(first, second) => {
                let text = format!("{}, and {}", self.tell(first), self.tell(second));
                self.reject("C2", text, [first, second])
            }
        }
    }

    pub(super) fn reject(
        &self,
        id: &'static str,
        text: String,
        witness: impl IntoIterator<Item = usize>,
    ) -> Rejection {
        Rejection {
            violation: Violation { id, text },
            witness: witness.into_iter().collect(),
        }
    }

    pub(super) fn tell(&self, operation: usize) -> &Operation {
        &self.operations[operation]
    }

    pub(super) fn interval(&self, operation: usize) -> Interval {
        let operation = &self.operations[operation];
        Interval {
            from: operation.invoke,
            to: operation.returned,
        }
    }

    /// When a value was taken. A value without a take was taken after everything else, or by a take without an answer,
    /// the earliest of which began at `unknown`.
    pub(super) fn taken(&self, passage: Passage, unknown: Option<u64>) -> Interval {
        match passage.take {
            Some(take) => self.interval(take),
            None => Interval {
                from: unknown.unwrap_or(NEVER),
                to: NEVER,
            },
        }
    }

    /// When the first take without an answer began.
    pub(super) fn unknown_take(&self) -> Option<u64> {
        let of_outcome = self.others.iter().map(|&other| self.tell(other));
        of_outcome
            .filter(|operation| operation.outcome == Outcome::TakeUnknown)
            .map(|operation| operation.invoke)
            .min()
    }

    /// The operations of a passage.
    pub(super) fn both(passage: Passage) -> impl Iterator<Item = usize> {
        [passage.put].into_iter().chain(passage.take)
    }
}

fn well_formed(operation: &Operation) -> Result<(), Malformed> {
    let may_lack_a_return = matches!(
        operation.outcome,
        Outcome::Put(_) | Outcome::TakeUnknown | Outcome::Close
    );
    let fault = if operation.returned < operation.invoke {
        "returns before it is called"
    } else if operation.invoke == NEVER {
        "is never called"
    } else if operation.returned == NEVER && !may_lack_a_return {
        "has an answer, but never returned"
    } else {
        return Ok(());
    };
    Err(Malformed {
        text: format!("{operation} {fault}"),
    })
}
