//! The reference for the judge: a search through every explanation of a small history. It advances stamp by stamp. At
//! each stamp, called operations may take effect in any order, and returning operations must have taken effect.

use std::collections::HashSet;

use crate::channel::Buffer;
use crate::check::fifo::{NEVER, Operation, Outcome};

/// Whether a channel with that buffer can have produced this history.
pub(in crate::check::fifo) fn explainable(operations: &[Operation], buffer: Buffer) -> bool {
    let mut stamps: Vec<u64> = operations
        .iter()
        .flat_map(|o| [o.invoke, o.returned])
        .collect();
    stamps.sort_unstable();
    stamps.dedup();
    stamps.retain(|&stamp| stamp != NEVER);
    let mut search = Search {
        operations,
        buffer,
        stamps,
        failed: HashSet::new(),
    };
    search.pass(0, State::default())
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    /// Sets of operations. A put is requested before the close, and takes effect at any time after the request.
    called: u32,
    requested: u32,
    done: u32,
    queue: Vec<u64>,
    closed: bool,
}

struct Search<'a> {
    operations: &'a [Operation],
    buffer: Buffer,
    stamps: Vec<u64>,
    failed: HashSet<(usize, State)>,
}

impl Search<'_> {
    /// Whether the rest can be explained once what is called at that stamp has been called.
    fn pass(&mut self, stamp: usize, mut state: State) -> bool {
        let Some(&now) = self.stamps.get(stamp) else {
            return true;
        };
        for (index, operation) in self.operations.iter().enumerate() {
            if operation.invoke == now {
                state.called |= 1 << index;
            }
        }
        self.act(stamp, state)
    }

    fn act(&mut self, stamp: usize, state: State) -> bool {
        if self.failed.contains(&(stamp, state.clone())) {
            return false;
        }
        let now = self.stamps[stamp];
        let mut over = self
            .operations
            .iter()
            .enumerate()
            .filter(|(_, o)| o.returned == now);
        if over.all(|(index, _)| state.done & (1 << index) != 0)
            && self.pass(stamp + 1, state.clone())
        {
            return true;
        }
        if self
            .steps(&state)
            .into_iter()
            .any(|next| self.act(stamp, next))
        {
            return true;
        }
        self.failed.insert((stamp, state));
        false
    }

    fn steps(&self, state: &State) -> Vec<State> {
        let mut next = Vec::new();
        for (index, operation) in self.operations.iter().enumerate() {
            let bit = 1 << index;
            if state.called & bit == 0 || state.done & bit != 0 {
                continue;
            }
            if state.requested & bit == 0 && self.may_request(operation, state) {
                next.push(State {
                    requested: state.requested | bit,
                    ..state.clone()
                });
            }
            match self.buffer {
                Buffer::Rendezvous => self.meet(index, state, &mut next),
                _ => next.extend(self.effect(index, state)),
            }
        }
        next
    }

    fn may_request(&self, operation: &Operation, state: &State) -> bool {
        match operation.outcome {
            Outcome::Put(_) => !state.closed,
            Outcome::Take(_) | Outcome::TakeUnknown => self.buffer == Buffer::Rendezvous,
            _ => false,
        }
    }

    /// One operation on a channel with a buffer.
    fn effect(&self, index: usize, state: &State) -> Option<State> {
        let mut next = state.clone();
        next.done |= 1 << index;
        let room = match self.buffer {
            Buffer::Fixed(n) | Buffer::Dropping(n) | Buffer::Sliding(n) => n.get(),
            _ => usize::MAX,
        };
        let full = state.queue.len() == room;
        let able = match self.operations[index].outcome {
            Outcome::Put(value) => {
                match self.buffer {
                    Buffer::Dropping(_) if full => {}
                    Buffer::Sliding(_) if full => {
                        next.queue.remove(0);
                        next.queue.push(value);
                    }
                    _ => next.queue.push(value),
                }
                let waits = full && matches!(self.buffer, Buffer::Fixed(_));
                state.requested & (1 << index) != 0 && !waits
            }
            Outcome::PutFull => full && !state.closed && matches!(self.buffer, Buffer::Fixed(_)),
            Outcome::Take(value) => {
                let able = state.queue.first() == Some(&value);
                next.queue = next.queue.split_off(usize::from(able));
                able
            }
            Outcome::TakeUnknown => {
                next.queue = next.queue.split_off(usize::from(!state.queue.is_empty()));
                !state.queue.is_empty()
            }
            // A put that requested before the close may still deliver a value.
            Outcome::TakeEmpty => {
                state.queue.is_empty() && (!state.closed || state.requested & !state.done != 0)
            }
            Outcome::TakeClosed => state.queue.is_empty() && state.closed,
            Outcome::PutClosed => state.closed,
            Outcome::Close => {
                next.closed = true;
                true
            }
        };
        able.then_some(next)
    }

    /// One operation on a channel without a buffer, or a put and a take at once.
    fn meet(&self, index: usize, state: &State, next: &mut Vec<State>) {
        let waiting = |is: fn(Outcome) -> bool| {
            let waits = |other: usize| state.requested & !state.done & (1 << other) != 0;
            (0..self.operations.len())
                .filter(move |&other| waits(other) && is(self.operations[other].outcome))
        };
        let is_put = |outcome| matches!(outcome, Outcome::Put(_));
        let is_take = |outcome| matches!(outcome, Outcome::Take(_) | Outcome::TakeUnknown);
        let done = |also: u32| State {
            done: state.done | (1 << index) | also,
            ..state.clone()
        };
        match self.operations[index].outcome {
            Outcome::Put(value) if state.requested & (1 << index) != 0 => {
                for take in waiting(is_take) {
                    let outcome = self.operations[take].outcome;
                    if outcome == Outcome::Take(value) || outcome == Outcome::TakeUnknown {
                        next.push(done(1 << take));
                    }
                }
            }
            Outcome::PutFull if !state.closed && waiting(is_take).next().is_none() => {
                next.push(done(0))
            }
            Outcome::TakeEmpty if !state.closed && waiting(is_put).next().is_none() => {
                next.push(done(0))
            }
            Outcome::TakeClosed if state.closed && waiting(is_put).next().is_none() => {
                next.push(done(0))
            }
            Outcome::PutClosed if state.closed => next.push(done(0)),
            Outcome::Close => next.push(State {
                closed: true,
                ..done(0)
            }),
            _ => {}
        }
    }
}
