//! The values that a channel keeps between a put and its take.

use std::collections::VecDeque;

use flowmeter_harness::channel::Buffer;

/// The values of a channel, by kind of buffer (B1).
pub(super) enum Store<T> {
    /// No value is kept.
    Rendezvous,
    /// Values in the order of their puts, and what happens when there is no room.
    Queue {
        values: VecDeque<T>,
        capacity: usize,
        overflow: Overflow,
    },
    /// The first value answers every take. `copy` is `T::clone`, which is known only where the channel is made. The
    /// value is boxed, so that other channels need no space for it.
    Promise {
        value: Option<Box<T>>,
        copy: fn(&T) -> T,
    },
}

/// What a put on a full queue does.
#[derive(Clone, Copy)]
pub(super) enum Overflow {
    /// It waits.
    Wait,
    /// Its value is dropped.
    DropNewest,
    /// The oldest value is dropped for it.
    DropOldest,
}

/// The result of storing a value.
pub(super) enum Stored<T> {
    /// It is kept.
    Kept,
    /// The caller has to drop this value, outside the lock.
    Discarded(T),
    /// There is no room.
    Full(T),
}

impl<T> Store<T> {
    pub(super) fn new(buffer: Buffer) -> Self {
        let queue = |capacity: usize, overflow| Store::Queue {
            // A small buffer is allocated at once, so that a put in the steady state allocates nothing.
            values: VecDeque::with_capacity(capacity.min(64)),
            capacity,
            overflow,
        };
        match buffer {
            Buffer::Rendezvous => Store::Rendezvous,
            Buffer::Fixed(n) => queue(n.get(), Overflow::Wait),
            Buffer::Dropping(n) => queue(n.get(), Overflow::DropNewest),
            Buffer::Sliding(n) => queue(n.get(), Overflow::DropOldest),
            Buffer::Unbounded => Store::Queue {
                values: VecDeque::new(),
                capacity: usize::MAX,
                overflow: Overflow::Wait,
            },
        }
    }

    pub(super) fn promise(copy: fn(&T) -> T) -> Self {
        Store::Promise { value: None, copy }
    }

    /// Stores `value` if there is room for it beside `returned` values that were given back.
    #[inline]
    pub(super) fn add(&mut self, value: T, returned: usize) -> Stored<T> {
        match self {
            Store::Rendezvous => Stored::Full(value),
            Store::Queue {
                values,
                capacity,
                overflow,
            } => {
                if values.len() + returned < *capacity {
                    values.push_back(value);
                    return Stored::Kept;
                }
                match overflow {
                    Overflow::Wait => Stored::Full(value),
                    Overflow::DropNewest => Stored::Discarded(value),
                    Overflow::DropOldest => {
                        // Values that were given back are older. The caller has dropped those first.
                        let oldest = values.pop_front();
                        values.push_back(value);
                        oldest.map_or(Stored::Kept, Stored::Discarded)
                    }
                }
            }
            Store::Promise { value: Some(_), .. } => Stored::Discarded(value),
            Store::Promise {
                value: kept @ None, ..
            } => {
                *kept = Some(Box::new(value));
                Stored::Kept
            }
        }
    }

    /// Stores `value` even if there is no room. Only a queue is asked to.
    pub(super) fn overfill(&mut self, value: T) {
        if let Store::Queue { values, .. } = self {
            values.push_back(value);
        }
    }

    /// Puts back the value that [`Store::next`] has just returned.
    pub(super) fn put_back(&mut self, value: T) {
        if let Store::Queue { values, .. } = self {
            values.push_front(value);
        }
    }

    /// Whether its room can run out, so that permits can hold some.
    pub(super) fn has_limits(&self) -> bool {
        matches!(
            self,
            Store::Queue {
                overflow: Overflow::Wait,
                ..
            }
        )
    }

    /// The number of stored values.
    pub(super) fn len(&self) -> usize {
        match self {
            Store::Rendezvous => 0,
            Store::Queue { values, .. } => values.len(),
            Store::Promise { value, .. } => usize::from(value.is_some()),
        }
    }

    /// The capacity; `None` if there is no limit.
    pub(super) fn capacity(&self) -> Option<usize> {
        match self {
            Store::Rendezvous => Some(0),
            Store::Queue { capacity, .. } => Some(*capacity).filter(|most| *most < usize::MAX),
            Store::Promise { .. } => Some(1),
        }
    }

    /// Whether a put would have to wait for room.
    #[inline]
    pub(super) fn is_full(&self, returned: usize) -> bool {
        match self {
            Store::Rendezvous => true,
            Store::Queue {
                values,
                capacity,
                overflow: Overflow::Wait,
            } => values.len() + returned >= *capacity,
            Store::Queue { .. } | Store::Promise { .. } => false,
        }
    }

    /// Whether a put would drop the oldest value beside `returned` values that were given back.
    #[inline]
    pub(super) fn slides(&self, returned: usize) -> bool {
        matches!(self, Store::Queue { values, capacity, overflow: Overflow::DropOldest }
            if values.len() + returned >= *capacity)
    }

    /// A copy of a promise's value; nothing for other buffers. Runs `T::clone`.
    #[inline]
    pub(super) fn promised(&self) -> Option<T> {
        match self {
            Store::Promise { value, copy } => value.as_deref().map(*copy),
            Store::Rendezvous | Store::Queue { .. } => None,
        }
    }

    #[inline]
    pub(super) fn has_value(&self) -> bool {
        match self {
            Store::Rendezvous => false,
            Store::Queue { values, .. } => !values.is_empty(),
            Store::Promise { value, .. } => value.is_some(),
        }
    }

    /// Moves all stored values to `discarded`.
    pub(super) fn empty_into(&mut self, discarded: &mut Vec<T>) {
        match self {
            Store::Rendezvous => {}
            Store::Queue { values, .. } => discarded.extend(std::mem::take(values)),
            Store::Promise { value, .. } => discarded.extend(value.take().map(|value| *value)),
        }
    }

    /// The next value of a queue.
    #[inline]
    pub(super) fn next(&mut self) -> Option<T> {
        match self {
            Store::Queue { values, .. } => values.pop_front(),
            Store::Rendezvous | Store::Promise { .. } => None,
        }
    }
}
