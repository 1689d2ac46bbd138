//! Puts and takes as futures. Dropping a pending one leaves it without effect. If it was already handed a value, the
//! value goes back to the channel (C9).

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{PutError, TakeError};

use super::attempt;
use super::buffer::Buffer;
use super::effects::Effects;
use super::seat::Seat;
use super::state::{Handed, Put, State, Taken};
use super::store::Store;
use super::waiter::Notify;
use super::{ChannelOver, Guard};
use crate::channel::by_name::debug_by_name;
use crate::channel::design::Deferred;
use crate::channel::front::{Front, Quick};
use crate::channel::outlook;
use crate::sync::{contain, wait_costs};

/// A put that may have to wait. A value not yet put is dropped with it.
#[must_use = "a future does nothing unless it is polled"]
pub struct PutFuture<'a, T: Send, S: Store<T> = Buffer<T>> {
    channel: &'a ChannelOver<T, S>,
    /// Until the first poll.
    value: Option<T>,
    /// Whether the seat stands in line, or has an answer that was not fetched.
    waits: bool,
    /// Dropped while the put waits. At any other time there is nothing in it.
    seat: ManuallyDrop<Seat<Put<T>, Option<T>>>,
}

/// A take that may have to wait.
#[must_use = "a future does nothing unless it is polled"]
pub struct TakeFuture<'a, T: Send, S: Store<T> = Buffer<T>> {
    channel: &'a ChannelOver<T, S>,
    stage: Stage,
    /// Dropped while the take waits. At any other time there is nothing in it.
    seat: ManuallyDrop<Seat<Taken<T>, ()>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Unpolled,
    /// The seat stands in line, or has an answer that was not fetched.
    Waiting,
    Done,
}

impl<'a, T: Send, S: Store<T>> PutFuture<'a, T, S> {
    pub(super) fn new(channel: &'a ChannelOver<T, S>, value: T) -> Self {
        PutFuture {
            channel,
            value: Some(value),
            waits: false,
            seat: ManuallyDrop::new(Seat::new()),
        }
    }

    /// For a thread that puts, and joins the line itself.
    pub(super) fn of_thread(channel: &'a ChannelOver<T, S>) -> Self {
        PutFuture {
            channel,
            value: None,
            waits: false,
            seat: ManuallyDrop::new(Seat::new()),
        }
    }

    #[inline]
    fn seat(self: Pin<&mut Self>) -> Pin<&mut Seat<Put<T>, Option<T>>> {
        // SAFETY: the seat is pinned with the future: nothing moves it, and `Drop` does not either.
        unsafe { self.map_unchecked_mut(|me| &mut *me.seat) }
    }

    /// The fields that are never pinned.
    #[inline]
    fn plain(self: Pin<&mut Self>) -> (&mut Option<T>, &mut bool) {
        // SAFETY: the seat stays where it is.
        let me = unsafe { self.get_unchecked_mut() };
        (&mut me.value, &mut me.waits)
    }

    /// Stands in line.
    ///
    /// # Safety
    /// It has not joined before, and `state` is that of its own channel.
    pub(super) unsafe fn join(
        mut self: Pin<&mut Self>,
        state: &mut State<T, S>,
        value: T,
        by: Notify,
    ) {
        // SAFETY: it is seated once, and leaves the line of its channel when it is dropped.
        let seated = unsafe { self.as_mut().seat().sit(Some(value), by) };
        state.puts.join(seated);
        *self.plain().1 = true;
    }

    /// The answer, once there is one.
    #[inline]
    pub(super) fn fetch(mut self: Pin<&mut Self>) -> Option<Put<T>> {
        let answer = self.as_mut().seat().fetch()?;
        *self.plain().1 = false;
        Some(answer)
    }

    /// Leaves the line with the value, or fetches the answer.
    pub(super) fn leave(mut self: Pin<&mut Self>) -> Result<T, Put<T>> {
        if self.channel.lock().puts.leave(&self.seat) {
            *self.as_mut().plain().1 = false;
            // SAFETY: it has just left the line.
            let value = unsafe { self.seat().withdraw() }.flatten();
            return Ok(value.expect("a put that waits has its value"));
        }
        let answer = self.as_mut().fetch();
        Err(answer.expect("a put that left the line has an answer"))
    }

