//! A lock that is released by a store.
//!
//! A thread that releases an ordinary lock has to learn whether another one sleeps, which takes a read-modify-write.
//! Here it stores, then looks. A thread that is about to sleep says so, and then makes all threads of the process pass
//! a memory barrier (`barrier`). So the thread that releases sees that another one sleeps, or the other one sees that
//! the lock is free.
//!
//! ```text
//! release:  held = false;   barrier::here();        reads `asleep`
//! sleep:    asleep = true;  barrier::everywhere();  tries to set `held`
//! ```
//!
//! The barrier interrupts the threads that run, once for each thread that is about to sleep, and a sleep costs more.
//! Models: `light_mutex::*`. In them both halves of the barrier are a fence, or the system refuses it. The change from
//! the one to the other is argued in `barrier`, and not explored.

use ::std::marker::PhantomData;
use ::std::ops::{Deref, DerefMut};
use ::std::panic::{RefUnwindSafe, UnwindSafe};
use ::std::time::Duration;

use super::atomic::{AtomicBool, AtomicU32, Ordering};
use super::{Condvar, Mutex, UnsafeCell, barrier, clock, spin_for, wait_costs};

/// A thread spins for this part of a wake-up before it sleeps.
const PART_OF_A_WAKE: u32 = 8;
/// How long a thread sleeps at a time where the barrier was refused.
const UNCERTAIN: Duration = Duration::from_millis(1);

/// A lock for short work that no condition variable uses. It does not poison.
#[derive(Debug)]
pub struct LightMutex<T> {
    held: AtomicBool,
    /// See [`LightMutex::uses`]. Written by the holder alone.
    uses: AtomicU32,
    /// Whether a thread may sleep that no other thread is about to wake.
    asleep: AtomicBool,
    waiting: Mutex<Waiting>,
    free: Condvar,
    value: UnsafeCell<T>,
}

#[derive(Debug)]
struct Waiting {
    /// The number of threads that wait.
    threads: usize,
    /// How often a thread that released the lock has woken one.
    wakes: u64,
}

// SAFETY: the lock gives its value to one thread at a time.
unsafe impl<T: Send> Sync for LightMutex<T> {}

// As std's lock.
impl<T> UnwindSafe for LightMutex<T> {}
impl<T> RefUnwindSafe for LightMutex<T> {}

/// The lock, held.
#[derive(Debug)]
pub struct LightMutexGuard<'a, T> {
    lock: &'a LightMutex<T>,
    /// As std's: it stays on its thread.
    not_send: PhantomData<*const ()>,
}

impl<T> LightMutex<T> {
    /// An open lock around `value`.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        LightMutex {
            held: AtomicBool::new(false),
            uses: AtomicU32::new(0),
            asleep: AtomicBool::new(false),
            waiting: Mutex::new(Waiting {
                threads: 0,
                wakes: 0,
            }),
            free: Condvar::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LightMutexGuard<'_, T> {
        match self.try_lock() {
            Some(guard) => guard,
            None => self.lock_later(),
        }
    }

    /// Locks if the lock is free.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<LightMutexGuard<'_, T>> {
        let was_free = (self.held)
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok();
        was_free.then(|| LightMutexGuard {
            lock: self,
            not_send: PhantomData,
        })
    }

    /// How often holders have called [`LightMutexGuard::count_use`], wrapping. It orders nothing.
    #[inline]
    pub fn uses(&self) -> u32 {
        self.uses.load(Ordering::Relaxed)
    }

    #[cold]
    #[inline(never)]
    fn lock_later(&self) -> LightMutexGuard<'_, T> {
        if let Some(costs) = wait_costs() {
            for _ in 0..=costs.wake_nanos / PART_OF_A_WAKE / costs.round_trip_nanos {
                let is_free = !self.held.load(Ordering::Relaxed);
                if let Some(guard) = is_free.then(|| self.try_lock()).flatten() {
                    return guard;
                }
                spin_for(costs.round_trip_nanos);
            }
        }
        self.lock_or_sleep()
    }

    fn lock_or_sleep(&self) -> LightMutexGuard<'_, T> {
        let mut waiting = self.waiting.lock();
        waiting.threads += 1;
        loop {
            self.asleep.store(true, Ordering::Relaxed);
            let wakes = waiting.wakes;
            // A thread that releases meanwhile need not wait for the system.
            drop(waiting);
            let is_certain = barrier::everywhere();
            let locked = self.try_lock();
            waiting = self.waiting.lock();
            if let Some(guard) = locked {
                waiting.threads -= 1;
                self.asleep.store(waiting.threads > 0, Ordering::Relaxed);
                return guard;
            }
            if waiting.wakes == wakes {
                waiting = if is_certain {
                    self.free.wait(waiting)
                } else {
                    (self.free.wait_until(waiting, clock::after(UNCERTAIN))).0
                };
            }
        }
    }

    /// Wakes one of the threads that sleep. That one says anew that it sleeps, or that others do.
    #[cold]
    #[inline(never)]
    fn wake(&self) {
        let mut waiting = self.waiting.lock();
        waiting.wakes = waiting.wakes.wrapping_add(1);
        self.asleep.store(false, Ordering::Relaxed);
        drop(waiting);
        self.free.notify_one();
    }
}

impl<T> LightMutexGuard<'_, T> {
    /// Counts a use of what the lock guards. By the count, a waiter sees that others get on.
    #[inline]
    pub fn count_use(&self) {
        let uses = self.lock.uses();
        self.lock
            .uses
            .store(uses.wrapping_add(1), Ordering::Relaxed);
    }
}

impl<T> Drop for LightMutexGuard<'_, T> {
    #[inline]
    #[track_caller]
    fn drop(&mut self) {
        self.lock.held.store(false, Ordering::Release);
        barrier::here();
        if self.lock.asleep.load(Ordering::Relaxed) {
            self.lock.wake();
        }
    }
}

impl<T> Deref for LightMutexGuard<'_, T> {
    type Target = T;
    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so no other thread has the value.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for LightMutexGuard<'_, T> {
    #[inline]
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}
