//! Histories of one channel, for tier two, and the same for tier three.

use std::num::NonZeroUsize;

use arbitrary::Arbitrary;
use flowmeter_harness::channel::Buffer;
use flowmeter_harness::check::fifo::{NEVER, Operation, Outcome};
use flowmeter_harness::history::{self, Answer, Call, History};

/// A buffer.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Kind {
    Rendezvous,
    Unbounded,
    Fixed(u8),
    Dropping(u8),
    Sliding(u8),
}

impl Kind {
    pub fn buffer(self) -> Buffer {
        let room = |n: u8| NonZeroUsize::new(usize::from(n)).unwrap_or(NonZeroUsize::MAX);
        match self {
            Kind::Rendezvous => Buffer::Rendezvous,
            Kind::Unbounded => Buffer::Unbounded,
            Kind::Fixed(n) => Buffer::Fixed(room(n)),
            Kind::Dropping(n) => Buffer::Dropping(room(n)),
            Kind::Sliding(n) => Buffer::Sliding(room(n)),
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum What {
    Put(u8),
    PutFull,
    PutClosed,
    Take(u8),
    TakeEmpty,
    TakeClosed,
    TakeUnknown,
    Close,
}

/// An operation on the channel, which may be malformed.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Passing {
    thread: u8,
    invoke: u8,
    lasts: Option<u8>,
    what: What,
    backwards: bool,
}

impl Passing {
    /// As it stands.
    pub fn operation(self) -> Operation {
        let invoke = u64::from(self.invoke);
        let returned = self.lasts.map_or(NEVER, |lasts| invoke + u64::from(lasts));
        let (invoke, returned) = match self.backwards {
            true => (returned, invoke),
            false => (invoke, returned),
        };
        Operation {
            thread: u32::from(self.thread),
            invoke,
            returned,
            outcome: match self.what {
                What::Put(value) => Outcome::Put(u64::from(value)),
                What::PutFull => Outcome::PutFull,
                What::PutClosed => Outcome::PutClosed,
                What::Take(value) => Outcome::Take(u64::from(value)),
                What::TakeEmpty => Outcome::TakeEmpty,
                What::TakeClosed => Outcome::TakeClosed,
                What::TakeUnknown => Outcome::TakeUnknown,
                What::Close => Outcome::Close,
            },
        }
    }

    /// The same history for tier three, each operation by a thread of its own.
    pub fn whole(operations: &[Operation], buffer: Buffer) -> History {
        let mut history = History::new([buffer.into()]);
        let told = operations.iter().enumerate().map(|(thread, operation)| {
            let answered = |answer| match operation.returned {
                NEVER => Answer::Pending,
                _ => answer,
            };
            let clause = 0;
            let (call, answer) = match operation.outcome {
                Outcome::Put(value) => (Call::put(0, value as u32), Answer::Accepted { clause }),
                Outcome::PutFull => (Call::offer(0, 1_000 + thread as u32), Answer::WouldWait),
                Outcome::PutClosed => {
                    let call = Call::put(0, 1_000 + thread as u32);
                    (call, Answer::Refused { clause })
                }
                Outcome::Take(value) => {
                    let value = value as u32;
                    (Call::take(0), Answer::Took { clause, value })
                }
                Outcome::TakeEmpty => (Call::poll(0), Answer::WouldWait),
                Outcome::TakeClosed => (Call::take(0), Answer::Ended { clause }),
                Outcome::TakeUnknown => (Call::take(0), Answer::Pending),
                Outcome::Close => (Call::Close(0), Answer::Closed),
            };
            history::Operation {
                thread,
                call,
                answer: answered(answer),
                invoked: operation.invoke,
                returned: operation.returned,
            }
        });
        history.operations = told.collect();
        history
    }
}
