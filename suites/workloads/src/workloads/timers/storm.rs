//! Storm: many timers are due at the same moment.
//!
//! The value is the time from that moment until the last of them has called, divided by their number. A call is a
//! callback, or the waker of a future that was polled once. Storms follow each other until the time of the window is
//! used up. CPU time and allocations count from the deadline on, without arming.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use flowmeter_harness::timer::{Sleep, Timers};
use flowmeter_measure::reading::{Cost, Reading};
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, FailureKind, Measure};
use serde::{Deserialize, Serialize};

use super::{TimerForm, sleep_until};
use crate::scenario::{Facts, Within};
use crate::workloads::ledger::disproved;
use crate::workloads::pieces::Pieces;

/// How many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How firing is waited for.
    pub form: TimerForm,
    /// Timers due at the same moment.
    pub timers: Within<1, 10_000_000>,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form.into(),
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: format!("timer-storm/{}", self.form.name()),
                waiting: Some(self.timers.count()),
                ..Axes::default()
            },
        }
    }
}

/// Calls of one storm.
struct Calls {
    /// The thread that waits for the last of them.
    waiter: Thread,
    count: AtomicU64,
    /// Moment of the latest.
    latest: AtomicU64,
    /// Moment of the earliest; 0 before.
    earliest: AtomicU64,
}

impl Calls {
    fn waited_for_here() -> Calls {
        Calls {
            waiter: thread::current(),
            count: AtomicU64::new(0),
            latest: AtomicU64::new(0),
            earliest: AtomicU64::new(0),
        }
    }

    #[inline]
    fn one_more(&self, of: u64) {
        // Only the first and the last call read the clock, or the clock would be timed. Release and Acquire of the
        // count publish the moments.
        let before = self.count.load(Ordering::Relaxed);
        if before == 0 {
            let _ = self.earliest.compare_exchange(
                0,
                clock::now_nanos(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
        if self.count.fetch_add(1, Ordering::AcqRel) + 1 == of {
            self.latest
                .store(clock::now_nanos().max(1), Ordering::Release);
            self.waiter.unpark();
        }
    }
}

/// A form of storms.
pub trait Raining: Sized + 'static {
    /// A service of its own.
    fn start() -> Self;
    /// Keeps the timers of a storm armed.
    type Armed;
    /// Arms so many, all due at that moment.
    fn arm(
        &self,
        count: u64,
        due: Deadline,
        called: impl Fn() + Clone + Send + Sync + 'static,
    ) -> Self::Armed;
}

/// By callbacks.
pub struct ByCallback<T>(T);

impl<T: Timers> Raining for ByCallback<T> {
    type Armed = Vec<T::Handle>;

    fn start() -> Self {
        ByCallback(T::start())
    }

    fn arm(
        &self,
        count: u64,
        due: Deadline,
        called: impl Fn() + Clone + Send + Sync + 'static,
    ) -> Self::Armed {
        let one = |_| {
            let called = called.clone();
            self.0.schedule(due, move |_| called())
        };
        (0..count).map(one).collect()
    }
}

/// By wakers.
pub struct ByWaker<S>(S);

struct Calling<F>(F);

impl<F: Fn() + Send + Sync> Wake for Calling<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        (self.0)();
    }
}

impl<S: Sleep> Raining for ByWaker<S> {
    type Armed = Vec<Pin<Box<dyn Future<Output = ()> + Send>>>;

    fn start() -> Self {
        ByWaker(S::start())
    }

    fn arm(
        &self,
        count: u64,
        due: Deadline,
        called: impl Fn() + Clone + Send + Sync + 'static,
    ) -> Self::Armed {
        let waker = Waker::from(Arc::new(Calling(called)));
        let one = |_| {
            let mut future: Pin<Box<dyn Future<Output = ()> + Send>> =
                Box::pin(self.0.sleep_until(due));
            if future
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
            {
                waker.wake_by_ref();
            }
            future
        };
        (0..count).map(one).collect()
    }
}

struct Storm<R> {
    params: Params,
    service: R,
    /// How long arming the last storm took, in nanoseconds. The next one is due later than that.
    arming: u64,
    form: PhantomData<fn(R)>,
}

impl<R: Raining> Storm<R> {
    /// One storm: how long it took from its moment on, in nanoseconds, and the cost.
    fn storm(&mut self) -> Result<(u64, Cost), StageError> {
        let count = self.params.timers.get();
        for _ in 0..10 {
            let began = clock::now_nanos();
            let due = Deadline::from_nanos(began + 2 * self.arming + 2_000_000);
            let calls = Arc::new(Calls::waited_for_here());
            let called = {
                let calls = calls.clone();
                move || calls.one_more(count)
            };
            let armed = self.service.arm(count, due, called);
            let now = clock::now_nanos();
            self.arming = now - began;
            let in_time = now < due.as_nanos();
            sleep_until(due);
            let first = Reading::first(clock::now_nanos());
            let latest = self.wait(&calls)?;
            let last = Reading::last(clock::now_nanos());
            drop(armed);
            if calls.earliest.load(Ordering::Relaxed) < due.as_nanos() && in_time {
                return Err(disproved("a timer fired before its deadline"));
            }
            if in_time {
                let cost = last.since(&first, last.nanos - first.nanos);
                return Ok((latest.saturating_sub(due.as_nanos()).max(1), cost));
            }
        }
        Err(StageError {
            kind: FailureKind::Void,
            message: format!("{count} timers were never armed before they were due, in 10 tries"),
        })
    }

    /// Waits until the last has called; returns its moment.
    fn wait(&self, calls: &Calls) -> Result<u64, StageError> {
        let patience = clock::after(Duration::from_secs(10));
        loop {
            match calls.latest.load(Ordering::Acquire) {
                0 if clock::has_passed(patience) => {
                    let count = calls.count.load(Ordering::Relaxed);
                    return Err(StageError {
                        kind: FailureKind::Hang,
                        message: format!(
                            "{count} of {} timers fired within 10 s",
                            self.params.timers.get()
                        ),
                    });
                }
                0 => thread::park_timeout(Duration::from_secs(1)),
                latest => return Ok(latest),
            }
        }
    }
}

impl<R: Raining> Stage for Storm<R> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.storm().map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let storms = Pieces::of(&spec, || self.storm())?;
        let count = self.params.timers.get() * storms.count;
        let value = storms.nanos as f64 / count as f64;
        Ok(Sample::new(value, count, storms.nanos, storms.cost))
    }
}

/// A stage.
pub fn stage<R: Raining>(params: Params) -> Box<dyn Stage> {
    Box::new(Storm::<R> {
        params,
        service: R::start(),
        arming: params.timers.get() * 500,
        form: PhantomData,
    })
}
