//! The engine of [`ordered_locks`](super::ordered_locks) and [`lock_free`](super::lock_free): a channel behind one
//! lock, over a store of values that the design chooses.
//!
//! One lock guards the stored values and the lines of waiting requests. A put that finds a waiting take hands its value
//! over. A take that makes room moves the value of a waiting put into it. The thread that serves a waiting request
//! takes it out of the line under the channel's lock, and wakes it after releasing the lock. A single put or take
//! stands in one line only, so no further agreement is needed.
//!
//! An alts locks its channels in the order of their keys, each once, and tries its clauses while no other thread can
//! change any of them. So it is true at one moment what it commits, that no earlier clause was able (A5), or that none
//! was (A6). If no clause is able, it joins all the lines and releases the locks. From then on other threads can commit
//! a clause of it, and the first that does wins the alts. Then the alts locks all channels again and leaves the other
//! lines. So other alts see it only while it waits, and it never meets itself (A3, A4).
//!
//! Where the values are stored is a parameter (`store`): a buffer behind the lock (`buffer`), or a queue with a front
//! that is tried before the lock is taken.
//!
//! Lock order: channels by key, then a waiter or its slot. A thread that holds one of the latter takes no further lock.

mod alts;
mod at_once;
mod attempt;
mod buffer;
mod callback;
mod effects;
mod future;
mod line;
mod reserve;
mod seat;
mod state;
mod store;
mod transformed;
mod unlimited;
mod waiter;

use std::ops::{Deref, DerefMut};
use std::pin::pin;

use flowmeter_harness::channel::{
    Offered, Polled, PutError, PutUntilError, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::EXPLORED;
use super::design::{Design, MAX_WAITERS, untimed_put, untimed_take};
use super::front::{Front, Quick};
use super::handle::Handle;
use super::pace::Side;
use crate::spin::Spin;
use crate::sync::{LightMutex, LightMutexGuard, Parker, clock};

pub use alts::{AnyClause, Prepared, PutClause, TakeClause};
pub use buffer::Buffer;
pub use future::{PutFuture, TakeFuture};
pub use state::State;

pub(super) use alts::{run_async, run_mixed};
pub(super) use effects::Effects;
pub(super) use store::{OfFamily, Store};

use state::Handed;
use waiter::{Notify, wait_for};

/// A channel over a store of its values: a buffer behind the lock, or a queue that is used without the lock while no
/// request waits.
pub type ChannelOver<T, S> = Handle<State<T, S>>;

/// The held lock of a channel, with the front shut. If no request waits when it is dropped, it opens the front.
pub struct Guard<'a, T: Send, S: Store<T>>(LightMutexGuard<'a, State<T, S>>);

impl<'a, T: Send, S: Store<T>> Guard<'a, T, S> {
    fn new(mut state: LightMutexGuard<'a, State<T, S>>) -> Self {
        state.buffer.shut();
        Guard(state)
    }

    /// Counts a single put or take that is done, or joins a line. A refused one is not counted: its caller may try without
    /// end, while it waits for a task that would leave it the lock. Alts, permits and batches are not counted.
    #[inline]
    fn count_use(&self) {
        self.0.count_use();
    }
}

impl<T: Send, S: Store<T>> Deref for Guard<'_, T, S> {
    type Target = State<T, S>;

    #[inline]
    fn deref(&self) -> &State<T, S> {
        &self.0
    }
}

impl<T: Send, S: Store<T>> DerefMut for Guard<'_, T, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut State<T, S> {
        &mut self.0
    }
}

impl<T: Send, S: Store<T>> Drop for Guard<'_, T, S> {
    #[inline]
    fn drop(&mut self) {
        if S::Front::OPENS && self.0.puts.is_empty() && self.0.takes.is_empty() {
            let closed = self.0.closed;
            self.0.buffer.open(closed);
        }
    }
}

/// Waits a little before another try; `false` when it is time to stand in line. With a deadline it does not yield its
/// core, because the system may give it back long after.
fn looks_again(spin: &mut Spin, deadline: Deadline) -> bool {
    if deadline == Deadline::NEVER {
        return spin.again_before_line();
    }
    !clock::has_passed(deadline) && spin.again()
}

impl<T: Send, S: Store<T>> Design for State<T, S> {
    type Front = S::Front;
    type Guard<'a>
        = Guard<'a, T, S>
    where
        Self: 'a;
    type PutFuture<'a>
        = PutFuture<'a, T, S>
    where
        Self: 'a;
    type TakeFuture<'a>
        = TakeFuture<'a, T, S>
    where
        Self: 'a;

    fn front(&self) -> S::Front {
        self.buffer.front()
    }

