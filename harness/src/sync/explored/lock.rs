//! `Mutex` and `Condvar` of the explored worlds.

use ::std::collections::VecDeque;
use ::std::fmt;
use ::std::ops::{Deref, DerefMut};
use ::std::panic::Location;
use ::std::sync::{Arc, Mutex as Plain, PoisonError};

use super::super::Deadline;
use super::super::cost::allocations::apart;
use super::super::sites::{self, Breakage, Kind};
use super::census::{self, Census, Holder, State};
use super::mischief::Mischief;
use super::seat::{Rouse, Seat};
use super::{Engine, Word, address, helper, time};

/// A lock that does not poison.
pub struct Mutex<E: Engine, T> {
    raw: E::Mutex<T>,
    /// The holder, as the census reports it.
    holder: Arc<Holder>,
}

/// The lock, held.
pub struct MutexGuard<'a, E: Engine, T> {
    /// Taken only by the drop.
    raw: Option<E::Guard<'a, T>>,
    lock: &'a Mutex<E, T>,
}

impl<E: Engine, T> Mutex<E, T> {
    /// An open lock around `value`.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        let _apart = apart();
        Mutex {
            raw: E::mutex(value),
            holder: Arc::default(),
        }
    }

    /// Waits for the lock.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, E, T> {
        let at = Location::caller();
        sites::pass(Kind::Lock, None, at);
        self.lock_at(at)
    }

    fn lock_at(&self, at: &'static Location<'static>) -> MutexGuard<'_, E, T> {
        let _apart = apart();
        let me = E::me();
        if let Some(me) = me {
            locks(me, &self.holder, at);
        }
        E::announce(address(&self.raw), Kind::Lock, at);
        let raw = E::lock(&self.raw);
        if let Some(me) = me {
            census::runs(me);
        }
        self.guard(raw, me)
    }

    /// Locks if the lock is free.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, E, T>> {
        let at = Location::caller();
        sites::pass(Kind::TryLock, None, at);
        let _apart = apart();
        E::announce(address(&self.raw), Kind::TryLock, at);
        let raw = E::try_lock(&self.raw)?;
        census::try_with(Census::wrote);
        Some(self.guard(raw, E::me()))
    }

    /// Nothing is counted, since no thread looks: `wait_costs` is `None` here. For `LightMutex`, an alias of this lock.
    #[inline]
    pub fn uses(&self) -> u32 {
        0
    }

    /// Consumes the lock and returns its value.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        E::into_inner(self.raw)
    }

    fn guard<'a>(&'a self, raw: E::Guard<'a, T>, me: Option<usize>) -> MutexGuard<'a, E, T> {
        self.holder.set(me);
        MutexGuard {
            raw: Some(raw),
            lock: self,
        }
    }
}

/// Records that a thread is about to wait for a lock.
fn locks(thread: usize, holder: &Arc<Holder>, at: &'static Location<'static>) {
    let settled = census::with(|census| {
        // The holder may write what the lock protects.
        census.wrote();
        census.thread(thread).state = State::Locking {
            holder: holder.clone(),
            at,
        };
        if holder.is_a_thread() {
            census.settle()
        } else {
            Ok(None)
        }
    });
    helper::act(settled);
}

impl<E: Engine, T: Default> Default for Mutex<E, T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<E: Engine, T> fmt::Debug for Mutex<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex")
            .field("holder", &self.holder)
            .finish()
    }
}

impl<E: Engine, T> MutexGuard<'_, E, T> {
    /// As of a light lock. Nothing is counted.
    #[inline]
    pub fn count_use(&self) {}
}

impl<E: Engine, T> fmt::Debug for MutexGuard<'_, E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MutexGuard").finish_non_exhaustive()
    }
}

const HELD: &str = "a guard holds the lock until it is dropped";

impl<E: Engine, T> Deref for MutexGuard<'_, E, T> {
    type Target = T;
    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        self.raw.as_ref().expect(HELD)
    }
}

