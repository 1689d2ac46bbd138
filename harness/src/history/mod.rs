//! Histories: calls and answers of operations on several channels at once, for a checker that explains them by the
//! [specification](crate::spec).
//!
//! An operation is an interval from its call to its answer. Precedence is part of a history, and comes from two
//! sources; see [`History::predecessors`]:
//!
//! - stamps: one operation returns before another is invoked;
//! - the program's own order: the operations of one thread, and what precedes the start or follows the join of a
//!   thread.
//!
//! Values are numbers that no two puts share, unless a crate gives a value back and the caller offers it again.
//!
//! Invariant: the operations of one thread are in the order of their calls, and only its last may be pending. A
//! [`Recorder`] records histories while real code runs.

mod operation;
mod recorder;
mod show;

use crate::channel::Buffer;

pub use operation::{Answer, Call, Clause, Operation, Value};
pub use recorder::{Called, Recorder};
pub use show::{Mark, Place, channel_name, columns, drawn, paragraph};

/// How a channel of a history stores values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// No buffer.
    Rendezvous,
    /// Room for that many values, at least one.
    Fixed(usize),
    /// Room for any number.
    Unbounded,
    /// Room for that many values, at least one; further values are dropped.
    Dropping(usize),
    /// Room for that many values, at least one; the oldest is dropped for a further one.
    Sliding(usize),
    /// The first value answers every take.
    Promise,
}

impl From<Buffer> for Storage {
    fn from(buffer: Buffer) -> Storage {
        match buffer {
            Buffer::Rendezvous => Storage::Rendezvous,
            Buffer::Fixed(n) => Storage::Fixed(n.get()),
            Buffer::Unbounded => Storage::Unbounded,
            Buffer::Dropping(n) => Storage::Dropping(n.get()),
            Buffer::Sliding(n) => Storage::Sliding(n.get()),
        }
    }
}

/// What the stamps say about precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// A return precedes an invocation if the stamp of the invocation is greater by more than the margin.
    Order {
        /// How far the stamps of two threads may differ at one moment.
        margin: u64,
    },
    /// Nothing. They give the order in which a checker ran the threads of a weak memory model, where a thread need not
    /// have seen what ran before it.
    Schedule,
}

/// When an operation of a thread was invoked and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The calling thread.
    pub thread: usize,
    /// The stamp of the call.
    pub invoked: u64,
    /// The stamp of the answer; `None` while there is none.
    pub returned: Option<u64>,
}

/// For each operation the set of its predecessors, as bits.
///
/// The order of the program always counts: the operations of a thread, in the order of their calls, and `links`. Stamps
/// count where they have a meaning. A pending operation precedes nothing.
///
/// # Panics
/// With more than 64 operations.
pub fn predecessors(intervals: &[Interval], links: &[(usize, usize)], stamps: Stamps) -> Vec<u64> {
    assert!(intervals.len() <= 64, "a set of operations has 64 bits");
    let answered = |op: usize| intervals[op].returned.is_some();
    let mut sets = vec![0; intervals.len()];
    let stamps: Vec<u64> = (intervals.iter())
        .map(|interval| match (interval.returned, stamps) {
            (None, _) | (_, Stamps::Schedule) => u64::MAX,
            (Some(returned), Stamps::Order { margin }) => returned.saturating_add(margin),
        })
        .collect();
    for (later, after) in intervals.iter().enumerate() {
        let by_stamps = (stamps.iter().enumerate()).fold(0, |set, (earlier, returned)| {
            set | u64::from(*returned < after.invoked) << earlier
        });
        let by_program = (intervals[..later].iter().enumerate())
            .filter(|(earlier, before)| before.thread == after.thread && answered(*earlier))
            .fold(0, |set, (earlier, _)| set | 1 << earlier);
        sets[later] = by_stamps | by_program;
    }
    for &(earlier, later) in links.iter().filter(|(earlier, _)| answered(*earlier)) {
        sets[later] |= 1 << earlier;
    }
    sets
}

/// What callers invoked and were answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The channels.
    pub channels: Vec<Storage>,
    /// All operations, those of each thread in their order.
    pub operations: Vec<Operation>,
    /// Pairs of operations, by index. The first returned before the second was invoked, for a reason other than stamps:
    /// a thread was started or joined in between.
    pub links: Vec<(usize, usize)>,
    /// What the stamps mean.
    pub stamps: Stamps,
    /// Whether the execution had come to rest at the end: pending operations wait and will wait forever. A lost wake-up
    /// is then visible in the history itself.
    pub quiescent: bool,
}

