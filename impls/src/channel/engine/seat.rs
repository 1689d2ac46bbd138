//! A waiting put or take inside the future or the stack frame that waits, so that waiting allocates nothing.
//!
//! | moment | the seat belongs to |
//! | --- | --- |
//! | until it joins a line | its owner |
//! | while it stands in line | the holder of the channel's lock |
//! | taken out to be answered | the same |
//! | once `answered` is set, or its owner has taken it out | its owner again |
//!
//! The thread that answers has taken the seat out of the line under the channel's lock. It stores `answered` as its last
//! access, and notifies after that by what it took out of the seat.

use std::marker::PhantomPinned;
use std::mem::{forget, replace};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::Waker;

use crate::channel::notify::Notify;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{LightMutex, UnsafeCell};

enum Contents<A, V> {
    Nothing,
    /// In line.
    Waiting(Waiting<V>),
    Answered(A),
}

/// What a request in line has in its seat.
pub(super) struct Waiting<V> {
    /// What is notified of the answer.
    pub(super) notify: Notify,
    /// What the request brings: a put its value.
    pub(super) with: V,
}

impl<A, V> Contents<A, V> {
    fn is_told_by(&self, waker: &Waker) -> bool {
        let known = match self {
            Contents::Waiting(Waiting { notify, .. }) => notify,
            Contents::Nothing | Contents::Answered(_) => return false,
        };
        matches!(known, Notify::Task(known) if known.will_wake(waker))
    }
}

/// A place for one answer of type `A`, to a request that brings a `V`.
pub(super) struct Seat<A, V> {
    /// Stored with release, so that the owner's acquire sees the answer. Nothing else orders the two.
    answered: AtomicBool,
    contents: UnsafeCell<Contents<A, V>>,
    /// The line holds its address.
    _pinned: PhantomPinned,
}

// SAFETY: the table of the module says which one thread accesses the contents, and they move between threads: an answer
// by `answered`, what waits by the channel's lock.
unsafe impl<A: Send, V: Send> Send for Seat<A, V> {}
// SAFETY: as above.
unsafe impl<A: Send, V: Send> Sync for Seat<A, V> {}

/// A seat in line.
pub(super) struct Seated<A, V>(NonNull<Seat<A, V>>);

// SAFETY: a line is used under its channel's lock, and a seat may be used there by any thread.
unsafe impl<A: Send, V: Send> Send for Seated<A, V> {}

impl<A, V> Seat<A, V> {
    #[inline]
    pub(super) fn new() -> Self {
        Seat {
            answered: AtomicBool::new(false),
            contents: UnsafeCell::new(Contents::Nothing),
            _pinned: PhantomPinned,
        }
    }

    /// Its place for a line, with what the request brings, and what is notified of the answer.
    ///
    /// # Safety
    /// The seat was not seated before. Until it is answered, or has left the line under the channel's lock, it is not
    /// dropped.
    #[inline]
    pub(super) unsafe fn sit(self: Pin<&mut Self>, with: V, notify: Notify) -> Seated<A, V> {
        // SAFETY: the owner has it, and nothing moves out of the pin.
        let seat = unsafe { self.get_unchecked_mut() };
        let waiting = Contents::Waiting(Waiting { notify, with });
        // Written and not exchanged: a load of what was there would wait for the stores that made the seat just now.
        // There is nothing in it to be dropped.
        // SAFETY: it stands in no line.
        (seat.contents).with_mut(|place| unsafe { place.write(waiting) });
        Seated(NonNull::from(seat))
    }

    /// The answer, once there is one. It is returned only once.
    #[inline]
    pub(super) fn fetch(self: Pin<&mut Self>) -> Option<A> {
        if !self.answered.load(Ordering::Acquire) {
            return None;
        }
        self.contents.with_mut(|place| {
            // SAFETY: the thread that answered is done with it.
            let Contents::Answered(answer) = (unsafe { &*place }) else {
                return None;
            };
            // The answer alone is read, not all contents: a wider load would wait for the stores that wrote it.
            // SAFETY: it is read once, since it is overwritten next.
            let answer = unsafe { ptr::read(answer) };
            // So that the seat can be dropped.
            // SAFETY: the owner has it, and what is overwritten was moved out.
            unsafe { place.write(Contents::Nothing) };
            Some(answer)
        })
    }

