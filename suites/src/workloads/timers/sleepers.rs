//! Sleepers: each waits for a deadline, and when it has come, for the next one.
//!
//! Written once for the three forms in which timers are waited for: a callback that arms the next timer, a task
//! of an executor, a thread. Lateness and expiry are two ways of looking at them.
//!
//! Where lateness is looked at, the deadlines of a sleeper are drawn one after the other from the beginning of the
//! interval, whether or not it was woken in time: a stall makes every deadline in it late, not only the first. Where
//! firings are counted they follow from the calls ([`Pace`]): deadlines that were fixed beforehand would all be met in the
//! end, however slowly.

use std::future::{Future, poll_fn};
use std::ops::RangeInclusive;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::measure::interval::Interval;
use flowmeter_harness::measure::reading::Cost;
use flowmeter_harness::measure::{StageError, WindowSpec};
use flowmeter_harness::record::FailureKind;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use flowmeter_harness::timer::{BlockingSleep, Sleep, Timers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::scenario::cores;
use crate::workloads::crew;
use crate::workloads::latencies::Latencies;
use crate::workloads::start::Start;

/// How late the firings of a window were.
pub struct Lateness {
    /// From the deadline to the call.
    pub called: Latencies,
    /// From the deadline to the timer's noticing.
    pub claimed: Latencies,
}

/// What a sleeper's next deadline follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// From the deadline before, however late that was met; a firing belongs to the moment of its deadline.
    Deadlines,
    /// From where it fired; a firing belongs to the moment of its call.
    Calls,
}

/// One who sleeps over and over.
pub struct Sleeper {
    pace: Pace,
    /// The deadline that was last.
    last: u64,
    delays: RangeInclusive<u64>,
    random: Pcg64Mcg,
    lateness: Option<Arc<Mutex<Lateness>>>,
    /// How long it computes where it was called, nanoseconds.
    computes: u64,
    counts: Counts,
}

/// What sleepers counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Firings that belong to the interval, those before their deadline apart.
    pub fired: u64,
    /// Calls before their deadline, within the interval or not.
    pub early: u64,
    /// Calls in which the slow one computed.
    pub slow: u64,
}

impl Sleeper {
    /// The next deadline; `None` once the interval is over.
    fn next(&mut self, interval: &Interval) -> Option<Deadline> {
        match self.pace {
            Pace::Calls => self.last = clock::now_nanos(),
            Pace::Deadlines if self.last == 0 => self.last = interval.began_nanos(),
            Pace::Deadlines => {}
        }
        self.last += self.random.random_range(self.delays.clone());
        (!interval.is_over(self.last)).then(|| Deadline::from_nanos(self.last))
    }

    /// It was called for that deadline, which the timer noticed at `claimed`.
    fn woke(&mut self, interval: &Interval, due: Deadline, claimed: Option<u64>, called: u64) {
        self.note(interval, due, claimed, called);
        if self.computes > 0 {
            self.counts.slow += 1;
            while clock::now_nanos() < called + self.computes {
                std::hint::spin_loop();
            }
        }
    }

    fn note(&mut self, interval: &Interval, due: Deadline, claimed: Option<u64>, called: u64) {
        let due = due.as_nanos();
        let moment = match self.pace {
            Pace::Deadlines => due,
            Pace::Calls => called,
        };
        if called < due {
            // Before the interval and after it too: that is wrong whenever it happens.
            self.counts.early += 1;
            return;
        }
        if !interval.holds(moment) {
            return;
        }
        self.counts.fired += 1;
        if let Some(lateness) = &self.lateness {
            let mut lateness = lateness.lock().unwrap_or_else(PoisonError::into_inner);
            lateness.called.record(called - due);
            if let Some(claimed) = claimed {
                lateness.claimed.record(claimed.saturating_sub(due));
            }
        }
    }
}

/// Sleepers about to lie down.
pub struct Dormitory {
    /// How many.
    pub sleepers: usize,
    /// How long each sleep lasts, nanoseconds.
    pub delays: RangeInclusive<u64>,
    /// What the next one follows from.
    pub pace: Pace,
    /// Where lateness is written down, if anybody asks.
    pub lateness: Option<Arc<Mutex<Lateness>>>,
    /// One more who, each time it is called, computes for so many nanoseconds there, and whose own lateness nobody asks
    /// for; 0: there is none.
    pub slow: u64,
}