    fn lock(state: &LightMutex<Self>) -> Guard<'_, T, S> {
        Guard::new(state.lock())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put(channel: &ChannelOver<T, S>, value: T) -> Result<(), PutError<T>> {
        match channel.add_at_once(value) {
            Ok(()) => Ok(()),
            Err((held, value)) => channel.put_in_time(held, value),
        }
    }

    #[inline]
    fn put_until(
        channel: &ChannelOver<T, S>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        match channel.add_at_once(value) {
            Ok(()) => Ok(()),
            Err((held, value)) => channel.put_after(held, value, deadline),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(channel: &ChannelOver<T, S>) -> Result<T, TakeError> {
        match channel.next_at_once() {
            Ok(value) => Ok(value),
            Err(held) => channel.take_in_time(held),
        }
    }

    #[inline]
    fn take_until(channel: &ChannelOver<T, S>, deadline: Deadline) -> Result<T, TakeUntilError> {
        match channel.next_at_once() {
            Ok(value) => Ok(value),
            Err(held) => channel.take_after(held, deadline),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_put(channel: &ChannelOver<T, S>, value: T) -> Offered<T> {
        match channel.add_at_once(value) {
            Ok(()) => Offered::Done,
            Err((held, value)) => channel.offer_surely(held, value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_take(channel: &ChannelOver<T, S>) -> Polled<T> {
        match channel.next_at_once() {
            Ok(value) => Polled::Done(value),
            Err(held) => channel.poll_surely(held),
        }
    }

    fn put_async(channel: &ChannelOver<T, S>, value: T) -> PutFuture<'_, T, S> {
        PutFuture::new(channel, value)
    }

    fn take_async(channel: &ChannelOver<T, S>) -> TakeFuture<'_, T, S> {
        TakeFuture::new(channel)
    }
}

impl<T: Send, S: Store<T>> ChannelOver<T, S> {
    /// The key by which an alts orders the locks of its channels.
    #[inline]
    fn key(&self) -> u64 {
        self.shared.place.of(&*self.shared)
    }

    /// The lock for the first attempt of a future. Where most operations take the lock, and another thread has it, that
    /// thread likely runs tasks which take it next. They are faster without this one. So it looks a few times whether they
    /// use the lock often, and if so its thread sleeps once. That holds up the thread for some 0.1 ms on Linux, and longer on
    /// a busy core.
    ///
    /// A put or take that blocks does not stay away: the thread that has the lock is likely to wait for it. A future that
    /// is awaited by blocking does, which was not measured.
    #[inline]
    fn lock_in_task(&self) -> Guard<'_, T, S> {
        let tried = (!EXPLORED).then(|| self.shared.state.try_lock());
        match tried.flatten() {
            Some(state) => Guard::new(state),
            None => self.lock_later(),
        }
    }

    /// Where the lock was held, and in explored worlds. Not inlined, because most often it is free.
    #[cold]
    #[inline(never)]
    fn lock_later(&self) -> Guard<'_, T, S> {
        if self.front.mostly_locks() {
            Spin::away(|| self.shared.state.uses());
        }
        self.lock()
    }

    /// Not inlined, so that a put that succeeds at once needs no stack for it.
    #[cold]
    #[inline(never)]
    fn put_in_time<'a>(
        &'a self,
        held: Option<Guard<'a, T, S>>,
        value: T,
    ) -> Result<(), PutError<T>> {
        let put = self.put_after(held, value, Deadline::NEVER);
        put.map_err(untimed_put)
    }

    /// Puts after [`ChannelOver::add_at_once`] has failed. `held` is the lock, if that has taken it.
    fn put_after<'a>(
        &'a self,
        held: Option<Guard<'a, T, S>>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let value = match self.offer_again(value, deadline) {
            Quick::Done(()) => return Ok(()),
            Quick::Unable(value) | Quick::Ask(value) => value,
        };
        let (mut state, value) = match attempt::put(held.unwrap_or_else(|| self.lock()), value) {
            Err(waits) => waits,
            Ok(put) => {
                return put.map_err(|value| PutUntilError::Put(PutError::Closed(Some(value))));
            }
        };
        if clock::has_passed(deadline) {
            return Err(PutUntilError::TimedOut(value));
        }
        if state.puts.is_full() {
            return Err(PutUntilError::Put(PutError::TooManyWaiters(value)));
        }
        let parker = Parker::new();
        let mut waiting = pin!(PutFuture::of_thread(self));
        let by = Notify::thread(&parker);
        state.count_use();
        // SAFETY: it is new, and the state is that of its channel.
        unsafe { waiting.as_mut().join(&mut state, value, by) };
        drop(state);
        let put = match wait_for(|| waiting.as_mut().fetch(), &parker, deadline) {
            Some(put) => put,
            None => match waiting.leave() {
                Ok(value) => return Err(PutUntilError::TimedOut(value)),
                Err(put) => put,
            },
        };
        put.map_err(|value| PutUntilError::Put(PutError::Closed(value)))
    }

