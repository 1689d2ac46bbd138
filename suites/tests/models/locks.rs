//! The std world's lock that is released by a store: its source explored over loom's primitives, and the lock itself.

use std::sync::atomic::AtomicBool as Plain;
use std::thread;

use flowmeter_harness::sync::loom::{self, Arc, spawn};
use flowmeter_harness::sync::std as std_world;
use flowmeter_suites::isolation::Model;

use self::light_mutex::LightMutex;
use super::loom_world::{exhaust, explore};

// What the source takes from the world.
use loom::{Condvar, Mutex, UnsafeCell, atomic, clock, spin_for, wait_costs};

#[path = "../../../harness/src/sync/std/light_mutex.rs"]
mod light_mutex;

/// As in the std world until the system has agreed: both halves are a fence.
mod barrier {
    use flowmeter_harness::sync::loom::atomic::{Ordering, fence};

    /// Whether the half of the thread that releases is left out.
    pub static IS_LEFT_OUT: super::Plain = super::Plain::new(false);
    /// Whether the system refuses the other half.
    pub static IS_REFUSED: super::Plain = super::Plain::new(false);

    pub fn here() {
        if !IS_LEFT_OUT.load(Ordering::Relaxed) {
            fence(Ordering::SeqCst);
        }
    }

    pub fn everywhere() -> bool {
        let agrees = !IS_REFUSED.load(Ordering::Relaxed);
        if agrees {
            fence(Ordering::SeqCst);
        }
        agrees
    }
}

/// The models.
pub fn models() -> Vec<Model> {
    vec![
        Model::holds("light_mutex::two_threads_take_turns", || {
            exhaust(take_turns(2, 2))
        }),
        Model::holds("light_mutex::three_threads_take_turns", || {
            exhaust(take_turns(3, 1))
        }),
        Model::holds(
            "light_mutex::without_the_system_a_sleeper_looks_again",
            || {
                barrier::IS_LEFT_OUT.store(true, atomic::Ordering::Relaxed);
                barrier::IS_REFUSED.store(true, atomic::Ordering::Relaxed);
                explore(take_turns(2, 1))
            },
        ),
        Model::new("light_mutex::threads_of_the_system_take_turns", many_turns),
        Model::finds(
            "light_mutex::without_a_barrier_a_sleeper_is_forgotten",
            "deadlock",
            || {
                barrier::IS_LEFT_OUT.store(true, atomic::Ordering::Relaxed);
                explore(take_turns(2, 2))
            },
        ),
    ]
}

/// Each thread locks so many times.
fn take_turns(threads: u32, turns: u32) -> impl Fn() + Send + Sync + 'static {
    move || {
        let lock = Arc::new(LightMutex::new(0));
        let add = move |lock: &LightMutex<u32>| {
            for _ in 0..turns {
                let mut held = lock.lock();
                held.count_use();
                *held += 1;
                assert!(lock.try_lock().is_none(), "held twice");
            }
        };
        let others = (1..threads).map(|_| {
            let lock = lock.clone();
            spawn(move || add(&lock))
        });
        let others: Vec<_> = others.collect();
        add(&lock);
        others.into_iter().for_each(|other| other.join());
        assert_eq!(lock.uses(), threads * turns);
        assert_eq!(*lock.lock(), threads * turns);
    }
}

/// Some threads keep the lock for so long that the others sleep.
fn many_turns() -> Result<String, String> {
    const THREADS: u32 = 4;
    const TURNS: u32 = 4_000;
    let lock = std_world::LightMutex::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for turn in 0..TURNS {
                    let mut held = lock.lock();
                    *held += 1;
                    if turn % 8 == 0 {
                        std_world::spin_for(20_000);
                    }
                }
            });
        }
    });
    match *lock.lock() {
        all if all == THREADS * TURNS => Ok(format!("{all} turns")),
        some => Err(format!("{some} turns of {}", THREADS * TURNS)),
    }
}
