//! The place where the thread of one side sleeps until the other side has done something.
//!
//! A side that has changed the channel looks whether the other one sleeps. A side that is about to sleep says so, and then
//! looks at the channel once more. Between its two steps each passes its half of a barrier, so at least one of them sees
//! what the other one did:
//!
//! ```text
//! change:  channel = changed;  barrier::here();        reads `asleep`
//! sleep:   asleep = true;      barrier::everywhere();  reads the channel
//! ```
//!
//! So a put or take beside which no thread sleeps makes no read-modify-write, and where the system helps no fence.

use std::time::Duration;

use flowmeter_harness::sync::Deadline;

use super::super::trampoline;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, Parker, Track, Unparker, barrier, clock};

/// How long a thread sleeps at a time where the barrier was refused.
const UNCERTAIN: Duration = Duration::from_millis(1);

/// Where the thread of one side sleeps.
pub(super) struct Sleeper {
    /// Whether there is a thread to be woken. Relaxed, because the lock orders what is read of `thread`: a thread that had
    /// the lock before `announce` did cannot have read what `announce` stores afterwards.
    asleep: AtomicBool,
    thread: Mutex<Option<Track<Unparker>>>,
}

/// A thread that has said that it is about to sleep.
pub(super) struct Announced {
    parker: Parker,
    /// Whether the other side sees it.
    is_certain: bool,
}

impl Announced {
    /// Sleeps until the deadline or until it is woken. It may also wake for no reason.
    pub(super) fn park_until(self, deadline: Deadline) {
        trampoline::before_waiting();
        let next_look = if self.is_certain {
            Deadline::NEVER
        } else {
            clock::after(UNCERTAIN)
        };
        self.parker.park_until(deadline.min(next_look));
    }
}

impl Sleeper {
    pub(super) fn new() -> Self {
        Sleeper {
            asleep: AtomicBool::new(false),
            thread: Mutex::new(None),
        }
    }

    /// Says that this thread is about to sleep. The caller then looks once more at what it waits for.
    pub(super) fn announce(&self) -> Announced {
        let parker = Parker::new();
        *self.thread.lock() = Some(Track::new(parker.unparker()));
        self.asleep.store(true, Ordering::Relaxed);
        Announced {
            parker,
            is_certain: barrier::everywhere(),
        }
    }

    /// Says that it does not sleep any more.
    pub(super) fn withdraw(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Wakes the thread that sleeps, if there is one. The caller has changed what that thread waits for.
    #[inline]
    pub(super) fn wake(&self) {
        barrier::here();
        if self.asleep.load(Ordering::Relaxed) {
            self.wake_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_now(&self) {
        if self.asleep.swap(false, Ordering::Relaxed) {
            let thread = self.thread.lock().take();
            if let Some(thread) = thread {
                thread.get_ref().unpark();
            }
        }
    }
}
