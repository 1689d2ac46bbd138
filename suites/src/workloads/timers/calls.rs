//! Counting calls: how many timers have fired, and how many of them before their deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Wake;
use std::thread;
use std::time::Duration;

use flowmeter_harness::measure::StageError;
use flowmeter_harness::record::FailureKind;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;

use crate::workloads::ledger::disproved;

/// Whoever takes longer hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Calls of timers, counted by whoever calls.
///
/// It lives for ever, as a stage very nearly does: a count of references would be one more word that two threads
/// change for each timer.
#[derive(Debug)]
pub struct Calls {
    /// Whether each call is held against its deadline: in proofs, for reading the clock is not for free.
    judged: bool,
    fired: AtomicU64,
    early: AtomicU64,
    /// Which of them is the last, if that is asked for.
    last: AtomicU64,
    /// When that came; 0 until then.
    ended: AtomicU64,
}

impl Calls {
    /// None yet.
    pub fn new(judged: bool) -> &'static Calls {
        Box::leak(Box::new(Calls {
            judged,
            fired: AtomicU64::new(0),
            early: AtomicU64::new(0),
            last: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        }))
    }

    /// One that was due then.
    #[inline]
    pub fn one_more(&self, due: Deadline) {
        if self.judged && clock::now_nanos() < due.as_nanos() {
            self.early.fetch_add(1, Ordering::Relaxed);
        }
        // Release: who sees the count sees what was early.
        let before = self.fired.fetch_add(1, Ordering::Release);
        if before + 1 == self.last.load(Ordering::Relaxed) {
            self.ended.store(clock::now_nanos(), Ordering::Relaxed);
        }
    }

    /// Forgets them, and notes when the last of so many comes; nobody may be calling.
    pub fn expect(&self, last: u64) {
        self.reset();
        self.ended.store(0, Ordering::Relaxed);
        self.last.store(last, Ordering::Relaxed);
    }

    /// When the last came of those that were expected, nanoseconds; `None` until then.
    pub fn ended(&self) -> Option<u64> {
        Some(self.ended.load(Ordering::Relaxed)).filter(|ended| *ended > 0)
    }

    /// How many so far.
    #[inline]
    pub fn fired(&self) -> u64 {
        self.fired.load(Ordering::Acquire)
    }

    /// Forgets them; nobody may be calling.
    pub fn reset(&self) {
        self.fired.store(0, Ordering::Relaxed);
    }

    /// Waits until so many have fired, or more.
    ///
    /// # Errors
    /// [`FailureKind::Hang`] when they do not.
    pub fn wait_until(&self, armed: u64) -> Result<(), StageError> {
        let patience = clock::after(PATIENCE);
        while self.fired() < armed {
            if clock::has_passed(patience) {
                return Err(StageError {
                    kind: FailureKind::Hang,
                    message: format!(
                        "{} of {armed} timers fired within {} s",
                        self.fired(),
                        PATIENCE.as_secs()
                    ),
                });
            }
            // Asleep: CPU time is what some of those who wait look at.
            thread::sleep(Duration::from_micros(100));
        }
        Ok(())
    }

    /// Waits until so many have fired, and no more.
    ///
    /// # Errors
    /// [`FailureKind::Hang`] when they do not; [`FailureKind::Proof`] when there are more, or some were early.
    pub fn wait_for(&self, armed: u64) -> Result<(), StageError> {
        self.wait_until(armed)?;
        match (self.fired(), self.early.load(Ordering::Relaxed)) {
            (fired, 0) if fired == armed => Ok(()),
            (fired, 0) => Err(disproved(format!("{armed} timers fired {fired} times"))),
            (_, early) => Err(disproved(format!(
                "{early} timers fired before their deadline"
            ))),
        }
    }
}

/// A future that counts when it is ready: whether it says so when it is polled, calls its waker, or does both.
pub struct Awaited {
    calls: &'static Calls,
    due: Deadline,
    stopped: AtomicBool,
}

impl Awaited {
    /// One that is due then.
    pub fn new(calls: &'static Calls, due: Deadline) -> Arc<Awaited> {
        Arc::new(Awaited {
            calls,
            due,
            stopped: AtomicBool::new(false),
        })
    }

    /// It is ready.
    pub fn is_ready(&self) {
        if self.stop() {
            self.calls.one_more(self.due);
        }
    }

    /// It counts no more; `false`: it had counted.
    pub fn stop(&self) -> bool {
        // Relaxed: who is first counts, and the count orders the rest.
        !self.stopped.swap(true, Ordering::Relaxed)
    }
}

impl Wake for Awaited {
    fn wake(self: Arc<Self>) {
        self.is_ready();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_ready();
    }
}