    /// Puts a value after [`ChannelOver::put_at_once`] has failed without the lock. Not inlined, so that a put that does
    /// not wait needs no stack for it.
    ///
    /// It does not retry for a while, as a thread does. The task that it waits for may have to run on this very thread.
    ///
    /// The waker is cloned while no lock is held, because that runs code of the executor. It is cloned beforehand only
    /// where the put will likely wait: the front had no room and no request waited, or the front was shut and the thread
    /// expects to wait. Without a front the caller has looked whether the thread does.
    #[cold]
    #[inline(never)]
    fn begin(self: Pin<&mut Self>, value: T, waker: &Waker) -> Poll<Result<(), PutError<T>>> {
        let (mut value, asks) = match self.channel.front.offer::<false>(value) {
            Quick::Done(()) => return Poll::Ready(Ok(())),
            Quick::Unable(value) => (value, false),
            Quick::Ask(value) => (value, true),
        };
        // Never with the lock held, since it runs code of the executor.
        let clones = !asks || S::Front::OPENS && outlook::waits();
        let mut known = clones.then(|| waker.clone());
        let channel = self.channel;
        let mut state = channel.lock_in_task();
        loop {
            (state, value) = match attempt::put(state, value) {
                Err(waits) => waits,
                Ok(put) => {
                    note_done(asks);
                    drop_unused(known);
                    return Poll::Ready(put.map_err(refused_as_closed));
                }
            };
            if let Some(waker) = known {
                // SAFETY: this is its first poll, and the state is that of its channel.
                return unsafe { self.wait(value, waker, asks, state) };
            }
            drop(state);
            known = Some(waker.clone());
            state = channel.lock();
        }
    }

    /// Puts a value in a channel without a front, where the put will likely wait: the thread expects it, or an attempt
    /// under the lock was refused.
    #[inline(never)]
    fn begin_with_waker(
        self: Pin<&mut Self>,
        value: T,
        waker: &Waker,
    ) -> Poll<Result<(), PutError<T>>> {
        let known = waker.clone();
        match attempt::put(self.channel.lock_in_task(), value) {
            // SAFETY: this is its first poll, and the state is that of its channel.
            Err((state, value)) => unsafe { self.wait(value, known, true, state) },
            Ok(put) => {
                note_done(true);
                drop_unused(Some(known));
                Poll::Ready(put.map_err(refused_as_closed))
            }
        }
    }

    /// Stands in line, unless too many do.
    ///
    /// # Safety
    /// As of [`PutFuture::join`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn wait(
        self: Pin<&mut Self>,
        value: T,
        waker: Waker,
        asks: bool,
        mut state: Guard<'a, T, S>,
    ) -> Poll<Result<(), PutError<T>>> {
        if state.puts.is_full() {
            drop(state);
            drop_unused(Some(waker));
            return Poll::Ready(Err(PutError::TooManyWaiters(value)));
        }
        state.count_use();
        // SAFETY: as the caller promises.
        unsafe { self.join(&mut state, value, Notify::Task(waker)) };
        drop(state);
        note_wait(asks);
        Poll::Pending
    }

    /// Leaves the line, and drops the value or the answer.
    ///
    /// # Safety
    /// The future waits, and is being dropped.
    #[cold]
    #[inline(never)]
    unsafe fn give_up(&mut self) {
        // The value is dropped with the seat, outside the lock: its drop may use the channel.
        let left = Left(&mut self.seat);
        self.channel.lock().puts.leave(left.0);
    }

    /// The answer. If there is none yet, `waker` is woken once there is.
    fn look(mut self: Pin<&mut Self>, waker: &Waker) -> Poll<Result<(), PutError<T>>> {
        assert!(self.waits, "a put was polled after it was ready");
        loop {
            if let Some(put) = self.as_mut().fetch() {
                return Poll::Ready(put.map_err(PutError::Closed));
            }
            // SAFETY: the seat stands in line there, or has an answer.
            if unsafe { self.seat.awaits(&self.channel.shared.state, waker) } {
                return Poll::Pending;
            }
        }
    }
}

impl<T: Send, S: Store<T>> Future for PutFuture<'_, T, S> {
    type Output = Result<(), PutError<T>>;

    /// # Panics
    /// When it is polled after it was ready.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(value) = self.as_mut().plain().0.take() else {
            return self.look(context.waker());
        };
        if !S::Front::OPENS && outlook::waits() {
            return self.begin_with_waker(value, context.waker());
        }
        match self.channel.put_at_once(value) {
            Ok(put) => Poll::Ready(put.map_err(refused_as_closed)),
            Err((None, value)) => self.begin(value, context.waker()),
            Err((Some(state), value)) => {
                drop(state);
                self.begin_with_waker(value, context.waker())
            }
        }
    }
}