    /// What the request brought.
    ///
    /// # Safety
    /// Its owner has taken it out of the line.
    pub(super) unsafe fn withdraw(self: Pin<&mut Self>) -> Option<V> {
        // SAFETY: as the caller promises, its owner has it again.
        match unsafe { self.put(Contents::Nothing) } {
            Contents::Waiting(Waiting { with, .. }) => Some(with),
            Contents::Nothing | Contents::Answered(_) => None,
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
        let renewed = Notify::Task(waker.clone());
        let held = channel.lock();
        if self.answered.load(Ordering::Relaxed) {
            drop(held);
            return false;
        }
        // SAFETY: as above.
        let former = (self.contents).with_mut(|contents| match unsafe { &mut *contents } {
            Contents::Waiting(waiting) => replace(&mut waiting.notify, renewed),
            Contents::Nothing | Contents::Answered(_) => unreachable!("it stands in line"),
        });
        drop(held);
        drop(former);
        true
    }

    /// Says that it has its answer. From then on it is its owner's.
    #[inline]
    fn hand_back(&self) {
        self.answered.store(true, Ordering::Release);
    }

    /// # Safety
    /// The caller has the seat, by the table of the module.
    #[inline]
    unsafe fn put(&self, contents: Contents<A, V>) -> Contents<A, V> {
        // SAFETY: as the caller promises.
        (self.contents).with_mut(|place| replace(unsafe { &mut *place }, contents))
    }
}

impl<A, V> Seated<A, V> {
    #[inline]
    pub(super) fn is(&self, seat: &Seat<A, V>) -> bool {
        ptr::eq(self.0.as_ptr(), seat)
    }

    /// Takes out what waits, before the answer is known.
    ///
    /// # Safety
    /// It was just taken out of the line, and the caller holds the channel's lock until it has answered.
    pub(super) unsafe fn rise(&self) -> Waiting<V> {
        // SAFETY: its owner keeps it until it is answered, and the caller took it out of the line.
        match unsafe { self.0.as_ref().put(Contents::Nothing) } {
            Contents::Waiting(waiting) => waiting,
            Contents::Nothing | Contents::Answered(_) => unreachable!("it stood in line"),
        }
    }

    /// Answers. Moves what is notified to `notify`, which was nothing, and returns what the request brought.
    ///
    /// # Safety
    /// It was just taken out of the line, and the caller holds the channel's lock.
    #[inline]
    pub(super) unsafe fn answer(self, answer: A, notify: &mut Notify) -> V {
        debug_assert!(matches!(notify, Notify::Nothing), "it would be lost");
        // SAFETY: its owner keeps it until it is answered.
        let seat = unsafe { self.0.as_ref() };
        let with = seat.contents.with_mut(|place| {
            // SAFETY: the caller took it out of the line.
            let Contents::Waiting(waiting) = (unsafe { &*place }) else {
                unreachable!("it stood in line")
            };
            let Waiting { notify: told, with } = waiting;
            // SAFETY: all that the request had is read once, since it is overwritten next.
            let (told, with) = unsafe { (ptr::read(told), ptr::read(with)) };
            // `notify` was nothing, and a drop of it would have to look.
            forget(replace(notify, told));
            // Written, not exchanged: a load of the whole would wait for the narrower stores that wrote it.
            // SAFETY: the caller took it out of the line, and what is overwritten was moved out.
            unsafe { place.write(Contents::Answered(answer)) };
            with
        });
        seat.hand_back();
        with
    }

    /// Answers after [`Seated::rise`].
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn answer_risen(self, answer: A) {
        // SAFETY: as in `answer`.
        let seat = unsafe { self.0.as_ref() };
        // SAFETY: as there.
        unsafe { seat.put(Contents::Answered(answer)) };
        seat.hand_back();
    }
}