impl<E: Engine, T> DerefMut for MutexGuard<'_, E, T> {
    #[inline]
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.raw.as_mut().expect(HELD)
    }
}

impl<E: Engine, T> Drop for MutexGuard<'_, E, T> {
    #[inline]
    fn drop(&mut self) {
        let _apart = apart();
        // The census is updated before the release, because the next holder updates it again.
        self.lock.holder.clear();
        drop(self.raw.take());
    }
}

/// A condition variable. Wakes waiters in the order of waiting, except under mischief.
pub struct Condvar<E: Engine> {
    /// The word on which waits and notifications operate, so that the checker orders them.
    gate: Arc<E::Word>,
    waiters: Plain<VecDeque<Arc<Seat<E>>>>,
}

impl<E: Engine> Condvar<E> {
    /// One without waiters.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        let _apart = apart();
        Condvar {
            gate: Arc::new(E::Word::new(0)),
            waiters: Plain::default(),
        }
    }

    /// Releases the lock, waits for a notification, and locks again.
    #[inline]
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, E, T>) -> MutexGuard<'a, E, T> {
        self.sit(guard, Deadline::NEVER, Location::caller())
    }

    /// As [`Condvar::wait`], until `deadline` at most; the second result is whether it has passed.
    #[inline]
    #[track_caller]
    pub fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, E, T>,
        deadline: Deadline,
    ) -> (MutexGuard<'a, E, T>, bool) {
        if deadline == Deadline::NEVER {
            return (self.wait(guard), false);
        }
        if time::has_passed(deadline) {
            return (guard, true);
        }
        let guard = self.sit(guard, deadline, Location::caller());
        (guard, time::has_passed(deadline))
    }

    fn sit<'a, T>(
        &self,
        guard: MutexGuard<'a, E, T>,
        deadline: Deadline,
        at: &'static Location<'static>,
    ) -> MutexGuard<'a, E, T> {
        let _apart = apart();
        if deadline != Deadline::NEVER {
            time::order();
        }
        self.gate.touch();
        let lock = guard.lock;
        if E::misbehaves(Mischief::SpuriousWakeUp, 1) > 0 {
            // Returning at once is as general as returning later: until it has the lock again, other threads may run
            // first.
            drop(guard);
            return lock.lock_at(at);
        }
        let seat = Seat::take();
        self.waiters().push_back(seat.clone());
        drop(guard);
        seat.sit("a condvar", at, deadline, &self.gate);
        self.waiters().retain(|other| !Arc::ptr_eq(other, &seat));
        lock.lock_at(at)
    }

    /// Wakes one waiter, if there is one.
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) {
        let broken = sites::pass(Kind::NotifyOne, None, Location::caller());
        if broken == Some(Breakage::Dropped) {
            return;
        }
        let _apart = apart();
        self.gate.touch();
        let others = self.waiters().len().saturating_sub(1);
        let mut place = match broken {
            Some(_) => others,
            None => E::misbehaves(Mischief::AnotherWaiter, others),
        };
        loop {
            // A waiter that has timed out does not consume the notification.
            let next = self.waiters().remove(::std::mem::take(&mut place));
            let Some(seat) = next else { return };
            if seat.rouse() {
                return E::woke();
            }
        }
    }

    /// Wakes all waiters.
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) {
        let broken = sites::pass(Kind::NotifyAll, None, Location::caller());
        if broken == Some(Breakage::Dropped) {
            return;
        }
        let _apart = apart();
        self.gate.touch();
        let all = ::std::mem::take(&mut *self.waiters());
        for seat in all {
            if seat.rouse() {
                E::woke();
            }
        }
    }

    fn waiters(&self) -> ::std::sync::MutexGuard<'_, VecDeque<Arc<Seat<E>>>> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Engine> Default for Condvar<E> {
    fn default() -> Self {
        Condvar::new()
    }
}

impl<E: Engine> fmt::Debug for Condvar<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