impl<T: Send, S: Store<T>> Drop for PutFuture<'_, T, S> {
    #[inline]
    fn drop(&mut self) {
        if self.waits {
            // SAFETY: it waits, and is being dropped.
            unsafe { self.give_up() };
        }
    }
}

impl<'a, T: Send, S: Store<T>> TakeFuture<'a, T, S> {
    pub(super) fn new(channel: &'a ChannelOver<T, S>) -> Self {
        TakeFuture {
            channel,
            stage: Stage::Unpolled,
            seat: ManuallyDrop::new(Seat::new()),
        }
    }

    #[inline]
    fn seat(self: Pin<&mut Self>) -> Pin<&mut Seat<Taken<T>, ()>> {
        // SAFETY: the seat is pinned with the future: nothing moves it, and `Drop` does not either.
        unsafe { self.map_unchecked_mut(|me| &mut *me.seat) }
    }

    #[inline]
    fn stage(self: Pin<&mut Self>) -> &mut Stage {
        // SAFETY: the stage is never pinned, and the seat stays where it is.
        unsafe { &mut self.get_unchecked_mut().stage }
    }

    /// Stands in line.
    ///
    /// # Safety
    /// As of [`PutFuture::join`].
    pub(super) unsafe fn join(mut self: Pin<&mut Self>, state: &mut State<T, S>, by: Notify) {
        // SAFETY: it is seated once, and leaves the line of its channel when it is dropped.
        let seated = unsafe { self.as_mut().seat().sit((), by) };
        state.takes.join(seated);
        *self.stage() = Stage::Waiting;
    }

    /// The answer, once there is one.
    #[inline]
    pub(super) fn fetch(mut self: Pin<&mut Self>) -> Option<Taken<T>> {
        let answer = self.as_mut().seat().fetch()?;
        *self.stage() = Stage::Done;
        Some(answer)
    }

    /// Leaves the line, or fetches the answer.
    pub(super) fn leave(mut self: Pin<&mut Self>) -> Option<Taken<T>> {
        if self.channel.lock().takes.leave(&self.seat) {
            *self.as_mut().stage() = Stage::Done;
            // SAFETY: it has just left the line.
            unsafe { self.seat().withdraw() };
            return None;
        }
        let answer = self.as_mut().fetch();
        Some(answer.expect("a take that left the line has an answer"))
    }

    /// Takes after [`ChannelOver::take_at_once`] has failed without the lock. It does not retry, as
    /// [`PutFuture::begin`] does not.
    #[cold]
    #[inline(never)]
    fn begin(self: Pin<&mut Self>, waker: &Waker) -> Poll<Result<T, TakeError>> {
        let asks = match self.channel.front.poll::<false>() {
            Quick::Done(value) => return Poll::Ready(Ok(value)),
            Quick::Unable(()) => false,
            Quick::Ask(()) => true,
        };
        // Never with the lock held, since it runs code of the executor.
        let clones = !asks || S::Front::OPENS && outlook::waits();
        let mut known = clones.then(|| waker.clone());
        let channel = self.channel;
        let mut state = channel.lock_in_task();
        loop {
            state = match attempt::take(state) {
                Err(state) => state,
                Ok(taken) => {
                    note_done(asks);
                    drop_unused(known);
                    return Poll::Ready(taken.ok_or(TakeError::Closed));
                }
            };
            if let Some(waker) = known {
                // SAFETY: this is its first poll, and the state is that of its channel.
                return unsafe { self.wait(waker, asks, state) };
            }
            drop(state);
            known = Some(waker.clone());
            state = channel.lock();
        }
    }

    /// Takes from a channel without a front, where [`PutFuture::begin_with_waker`] puts.
    #[inline(never)]
    fn begin_with_waker(self: Pin<&mut Self>, waker: &Waker) -> Poll<Result<T, TakeError>> {
        let known = waker.clone();
        match attempt::take(self.channel.lock_in_task()) {
            // SAFETY: this is its first poll, and the state is that of its channel.
            Err(state) => unsafe { self.wait(known, true, state) },
            Ok(taken) => {
                note_done(true);
                drop_unused(Some(known));
                Poll::Ready(taken.ok_or(TakeError::Closed))
            }
        }
    }

