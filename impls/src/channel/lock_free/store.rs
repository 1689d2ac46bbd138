//! The store of `lock_free`: a queue that is used by its front and by the holder of the channel's lock. A channel
//! without a front has the engine's buffer instead.

use std::collections::VecDeque;
use std::iter;

use flowmeter_harness::channel::Buffer as Kind;

use super::super::engine::{Buffer, Effects, Store};
use super::super::front::{Front, Quick};
use super::super::pace::{Pace, Side};
use super::one::One;
use super::queue::{Ends, Queue};
use super::ring::Ring;
use super::segments::Segments;
use crate::sync::Arc;

/// The part that is used without the lock: a queue, if the channel has one.
pub struct Way<T>(Option<Queue<T>>);

impl<T> Clone for Way<T> {
    fn clone(&self) -> Self {
        Way(self.0.clone())
    }
}

impl<T: Send> Front<T> for Way<T> {
    const OPENS: bool = true;

    #[inline]
    fn mostly_locks(&self) -> bool {
        self.0.as_ref().is_none_or(Queue::is_narrow)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer_at_once(&self, value: T) -> Result<(), T> {
        match &self.0 {
            Some(queue) => queue.offer_at_once(value),
            None => Err(value),
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll_at_once(&self) -> Option<T> {
        self.0.as_ref().and_then(Queue::poll_at_once)
    }
    #[inline]
    fn offer<const SURE: bool>(&self, value: T) -> Quick<(), T> {
        match &self.0 {
            Some(queue) => queue.offer::<SURE>(value),
            None => Quick::Ask(value),
        }
    }
    #[inline]
    fn poll<const SURE: bool>(&self) -> Quick<T, ()> {
        match &self.0 {
            Some(queue) => queue.poll::<SURE>(),
            None => Quick::Ask(()),
        }
    }
    #[inline]
    fn may_put(&self) -> bool {
        self.0.as_ref().is_none_or(Queue::may_put)
    }
    #[inline]
    fn may_take(&self) -> bool {
        self.0.as_ref().is_none_or(Queue::may_take)
    }
    #[inline]
    fn pace(&self, side: Side) -> Pace {
        match &self.0 {
            Some(queue) => queue.pace(side),
            None => Pace::default(),
        }
    }
    #[inline]
    fn adapt_pace(&self, side: Side, in_first_turn: bool) {
        if let Some(queue) = &self.0 {
            queue.adapt_pace(side, in_first_turn);
        }
    }
    #[inline]
    fn seems_full(&self) -> bool {
        self.0.as_ref().is_some_and(Queue::seems_full)
    }
    #[inline]
    fn seems_empty(&self) -> bool {
        self.0.as_ref().is_some_and(Queue::seems_empty)
    }
}

/// The values of a channel, as the holder of its lock sees them.
pub enum Values<T> {
    /// In a queue, which has a front.
    Queued(Queued<T>),
    /// Behind the lock, for one of two reasons: a put and a take have to meet, or a put changes the stored values in
    /// more than one step.
    Locked(Buffer<T>),
}

/// A queue, with the values before it and the room that permits hold.
pub struct Queued<T> {
    queue: Queue<T>,
    /// Values that cancelled takes gave back. They come before all others (C9). Each has its place among the values
    /// that were handed to takes.
    returned: VecDeque<(u64, T)>,
    /// Room that permits hold. Other puts cannot use it.
    reserved: usize,
    /// The ends at which the front is open.
    open: Ends,
}

impl<T> Queued<T> {
    fn new(queue: Queue<T>) -> Self {
        Queued {
            queue,
            returned: VecDeque::new(),
            reserved: 0,
            open: Ends::BOTH,
        }
    }

    fn len(&self) -> usize {
        self.returned.len() + self.queue.len()
    }

    #[inline]
    fn is_full(&self) -> bool {
        if self.returned.is_empty() && self.reserved == 0 {
            return self.queue.is_full();
        }
        let used = self.len() + self.reserved;
        (self.queue.capacity()).is_some_and(|capacity| used >= capacity)
    }

    fn shut_front(&mut self) {
        if self.open.puts || self.open.takes {
            self.queue.shut(self.open);
            self.open = Ends::NEITHER;
        }
    }

    fn open_front(&mut self, closed: bool) {
        // A front does not know of values before its queue, nor of room that permits hold in a bounded one.
        let room_is_held = self.reserved > 0 && self.queue.capacity().is_some();
        if !self.returned.is_empty() || room_is_held {
            return;
        }
        // Once the channel is closed, every put has to be answered "closed".
        self.open = Ends {
            puts: !closed,
            takes: true,
        };
        self.queue.open(self.open);
    }

    fn next(&mut self) -> Option<T> {
        match self.returned.pop_front() {
            Some((_, value)) => Some(value),
            None => self.queue.pop(),
        }
    }
}

impl<T: Send> Store<T> for Values<T> {
    type Front = Way<T>;

    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Fixed(n) if n.get() == 1 && One::<T>::is_made_for_its_values() => {
                Values::Queued(Queued::new(Queue::one()))
            }
            Kind::Fixed(n) if Ring::<T>::is_made_for(n.get()) => {
                let ring = Arc::new(Ring::new(n.get()));
                Values::Queued(Queued::new(Queue::Ring(ring)))
            }
            Kind::Unbounded if Segments::<T>::is_made_for_its_values() => {
                let segments = Arc::new(Segments::new());
                Values::Queued(Queued::new(Queue::Segments(segments)))
            }
            _ => Values::Locked(Buffer::new(kind)),
        }
    }

    fn overfilled(kind: Kind) -> Self {
        Values::Locked(Buffer::overfilled(kind))
    }

    fn promise(copy: fn(&T) -> T) -> Self {
        Values::Locked(Buffer::promise(copy))
    }

    fn front(&self) -> Way<T> {
        Way(match self {
            Values::Queued(queued) => Some(queued.queue.clone()),
            Values::Locked(_) => None,
        })
    }

    #[inline]
    fn shut(&mut self) {
        if let Values::Queued(queued) = self {
            queued.shut_front();
        }
    }

    #[inline]
    fn open(&mut self, closed: bool) {
        if let Values::Queued(queued) = self {
            queued.open_front(closed);
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Queued(queued) => queued.len(),
            Values::Locked(buffer) => buffer.len(),
        }
    }

    fn capacity(&self) -> Option<usize> {
        match self {
            Values::Queued(queued) => queued.queue.capacity(),
            Values::Locked(buffer) => buffer.capacity(),
        }
    }

    fn promises(&self) -> Option<fn(&T) -> T> {
        match self {
            Values::Queued(_) => None,
            Values::Locked(buffer) => buffer.promises(),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Values::Queued(queued) => queued.len() == 0,
            Values::Locked(buffer) => buffer.is_empty(),
        }
    }

    #[inline]
    fn makes_puts_wait(&self) -> bool {
        match self {
            Values::Queued(_) => true,
            Values::Locked(buffer) => buffer.makes_puts_wait(),
        }
    }

    fn is_full(&self) -> bool {
        match self {
            Values::Queued(queued) => queued.is_full(),
            Values::Locked(buffer) => buffer.is_full(),
        }
    }

    fn has_limits(&self) -> bool {
        match self {
            Values::Queued(_) => true,
            Values::Locked(buffer) => buffer.has_limits(),
        }
    }

    fn reserve(&mut self) {
        match self {
            Values::Queued(queued) => queued.reserved += 1,
            Values::Locked(buffer) => buffer.reserve(),
        }
    }

    fn release(&mut self) {
        match self {
            Values::Queued(queued) => queued.reserved -= 1,
            Values::Locked(buffer) => buffer.release(),
        }
    }

    #[inline]
    fn add(&mut self, value: T) -> Result<(), T> {
        match self {
            Values::Queued(queued) if queued.is_full() => Err(value),
            Values::Queued(queued) => {
                queued.queue.push(value);
                Ok(())
            }
            Values::Locked(buffer) => buffer.add(value),
        }
    }

    #[inline]
    fn store(&mut self, value: T) {
        match self {
            // Not asserted: a look at the queue would make the modelled cost of a debug build another one.
            Values::Queued(queued) => queued.queue.push(value),
            Values::Locked(buffer) => buffer.store(value),
        }
    }

    fn overflow(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T> {
        match self {
            Values::Queued(_) => Err(value),
            Values::Locked(buffer) => buffer.overflow(value, effects),
        }
    }

    fn overfill(&mut self, value: T, effects: &mut Effects<T>) {
        match self {
            // A queue with a front has no transform, and values that came back are kept before the queue. So there is a
            // slot.
            Values::Queued(queued) => queued.queue.push(value),
            Values::Locked(buffer) => buffer.overfill(value, effects),
        }
    }

    fn next(&mut self) -> Option<T> {
        match self {
            Values::Queued(queued) => queued.next(),
            Values::Locked(buffer) => buffer.next(),
        }
    }

    fn empty(&mut self, effects: &mut Effects<T>) {
        match self {
            Values::Queued(queued) => {
                iter::from_fn(|| queued.next()).for_each(|value| effects.discard(value));
            }
            Values::Locked(buffer) => buffer.empty(effects),
        }
    }

    fn give_back(&mut self, value: T, place: u64) {
        match self {
            Values::Queued(queued) => {
                let index = queued.returned.partition_point(|(other, _)| *other < place);
                queued.returned.insert(index, (place, value));
            }
            Values::Locked(buffer) => buffer.give_back(value, place),
        }
    }
}