impl Dormitory {
    /// All of them.
    fn sleepers(&self, spec: &WindowSpec) -> Vec<Sleeper> {
        let sleeper = |number: usize| {
            let slow = number == self.sleepers;
            Sleeper {
                pace: self.pace,
                last: 0,
                delays: self.delays.clone(),
                random: Pcg64Mcg::seed_from_u64(spec.seed ^ number as u64),
                lateness: self.lateness.clone().filter(|_| !slow),
                computes: if slow { self.slow } else { 0 },
                counts: Counts::default(),
            }
        };
        (0..self.all()).map(sleeper).collect()
    }

    /// How many, with the slow one.
    fn all(&self) -> usize {
        self.sleepers + usize::from(self.slow > 0)
    }

    /// Sleeps through the interval and hears all sleepers out.
    fn hear(
        &self,
        interval: Interval,
        heard: &mpsc::Receiver<Counts>,
    ) -> Result<Slept, StageError> {
        let cost = interval.sleep_through();
        let patience = Duration::from_nanos(*self.delays.end()) + Duration::from_secs(5);
        let mut counts = Counts::default();
        for heard_before in 0..self.all() {
            let one = heard.recv_timeout(patience).map_err(|_| StageError {
                kind: FailureKind::Hang,
                message: format!(
                    "{} of {} timers had not fired 5 s after they were due",
                    self.all() - heard_before,
                    self.all()
                ),
            })?;
            counts.fired += one.fired;
            counts.early += one.early;
            counts.slow += one.slow;
        }
        Ok(Slept {
            counts,
            cost,
            nanos: interval.nanos(),
        })
    }
}

/// What came of an interval.
pub struct Slept {
    /// What all counted.
    pub counts: Counts,
    /// What it cost between the edges.
    pub cost: Cost,
    /// Length of the interval, nanoseconds.
    pub nanos: u64,
}

/// A form in which timers are waited for.
pub trait Waiting: 'static {
    /// Lets all sleep through a window.
    ///
    /// # Errors
    /// When one is never woken.
    fn sleep(dormitory: &Dormitory, spec: &WindowSpec) -> Result<Slept, StageError>;
}

/// A callback arms the next timer.
pub struct Calling<T>(std::marker::PhantomData<T>);

impl<T: Timers> Waiting for Calling<T> {
    fn sleep(dormitory: &Dormitory, spec: &WindowSpec) -> Result<Slept, StageError> {
        let timers = Arc::new(T::start());
        let (tell, heard) = mpsc::channel();
        let interval = Interval::begin(spec);
        for sleeper in dormitory.sleepers(spec) {
            // In a box: what a timer has to store is small.
            arm(timers.clone(), interval, Box::new(sleeper), tell.clone());
        }
        dormitory.hear(interval, &heard)
    }
}

fn arm<T: Timers>(
    timers: Arc<T>,
    interval: Interval,
    mut sleeper: Box<Sleeper>,
    tell: Sender<Counts>,
) {
    let Some(deadline) = sleeper.next(&interval) else {
        // The service goes first: whoever hears the last of them drops it, not the timer's own thread.
        drop(timers);
        let _ = tell.send(sleeper.counts);
        return;
    };
    let again = timers.clone();
    timers.schedule(deadline, move |fired| {
        let called = clock::now_nanos();
        sleeper.woke(&interval, fired.due, fired.claimed_nanos, called);
        arm(again, interval, sleeper, tell);
    });
}

/// A task sleeps.
pub struct Awaiting<S, E>(std::marker::PhantomData<(S, E)>);

