//! Counts the timers that have fired, and those that fired before their deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Wake;
use std::thread;
use std::time::Duration;

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use flowmeter_measure::StageError;
use flowmeter_records::FailureKind;

use crate::workloads::ledger::disproved;

/// Longer than that counts as a hang.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Calls of timers, counted by the code that they call.
///
/// It lives for ever, nearly as long as a stage. A reference count would be one more word that two threads write for
/// each timer.
#[derive(Debug)]
pub struct Calls {
    /// Whether each call is compared with its deadline: in proofs only, since reading the clock takes time.
    judged: bool,
    fired: AtomicU64,
    early: AtomicU64,
    /// The number of the last call, if one is expected.
    last: AtomicU64,
    /// When that call came; 0 until then.
    ended: AtomicU64,
}

impl Calls {
    /// No calls yet.
    pub fn new(judged: bool) -> &'static Calls {
        Box::leak(Box::new(Calls {
            judged,
            fired: AtomicU64::new(0),
            early: AtomicU64::new(0),
            last: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        }))
    }

    /// Counts one that was due at that moment.
    #[inline]
    pub fn one_more(&self, due: Deadline) {
        if self.judged && clock::now_nanos() < due.as_nanos() {
            self.early.fetch_add(1, Ordering::Relaxed);
        }
        // Release: a thread that sees the count also sees which calls were early.
        let before = self.fired.fetch_add(1, Ordering::Release);
        if before + 1 == self.last.load(Ordering::Relaxed) {
            self.ended.store(clock::now_nanos(), Ordering::Relaxed);
        }
    }

    /// Resets the counts, and records when the last of so many comes. No call may be running.
    pub fn expect(&self, last: u64) {
        self.reset();
        self.ended.store(0, Ordering::Relaxed);
        self.last.store(last, Ordering::Relaxed);
    }

    /// When the last of the expected calls came, in nanoseconds; `None` until then.
    pub fn ended(&self) -> Option<u64> {
        Some(self.ended.load(Ordering::Relaxed)).filter(|ended| *ended > 0)
    }

    /// The number so far.
    #[inline]
    pub fn fired(&self) -> u64 {
        self.fired.load(Ordering::Acquire)
    }

    /// Resets the counts. No call may be running.
    pub fn reset(&self) {
        self.fired.store(0, Ordering::Relaxed);
    }

    /// Waits until at least so many have fired.
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
            // Sleeping: some callers measure CPU time.
            thread::sleep(Duration::from_micros(100));
        }
        Ok(())
    }

    /// Waits until exactly so many have fired.
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

/// A future that counts once when it is ready, whether that shows in a poll, in a wake-up, or in both.
pub struct Awaited {
    calls: &'static Calls,
    due: Deadline,
    stopped: AtomicBool,
}

impl Awaited {
    /// One that is due at that moment.
    pub fn new(calls: &'static Calls, due: Deadline) -> Arc<Awaited> {
        Arc::new(Awaited {
            calls,
            due,
            stopped: AtomicBool::new(false),
        })
    }

    /// Records that it is ready.
    pub fn is_ready(&self) {
        if self.stop() {
            self.calls.one_more(self.due);
        }
    }

    /// Stops its counting; `false` if it had counted.
    pub fn stop(&self) -> bool {
        // Relaxed: the first to swap counts, and the count orders the rest.
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