    /// Stands in line, unless too many do.
    ///
    /// # Safety
    /// As of [`PutFuture::join`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn wait(
        self: Pin<&mut Self>,
        waker: Waker,
        asks: bool,
        mut state: Guard<'a, T, S>,
    ) -> Poll<Result<T, TakeError>> {
        if state.takes.is_full() {
            drop(state);
            drop_unused(Some(waker));
            return Poll::Ready(Err(TakeError::TooManyWaiters));
        }
        state.count_use();
        // SAFETY: as the caller promises.
        unsafe { self.join(&mut state, Notify::Task(waker)) };
        drop(state);
        note_wait(asks);
        Poll::Pending
    }

    /// The answer. If there is none yet, `waker` is woken once there is.
    fn look(mut self: Pin<&mut Self>, waker: &Waker) -> Poll<Result<T, TakeError>> {
        let waits = self.stage == Stage::Waiting;
        assert!(waits, "a take was polled after it was ready");
        loop {
            if let Some(taken) = self.as_mut().fetch() {
                let value = taken.map(|Handed { value, .. }| value);
                return Poll::Ready(value.ok_or(TakeError::Closed));
            }
            // SAFETY: the seat stands in line there, or has an answer.
            if unsafe { self.seat.awaits(&self.channel.shared.state, waker) } {
                return Poll::Pending;
            }
        }
    }

    /// Leaves the line, or gives back the value that it was handed.
    ///
    /// # Safety
    /// The future waits, and is being dropped.
    #[cold]
    #[inline(never)]
    unsafe fn give_up(&mut self) {
        let left = Left(&mut self.seat);
        let mut effects = Effects::new();
        let mut state = self.channel.lock();
        if !state.takes.leave(left.0) {
            // SAFETY: a future that waits was pinned, and is not moved before it is gone.
            let answered = unsafe { Pin::new_unchecked(&mut **left.0) }.fetch();
            if let Some(Some(handed)) = answered {
                state.give_back(handed, &mut effects);
            }
        }
        drop(state);
        effects.run();
    }
}

impl<T: Send, S: Store<T>> Future for TakeFuture<'_, T, S> {
    type Output = Result<T, TakeError>;

    /// # Panics
    /// When it is polled after it was ready.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Stage::Unpolled = self.stage else {
            return self.look(context.waker());
        };
        // Also where it panics.
        *self.as_mut().stage() = Stage::Done;
        if !S::Front::OPENS && outlook::waits() {
            return self.begin_with_waker(context.waker());
        }
        match self.channel.take_at_once() {
            Ok(taken) => Poll::Ready(taken.ok_or(TakeError::Closed)),
            Err(None) => self.begin(context.waker()),
            Err(Some(state)) => {
                drop(state);
                self.begin_with_waker(context.waker())
            }
        }
    }
}

impl<T: Send, S: Store<T>> Drop for TakeFuture<'_, T, S> {
    #[inline]
    fn drop(&mut self) {
        if self.stage == Stage::Waiting {
            // SAFETY: it waits, and is being dropped.
            unsafe { self.give_up() };
        }
    }
}

/// The seat of a future that is being dropped. It is dropped last, also if something else panics.
struct Left<'s, A, V>(&'s mut ManuallyDrop<Seat<A, V>>);

impl<A, V> Drop for Left<'_, A, V> {
    fn drop(&mut self) {
        // SAFETY: its future is being dropped, and does not use it again.
        unsafe { ManuallyDrop::drop(self.0) };
    }
}

fn refused_as_closed<T>(value: T) -> PutError<T> {
    PutError::Closed(Some(value))
}

/// Takes note that a request waits, after it has joined the line.
#[inline]
fn note_wait(asks: bool) {
    // The first that waits has what waiting costs measured.
    wait_costs();
    if asks {
        outlook::learn(true);
    }
}

/// Takes note that a request did not wait.
#[inline]
fn note_done(asks: bool) {
    if asks {
        outlook::learn(false);
    }
}

/// Drops a waker that was cloned for nothing. If that panics, the put or take has its result all the same.
#[inline]
fn drop_unused(waker: Option<Waker>) {
    if let Some(waker) = waker {
        contain(|| drop(waker));
    }
}

debug_by_name! {
    [T: Send, S: Store<T>] PutFuture<'_, T, S>;
    [T: Send, S: Store<T>] TakeFuture<'_, T, S>;
}
