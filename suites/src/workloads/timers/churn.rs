//! Churn: a timer is armed and called off again, while others stay armed.
//!
//! What most timers live to see: the answer came in time. A future is polled once, which arms it, and dropped.

use std::future::Future;
use std::ops::Range;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use flowmeter_harness::measure::StageError;
use flowmeter_harness::record::{Axes, Measure};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::{block_on, clock};
use flowmeter_harness::timer::{Cancel, Sleep};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use super::TimerForm;
use crate::scenario::{Facts, Within};
use crate::workloads::ledger::disproved;
use crate::workloads::solo::Solo;

/// How long from now timers are due that will be called off: nobody sees it.
const DELAYS: Range<u64> = 60_000_000_000..3_600_000_000_000;

/// How many timers stay armed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How firing is waited for.
    pub form: TimerForm,
    /// Timers that are armed before and never fire.
    pub outstanding: Within<0, 10_000_000>,
}

impl Params {
    /// What records say of it.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form.into(),
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: format!("timer-churn/{}", self.form.name()),
                waiting: Some(self.outstanding.count()),
                ..Axes::default()
            },
        }
    }
}

/// Something that arms timers and calls them off.
pub trait Arming {
    /// Arms one and leaves it armed.
    fn keep(&mut self, deadline: Deadline);

    /// Arms one and calls it off; `false`: it had fired.
    fn arm_and_cancel(&mut self, deadline: Deadline) -> bool;

    /// Arms one that counts when it fires.
    fn arm_counting(&mut self, deadline: Deadline, fired: &Arc<AtomicU64>);
}

/// By schedule and cancel.
pub struct ByHandle<T: Cancel> {
    timers: T,
    kept: Vec<T::Handle>,
}

impl<T: Cancel> Default for ByHandle<T> {
    fn default() -> Self {
        ByHandle {
            timers: T::start(),
            kept: Vec::new(),
        }
    }
}

impl<T: Cancel> Arming for ByHandle<T> {
    fn keep(&mut self, deadline: Deadline) {
        self.kept.push(self.timers.schedule(deadline, |_| {}));
    }

    #[inline]
    fn arm_and_cancel(&mut self, deadline: Deadline) -> bool {
        let handle = self.timers.schedule(deadline, |_| {});
        self.timers.cancel(&handle)
    }

    fn arm_counting(&mut self, deadline: Deadline, fired: &Arc<AtomicU64>) {
        let fired = fired.clone();
        let handle = self.timers.schedule(deadline, move |_| {
            fired.fetch_add(1, Ordering::Relaxed);
        });
        self.kept.push(handle);
    }
}

/// By futures, polled once and dropped.
pub struct ByFuture<S> {
    sleep: S,
    kept: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<S: Sleep> Default for ByFuture<S> {
    fn default() -> Self {
        ByFuture {
            sleep: S::start(),
            kept: Vec::new(),
        }
    }
}

impl<S: Sleep> Arming for ByFuture<S> {
    fn keep(&mut self, deadline: Deadline) {
        let mut future = Box::pin(self.sleep.sleep_until(deadline));
        let _ = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        self.kept.push(future);
    }

    #[inline]
    fn arm_and_cancel(&mut self, deadline: Deadline) -> bool {
        let future = pin!(self.sleep.sleep_until(deadline));
        let polled = future.poll(&mut Context::from_waker(Waker::noop()));
        polled == Poll::Pending
    }

    fn arm_counting(&mut self, deadline: Deadline, fired: &Arc<AtomicU64>) {
        let (sleep, fired) = (self.sleep.sleep_until(deadline), fired.clone());
        thread::spawn(move || {
            block_on(sleep);
            fired.fetch_add(1, Ordering::Relaxed);
        });
    }
}

/// Timers that come and go.
pub struct Churn<A> {
    arming: A,
    random: Pcg64Mcg,
}

impl<A: Arming + Default> Churn<A> {
    /// With the outstanding timers armed.
    pub fn new(params: Params) -> Self {
        let mut churn = Churn {
            arming: A::default(),
            random: Pcg64Mcg::seed_from_u64(1),
        };
        for _ in 0..params.outstanding.get() {
            let deadline = churn.far(clock::now_nanos());
            churn.arming.keep(deadline);
        }
        churn
    }
}

impl<A> Churn<A> {
    #[inline]
    fn far(&mut self, now: u64) -> Deadline {
        Deadline::from_nanos(now + self.random.random_range(DELAYS))
    }
}

impl<A: Arming> Solo for Churn<A> {
    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        // Read once: a clock costs some designs more than all the rest.
        let now = clock::now_nanos();
        for _ in 0..turns {
            let deadline = self.far(now);
            if !self.arming.arm_and_cancel(deadline) {
                return Err(disproved("a timer fired a minute early"));
            }
        }
        Ok(())
    }

    /// Timers that are not called off fire, with others called off between them. (That these stay silent is a
    /// property's to prove.)
    fn prove(&mut self) -> Result<(), StageError> {
        const TIMERS: u64 = 10;
        let fired = Arc::new(AtomicU64::new(0));
        for _ in 0..TIMERS {
            self.arming
                .arm_counting(clock::after(Duration::from_millis(3)), &fired);
            self.batch(1)?;
        }
        let patience = clock::after(Duration::from_secs(5));
        while fired.load(Ordering::Relaxed) < TIMERS && !clock::has_passed(patience) {
            thread::sleep(Duration::from_millis(1));
        }
        match fired.load(Ordering::Relaxed) {
            TIMERS => Ok(()),
            fired => Err(disproved(format!(
                "{fired} of {TIMERS} timers of 3 ms fired within 5 s"
            ))),
        }
    }
}