    /// Not inlined, so that a take that succeeds at once needs no stack for it.
    #[cold]
    #[inline(never)]
    fn take_in_time<'a>(&'a self, held: Option<Guard<'a, T, S>>) -> Result<T, TakeError> {
        let taken = self.take_after(held, Deadline::NEVER);
        taken.map_err(untimed_take)
    }

    /// Takes after [`ChannelOver::next_at_once`] has failed. `held` is the lock, if that has taken it.
    fn take_after<'a>(
        &'a self,
        held: Option<Guard<'a, T, S>>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        if let Quick::Done(value) = self.poll_again(deadline) {
            return Ok(value);
        }
        let mut state = match attempt::take(held.unwrap_or_else(|| self.lock())) {
            Err(state) => state,
            Ok(taken) => return taken.ok_or(TakeUntilError::Take(TakeError::Closed)),
        };
        if clock::has_passed(deadline) {
            return Err(TakeUntilError::TimedOut);
        }
        if state.takes.is_full() {
            return Err(TakeUntilError::Take(TakeError::TooManyWaiters));
        }
        let parker = Parker::new();
        let mut waiting = pin!(TakeFuture::new(self));
        let by = Notify::thread(&parker);
        state.count_use();
        // SAFETY: it is new, and the state is that of its channel.
        unsafe { waiting.as_mut().join(&mut state, by) };
        drop(state);
        let taken = wait_for(|| waiting.as_mut().fetch(), &parker, deadline)
            .or_else(|| waiting.leave())
            .ok_or(TakeUntilError::TimedOut)?;
        taken
            .map(|Handed { value, .. }| value)
            .ok_or(TakeUntilError::Take(TakeError::Closed))
    }

    /// Retries at the front for a while, as long as only room is missing.
    fn offer_again(&self, mut value: T, deadline: Deadline) -> Quick<(), T> {
        let mut spin = self.front.pace(Side::Puts).spin();
        loop {
            let tried = match self.front.may_put() {
                true => self.front.offer::<false>(value),
                false => Quick::Unable(value),
            };
            match tried {
                Quick::Unable(refused) if looks_again(&mut spin, deadline) => value = refused,
                done @ Quick::Done(()) => {
                    self.adapt_pace(Side::Puts, &spin, deadline);
                    return done;
                }
                tried => return tried,
            }
        }
    }

    /// Retries at the front for a while, as long as only a value is missing.
    fn poll_again(&self, deadline: Deadline) -> Quick<T, ()> {
        let mut spin = self.front.pace(Side::Takes).spin();
        loop {
            let tried = match self.front.may_take() {
                true => self.front.poll::<false>(),
                false => Quick::Unable(()),
            };
            match tried {
                Quick::Unable(()) if looks_again(&mut spin, deadline) => {}
                done @ Quick::Done(_) => {
                    self.adapt_pace(Side::Takes, &spin, deadline);
                    return done;
                }
                tried => return tried,
            }
        }
    }

    /// After a put or take that is done. A wait with a deadline does not follow the pace, so it does not adapt it.
    fn adapt_pace(&self, side: Side, spin: &Spin, deadline: Deadline) {
        if spin.has_waited() && deadline == Deadline::NEVER {
            self.front.adapt_pace(side, spin.is_in_first_turn());
        }
    }

    #[cold]
    #[inline(never)]
    fn offer_surely<'a>(&'a self, held: Option<Guard<'a, T, S>>, value: T) -> Offered<T> {
        let value = match self.front.offer::<true>(value) {
            Quick::Done(()) => return Offered::Done,
            Quick::Unable(value) => return Offered::WouldWait(value),
            Quick::Ask(value) => value,
        };
        match attempt::put(held.unwrap_or_else(|| self.lock()), value) {
            Ok(Ok(())) => Offered::Done,
            Ok(Err(value)) => Offered::Closed(value),
            Err((_, value)) => Offered::WouldWait(value),
        }
    }

    #[cold]
    #[inline(never)]
    fn poll_surely<'a>(&'a self, held: Option<Guard<'a, T, S>>) -> Polled<T> {
        match self.front.poll::<true>() {
            Quick::Done(value) => return Polled::Done(value),
            Quick::Unable(()) => return Polled::WouldWait,
            Quick::Ask(()) => {}
        }
        match attempt::take(held.unwrap_or_else(|| self.lock())) {
            Ok(Some(value)) => Polled::Done(value),
            Ok(None) => Polled::Closed,
            Err(_) => Polled::WouldWait,
        }
    }
}