impl History {
    /// A history without operations.
    pub fn new(channels: impl Into<Vec<Storage>>) -> History {
        History {
            channels: channels.into(),
            operations: Vec::new(),
            links: Vec::new(),
            stamps: Stamps::Order { margin: 0 },
            quiescent: false,
        }
    }

    /// The [`predecessors`] of each operation. The edge from a put to the take that received its value needs no bit: no
    /// explanation has the take before the put.
    ///
    /// # Panics
    /// With more than 64 operations.
    pub fn predecessors(&self) -> Vec<u64> {
        let interval = |operation: &Operation| Interval {
            thread: operation.thread,
            invoked: operation.invoked,
            returned: (operation.answer != Answer::Pending).then_some(operation.returned),
        };
        let intervals: Vec<Interval> = self.operations.iter().map(interval).collect();
        predecessors(&intervals, &self.links, self.stamps)
    }

    /// Why it is not a valid history: it names a missing channel, clause or operation, or a buffer has no room.
    pub fn fault(&self) -> Option<String> {
        let without_room = self.channels.iter().position(|storage| {
            use Storage::{Dropping, Fixed, Sliding};
            matches!(storage, Fixed(0) | Dropping(0) | Sliding(0))
        });
        if let Some(channel) = without_room {
            return Some(format!("channel {channel} has room for no value"));
        }
        for (at, operation) in self.operations.iter().enumerate() {
            let clauses = operation.call.clauses();
            let channels = clauses.iter().map(|clause| clause.channel());
            let closed = match operation.call {
                Call::Close(channel) => Some(channel),
                Call::Alts { .. } => None,
            };
            let known = |channel: usize| channel < self.channels.len();
            if !channels.chain(closed).all(known) {
                return Some(format!("operation {at} names a channel that is not there"));
            }
            let answered = match operation.answer {
                Answer::Accepted { clause }
                | Answer::Refused { clause }
                | Answer::Took { clause, .. }
                | Answer::Ended { clause } => clause < clauses.len(),
                _ => true,
            };
            if !answered {
                return Some(format!(
                    "operation {at} is answered on a clause it does not have"
                ));
            }
        }
        let linked = |&(one, other): &(usize, usize)| one.max(other) < self.operations.len();
        (!self.links.iter().all(linked)).then(|| "a link names no operation".to_owned())
    }

    /// The history as known at that stamp: later answers are pending, and later calls are left out. It is quiescent
    /// only if the caller sets that.
    pub fn until(&self, stamp: u64) -> History {
        let mut index = vec![None; self.operations.len()];
        let mut operations = Vec::new();
        for (old, operation) in self.operations.iter().enumerate() {
            if operation.invoked > stamp {
                continue;
            }
            index[old] = Some(operations.len());
            let mut operation = operation.clone();
            if operation.returned > stamp {
                operation.returned = u64::MAX;
                operation.answer = Answer::Pending;
            }
            operations.push(operation);
        }
        let kept = |&(a, b): &(usize, usize)| Some((index[a]?, index[b]?));
        History {
            channels: self.channels.clone(),
            links: self.links.iter().filter_map(kept).collect(),
            operations,
            stamps: self.stamps,
            quiescent: false,
        }
    }

    /// Whether some close of that channel is among the operations.
    pub fn closes(&self, channel: usize) -> bool {
        let is_close = |o: &Operation| o.call == Call::Close(channel);
        self.operations.iter().any(is_close)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::dual::decide;
    use crate::spec::Rules;

    fn fault(change: fn(&mut History)) -> Option<String> {
        let mut history = History::new([Storage::Fixed(1)]);
        history.operations.push(Operation {
            thread: 0,
            call: Call::put(0, 1),
            answer: Answer::Accepted { clause: 0 },
            invoked: 0,
            returned: 1,
        });
        change(&mut history);
        let fault = history.fault();
        // The judge reports the same fault, and not a verdict.
        assert_eq!(decide(&history, Rules::STRICT, 10).err(), fault);
        fault
    }

    #[test]
    fn what_names_what_is_not_there_is_no_history() {
        let changes: [fn(&mut History); 5] = [
            |history| history.channels[0] = Storage::Sliding(0),
            |history| history.operations[0].call = Call::put(1, 1),
            |history| history.operations[0].call = Call::Close(1),
            |history| history.operations[0].answer = Answer::Ended { clause: 1 },
            |history| history.links.push((0, 1)),
        ];
        assert_eq!(fault(|_| ()), None);
        for change in changes {
            assert!(fault(change).is_some());
        }
    }
}