impl<S: Sleep, E: Executors> Waiting for Awaiting<S, E> {
    fn sleep(dormitory: &Dormitory, spec: &WindowSpec) -> Result<Slept, StageError> {
        let executor: E = crew::executor(cores())?;
        let spawner = executor.spawner();
        let (tell, heard) = mpsc::channel();
        let sleepers = dormitory.sleepers(spec);
        let start = Start::of(sleepers.len());
        let line = start.clone();
        executor.spawn(async move {
            // Inside the executor, whose own timer it may be.
            let sleep = Arc::new(S::start());
            for mut sleeper in sleepers {
                let (sleep, tell, line) = (sleep.clone(), tell.clone(), line.clone());
                spawner.spawn(async move {
                    let interval = line.wait_async().await;
                    // Watched only where somebody asks when it was claimed: that costs.
                    let notice = sleeper.lateness.is_some().then(Arc::<Notice>::default);
                    while let Some(deadline) = sleeper.next(&interval) {
                        let sleep = sleep.sleep_until(deadline);
                        match &notice {
                            Some(notice) => notice.of(sleep).await,
                            None => sleep.await,
                        }
                        let called = clock::now_nanos();
                        let claimed = notice.as_ref().map(|notice| notice.moment());
                        sleeper.woke(&interval, deadline, claimed, called);
                    }
                    let _ = tell.send(sleeper.counts);
                });
            }
        });
        dormitory.hear(start.begin(spec), &heard)
    }
}

/// Notes when a future's waker is called, and passes the call on.
#[derive(Default)]
struct Notice {
    at: AtomicU64,
    task: Mutex<Option<Waker>>,
}

impl Notice {
    /// That future, watched.
    async fn of(self: &Arc<Self>, future: impl Future<Output = ()>) {
        let mut future = pin!(future);
        let waker = Waker::from(self.clone());
        poll_fn(|context| {
            *self.task.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(context.waker().clone());
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_ready() && self.at.load(Ordering::Relaxed) == 0 {
                // Ready without having called anybody.
                self.at.store(clock::now_nanos(), Ordering::Relaxed);
            }
            polled
        })
        .await;
    }

    /// When it was called last; forgets it.
    fn moment(&self) -> u64 {
        // Relaxed: the task's own waking orders it.
        self.at.swap(0, Ordering::Relaxed)
    }
}

impl Wake for Notice {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.at.store(clock::now_nanos(), Ordering::Relaxed);
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(task) = task {
            task.wake();
        }
    }
}

/// A thread is held up.
pub struct HoldingUp<S>(std::marker::PhantomData<S>);

impl<S: BlockingSleep> Waiting for HoldingUp<S> {
    fn sleep(dormitory: &Dormitory, spec: &WindowSpec) -> Result<Slept, StageError> {
        let sleep = Arc::new(S::start());
        let (tell, heard) = mpsc::channel();
        let sleepers = dormitory.sleepers(spec);
        let start = Start::of(sleepers.len());
        for (place, mut sleeper) in sleepers.into_iter().enumerate() {
            let (sleep, tell, line) = (sleep.clone(), tell.clone(), start.clone());
            thread::spawn(move || {
                crew::settle(place);
                let interval = line.wait();
                while let Some(deadline) = sleeper.next(&interval) {
                    sleep.sleep_until(deadline);
                    sleeper.woke(&interval, deadline, None, clock::now_nanos());
                }
                let _ = tell.send(sleeper.counts);
            });
        }
        dormitory.hear(start.begin(spec), &heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000_000_000;

    /// The first two deadlines of a sleeper of an hour, the second asked for as soon as the first was told.
    fn deadlines(pace: Pace) -> [u64; 2] {
        let spec = WindowSpec {
            ramp_nanos: 0,
            nanos: 10 * HOUR,
            slowed_percent: None,
            seed: 1,
        };
        let dormitory = Dormitory {
            sleepers: 1,
            delays: HOUR..=HOUR,
            pace,
            lateness: None,
            slow: 0,
        };
        let interval = Interval::begin(&spec);
        let mut sleeper = dormitory.sleepers(&spec).swap_remove(0);
        [(); 2].map(|()| sleeper.next(&interval).expect("it is not over").as_nanos())
    }

    #[test]
    fn a_deadline_follows_from_the_one_before_or_from_the_call() {
        let [first, second] = deadlines(Pace::Deadlines);
        assert_eq!(second - first, HOUR);
        let [first, second] = deadlines(Pace::Calls);
        assert!(second - first < HOUR, "{first} {second}");
    }
}
