//! A waiting put or take inside the future or the stack frame that waits, so that waiting allocates nothing.
//!
//! | moment | the seat belongs to |
//! | --- | --- |
//! | until it joins a line | its owner |
//! | while it stands in line | the holder of the channel's lock |
//! | once `answered` is set, or it has left the line | its owner again |
//!
//! The thread that answers has taken the seat out of the line under the channel's lock. It stores `answered` as its last
//! access, and notifies after that by what it took out of the seat.

use std::marker::PhantomPinned;
use std::mem::replace;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Waker;

use crate::channel::notify::Notify;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{LightMutex, UnsafeCell};

enum Contents<A> {
    Nothing,
    /// In line: what is notified of the answer.
    Waiting(Notify),
    Answered(A),
}

impl<A> Contents<A> {
    fn is_told_by(&self, waker: &Waker) -> bool {
        matches!(self, Contents::Waiting(Notify::Task(known)) if known.will_wake(waker))
    }
}

/// A place for one answer.
pub(super) struct Seat<A> {
    /// Stored with release, so that the owner's acquire sees the answer. Nothing else orders the two.
    answered: AtomicBool,
    contents: UnsafeCell<Contents<A>>,
    /// The line holds its address.
    _pinned: PhantomPinned,
}

// SAFETY: the table of the module says which one thread accesses the contents, and they move between threads: an answer
// by `answered`, a notification by the channel's lock.
unsafe impl<A: Send> Send for Seat<A> {}
// SAFETY: as above.
unsafe impl<A: Send> Sync for Seat<A> {}

/// A seat in line.
pub(super) struct Seated<A>(NonNull<Seat<A>>);

// SAFETY: a line is used under its channel's lock, and a seat may be used there by any thread.
unsafe impl<A: Send> Send for Seated<A> {}

impl<A> Seat<A> {
    pub(super) fn new() -> Self {
        Seat {
            answered: AtomicBool::new(false),
            contents: UnsafeCell::new(Contents::Nothing),
            _pinned: PhantomPinned,
        }
    }

    /// Its place for a line, with what is notified of the answer.
    ///
    /// # Safety
    /// The seat was not seated before. Until it is answered, or has left the line under the channel's lock, it is not
    /// dropped.
    pub(super) unsafe fn sit(self: Pin<&mut Self>, notify: Notify) -> Seated<A> {
        // SAFETY: the owner has it, and nothing moves out of the pin.
        let seat = unsafe { self.get_unchecked_mut() };
        // SAFETY: it stands in no line.
        unsafe { seat.put(Contents::Waiting(notify)) };
        Seated(NonNull::from(seat))
    }

    /// The answer, once there is one. It is returned only once.
    #[inline]
    pub(super) fn fetch(self: Pin<&mut Self>) -> Option<A> {
        if !self.answered.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the thread that answered is done with it.
        match unsafe { self.put(Contents::Nothing) } {
            Contents::Answered(answer) => Some(answer),
            Contents::Nothing | Contents::Waiting(_) => None,
        }
    }

    /// Whether that waker is woken by the answer. `false` when there is one, or may be.
    ///
    /// # Safety
    /// The seat was seated in a line of the channel that `channel` locks.
    pub(super) unsafe fn awaits<S>(&self, channel: &LightMutex<S>, waker: &Waker) -> bool {
        let held = channel.lock();
        if self.answered.load(Ordering::Relaxed) {
            return false;
        }
        // SAFETY: it stands in line, and the lock is held.
        let known = self
            .contents
            .with(|contents| unsafe { &*contents }.is_told_by(waker));
        drop(held);
        if known {
            return true;
        }
        // Outside the lock, because cloning and dropping a waker run code of the executor.
        let renewed = Contents::Waiting(Notify::Task(waker.clone()));
        let held = channel.lock();
        if self.answered.load(Ordering::Relaxed) {
            drop(held);
            return false;
        }
        // SAFETY: as above.
        let former = unsafe { self.put(renewed) };
        drop(held);
        drop(former);
        true
    }

    /// # Safety
    /// The caller has the seat, by the table of the module.
    unsafe fn put(&self, contents: Contents<A>) -> Contents<A> {
        // SAFETY: as the caller promises.
        (self.contents).with_mut(|place| replace(unsafe { &mut *place }, contents))
    }
}

impl<A> Seated<A> {
    pub(super) fn is(&self, seat: &Seat<A>) -> bool {
        std::ptr::eq(self.0.as_ptr(), seat)
    }

    /// Answers, and returns what has to be notified.
    ///
    /// # Safety
    /// It was just taken out of the line, and the caller still holds the channel's lock.
    pub(super) unsafe fn answer(self, answer: A) -> Notify {
        // SAFETY: its owner keeps it until it is answered.
        let seat = unsafe { self.0.as_ref() };
        // SAFETY: the caller took it out of the line.
        let waiting = unsafe { seat.put(Contents::Answered(answer)) };
        seat.answered.store(true, Ordering::Release);
        match waiting {
            Contents::Waiting(notify) => notify,
            Contents::Nothing | Contents::Answered(_) => unreachable!("it stood in line"),
        }
    }
}
