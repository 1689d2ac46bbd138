//! When a woken task is left to the thread that woke it.
//!
//! To call a sleeping thread takes longer than most polls. So a task that a thread of the pool wakes is left to that
//! thread, which takes it after its poll, if no other task is queued and an idle thread watches.
//!
//! Invariant, whenever the lock is free: a task that is left is the first in the queue, and a thread watches or was
//! called.
//!
//! The watcher bounds how long a task is left. It looks at the queue once a millisecond. If tasks are queued then, and
//! none is taken for some round trips between cores (`HELD_UP_TRIPS`), they are held up. The watcher takes one, and no
//! thread watches for a while. That pause doubles with each hold-up, and is a millisecond shorter after each look
//! without one.
//!
//! If no task was left since the last look, the watcher becomes a thread that sleeps until it is called. A thread that
//! goes to sleep becomes the watcher only where a task would have been left meanwhile, since a sleep with an end costs
//! more.

use std::mem;
use std::time::Duration;

use flowmeter_harness::sync::Deadline;

use crate::sync::clock;

/// The time between two looks.
const BETWEEN: Duration = Duration::from_millis(1);
/// How long no thread watches after tasks were held up: the first time, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(16);
const LONGEST_PAUSE: Duration = Duration::from_millis(128);

/// Loom would explore ten times as many executions with a watcher, so there no thread watches. All of this happens
/// under the lock of the pool, so shuttle explores it as well. A watcher mends a notification that is lost, and without
/// one loom sees it.
const IS_LOOM: bool = cfg!(feature = "loom");

/// What the watcher knows.
pub(super) struct Watch {
    /// Whether a thread watches.
    is_on: bool,
    /// Whether a task was left since the last look, or would have been with a watcher.
    is_wanted: bool,
    /// When the next thread may watch.
    resumes: Deadline,
    /// How long no thread watches after the next hold-up.
    pause: Duration,
}

impl Watch {
    pub(super) fn new() -> Self {
        Watch {
            is_on: false,
            is_wanted: false,
            resumes: Deadline::from_nanos(0),
            pause: FIRST_PAUSE,
        }
    }

    /// A thread is about to wait. When it looks at the queue: never, unless it is the watcher.
    pub(super) fn begin(&mut self) -> Deadline {
        let begins = self.is_wanted && !self.is_on && !IS_LOOM;
        if !begins || !clock::has_passed(self.resumes) {
            return Deadline::NEVER;
        }
        self.is_on = true;
        clock::after(BETWEEN)
    }

    /// The watcher goes on to other work.
    pub(super) fn end(&mut self) {
        self.is_on = false;
    }

    /// The only queued task may be left to the thread that woke it. Whether it is.
    pub(super) fn asks_to_leave(&mut self) -> bool {
        self.is_wanted = true;
        self.is_on
    }

    /// The watcher has looked, and no task is held up. When it looks next.
    pub(super) fn next_look(&mut self) -> Deadline {
        self.is_on = mem::take(&mut self.is_wanted);
        if !self.is_on {
            return Deadline::NEVER;
        }
        self.pause = self.pause.saturating_sub(BETWEEN).max(FIRST_PAUSE);
        clock::after(BETWEEN)
    }

    /// The watcher has found tasks that are held up.
    pub(super) fn pause(&mut self) {
        self.is_on = false;
        self.resumes = clock::after(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    #[test]
    fn one_thread_watches_once_a_task_would_have_been_left() {
        let mut watch = Watch::new();
        assert_eq!(watch.begin(), Deadline::NEVER, "no task was woken");
        assert!(!watch.asks_to_leave(), "no thread watches");
        assert_ne!(watch.begin(), Deadline::NEVER);
        assert_eq!(watch.begin(), Deadline::NEVER, "another one watches");
        assert!(watch.asks_to_leave());
        assert_ne!(watch.next_look(), Deadline::NEVER, "a task was left");
        assert_eq!(watch.next_look(), Deadline::NEVER, "none since");
        assert!(!watch.asks_to_leave());
    }

    #[test]
    fn the_pause_shrinks_while_nothing_is_held_up() {
        let mut watch = Watch::new();
        watch.pause();
        watch.pause();
        let mut looks = 0;
        while watch.pause > FIRST_PAUSE {
            watch.asks_to_leave();
            watch.next_look();
            looks += 1;
        }
        assert_eq!(looks, 48, "from 64 ms to 16");
    }

    #[test]
    fn the_pause_after_a_hold_up_doubles() {
        let mut watch = Watch::new();
        for millis in [16, 32, 64, 128, 128] {
            let before = clock::after(Duration::from_millis(millis));
            watch.pause();
            let after = clock::after(Duration::from_millis(millis));
            assert!((before..=after).contains(&watch.resumes), "{millis} ms");
        }
    }
}
