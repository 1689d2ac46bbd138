//! The values that a channel keeps between a put and its take (B1).
//!
//! One queue serves all kinds of buffer. A rendezvous has room for no value. A promise has room for one value, which is
//! copied and not taken. Values that cancelled takes gave back come before all others (C9), whatever room there is.
//! They were handed over while nothing was stored, so every stored value was put later.

use std::collections::VecDeque;

use flowmeter_harness::channel::Buffer as Kind;

use super::effects::Effects;
use super::store::Store;
use crate::channel::front::Shut;

/// What a put does when there is no room.
#[derive(Clone, Copy)]
enum Overflow {
    /// It waits.
    Wait,
    /// Its value is dropped.
    DropNewest,
    /// The oldest value is dropped for it.
    DropOldest,
}

/// The values of a channel.
pub struct Buffer<T> {
    values: VecDeque<T>,
    /// The first values are those that were given back. These are their places among all values that were handed to
    /// takes.
    places: VecDeque<u64>,
    capacity: usize,
    /// Room that permits hold. Other puts cannot use it.
    reserved: usize,
    overflow: Overflow,
    /// In a promise: `T::clone`, which is known only where the channel is made.
    copy: Option<fn(&T) -> T>,
}

impl<T> Buffer<T> {
    /// Whether all room is taken.
    #[inline]
    fn is_used_up(&self) -> bool {
        self.values.len() + self.reserved >= self.capacity
    }
}

impl<T: Send> Store<T> for Buffer<T> {
    type Front = Shut;

    fn front(&self) -> Shut {
        Shut
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn capacity(&self) -> Option<usize> {
        Some(self.capacity).filter(|most| *most < usize::MAX)
    }

    fn new(kind: Kind) -> Self {
        let (capacity, overflow) = match kind {
            Kind::Rendezvous => (0, Overflow::Wait),
            Kind::Fixed(n) => (n.get(), Overflow::Wait),
            Kind::Unbounded => (usize::MAX, Overflow::Wait),
            Kind::Dropping(n) => (n.get(), Overflow::DropNewest),
            Kind::Sliding(n) => (n.get(), Overflow::DropOldest),
        };
        // A small fixed buffer is allocated at once, so that a put in the steady state allocates nothing. An unbounded
        // one grows with its use.
        let room = if capacity == usize::MAX {
            0
        } else {
            capacity.min(64)
        };
        Buffer {
            values: VecDeque::with_capacity(room),
            places: VecDeque::new(),
            capacity,
            reserved: 0,
            overflow,
            copy: None,
        }
    }

    fn promise(copy: fn(&T) -> T) -> Self {
        Buffer {
            values: VecDeque::new(),
            places: VecDeque::new(),
            capacity: 1,
            reserved: 0,
            overflow: Overflow::DropNewest,
            copy: Some(copy),
        }
    }

    #[inline]
    fn promises(&self) -> Option<fn(&T) -> T> {
        self.copy
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    #[inline]
    fn makes_puts_wait(&self) -> bool {
        matches!(self.overflow, Overflow::Wait)
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.makes_puts_wait() && self.is_used_up()
    }

    fn has_limits(&self) -> bool {
        self.makes_puts_wait() && self.capacity > 0
    }

    fn reserve(&mut self) {
        self.reserved += 1;
    }

    fn release(&mut self) {
        self.reserved -= 1;
    }

    #[inline]
    fn add(&mut self, value: T) -> Result<(), T> {
        if self.is_used_up() {
            return Err(value);
        }
        self.values.push_back(value);
        Ok(())
    }

    #[inline]
    fn store(&mut self, value: T) {
        debug_assert!(!self.is_used_up(), "there is room");
        self.values.push_back(value);
    }

    fn overflow(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T> {
        match self.overflow {
            Overflow::Wait => return Err(value),
            Overflow::DropNewest => effects.discard(value),
            // More than one value is dropped if values that came back have overfilled the buffer.
            Overflow::DropOldest => {
                while self.values.len() >= self.capacity {
                    let Some(oldest) = self.next() else { break };
                    effects.discard(oldest);
                }
                self.values.push_back(value);
            }
        }
        Ok(())
    }

    fn overfill(&mut self, value: T, effects: &mut Effects<T>) {
        let refused = self
            .add(value)
            .or_else(|value| self.overflow(value, effects));
        if let Err(value) = refused {
            self.values.push_back(value);
        }
    }

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.values.is_empty() {
            return None;
        }
        match self.copy {
            Some(copy) => self.values.front().map(copy),
            None => {
                self.places.pop_front();
                self.values.pop_front()
            }
        }
    }

    fn empty(&mut self, effects: &mut Effects<T>) {
        self.places.clear();
        for value in self.values.drain(..) {
            effects.discard(value);
        }
    }

    fn give_back(&mut self, value: T, place: u64) {
        let index = self.places.partition_point(|other| *other < place);
        self.places.insert(index, place);
        self.values.insert(index, value);
    }
}
