//! Sleepers: each waits for a deadline, and then for the next one.
//!
//! They are written once for the three forms of waiting: a callback that arms the next timer, a task of an executor,
//! a thread. Lateness and expiry measure them in two ways.
//!
//! For lateness, the deadlines of a sleeper are drawn from the beginning of the interval, whether or not it was woken
//! in time. So a stall makes every deadline in it late, not only the first. For firings per second they follow from
//! the calls ([`Pace`]): fixed deadlines would all be met in the end, however slowly.

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
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use flowmeter_harness::timer::{BlockingSleep, Sleep, Timers};
use flowmeter_measure::interval::Interval;
use flowmeter_measure::reading::Cost;
use flowmeter_measure::{StageError, WindowSpec};
use flowmeter_records::FailureKind;
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
    /// From the deadline to the moment the timer noticed it.
    pub claimed: Latencies,
}

/// The start of a sleeper's next delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The previous deadline, however late it was met. A firing belongs to the moment of its deadline.
    Deadlines,
    /// The previous call. A firing belongs to the moment of its call.
    Calls,
}

/// A sleeper, which sleeps repeatedly.
pub struct Sleeper {
    pace: Pace,
    /// The last deadline.
    last: u64,
    delays: RangeInclusive<u64>,
    random: Pcg64Mcg,
    lateness: Option<Arc<Mutex<Lateness>>>,
    /// How long its callback computes, in nanoseconds.
    computes: u64,
    counts: Counts,
}

/// What sleepers counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Firings that belong to the interval, without those before their deadline.
    pub fired: u64,
    /// Calls before their deadline, within the interval or not.
    pub early: u64,
    /// Calls in which the slow sleeper computed.
    pub slow: u64,
}

impl Sleeper {
    /// The next deadline; `None` once the interval is over.
    fn next(&mut self, interval: &Interval) -> Option<Deadline> {
        let is_first = self.last == 0;
        match self.pace {
            Pace::Calls => self.last = clock::now_nanos(),
            Pace::Deadlines if is_first => self.last = interval.began_nanos(),
            Pace::Deadlines => {}
        }
        self.last += match self.pace {
            // Or all would be due together, and again after each delay.
            Pace::Calls if is_first => {
                let mean = self.delays.start().midpoint(*self.delays.end());
                self.random.random_range(1..=mean)
            }
            _ => self.random.random_range(self.delays.clone()),
        };
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
            // Also outside the interval: an early call is always wrong.
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

/// The sleepers of an interval.
pub struct Dormitory {
    /// Their number.
    pub sleepers: usize,
    /// How long each sleep lasts, nanoseconds.
    pub delays: RangeInclusive<u64>,
    /// The start of the next delay.
    pub pace: Pace,
    /// Where lateness is recorded, if it is measured.
    pub lateness: Option<Arc<Mutex<Lateness>>>,
    /// How long the callback of one further sleeper computes each time, in nanoseconds. Its own lateness is not
    /// measured. 0 means that there is none.
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

    /// Their number, including the slow one.
    fn all(&self) -> usize {
        self.sleepers + usize::from(self.slow > 0)
    }

    /// Sleeps through the interval and collects the reports of all sleepers.
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

/// The result of an interval.
pub struct Slept {
    /// The counts of all sleepers.
    pub counts: Counts,
    /// The cost between the edges.
    pub cost: Cost,
    /// Length of the interval, nanoseconds.
    pub nanos: u64,
}

/// A way to wait for timers.
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
            // Boxed, so that the timer has little to store.
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
        // The service is dropped first: the receiver of the last report drops it, not the timer's own thread.
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
            // Inside the executor, which may own the timer.
            let sleep = Arc::new(S::start());
            for mut sleeper in sleepers {
                let (sleep, tell, line) = (sleep.clone(), tell.clone(), line.clone());
                spawner.spawn(async move {
                    let interval = line.wait_async().await;
                    // Watched only where the moment of noticing is recorded, since that costs time.
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

/// Records when a future's waker is called, and passes the call on.
#[derive(Default)]
struct Notice {
    at: AtomicU64,
    task: Mutex<Option<Waker>>,
}

impl Notice {
    /// Awaits that future, watched.
    async fn of(self: &Arc<Self>, future: impl Future<Output = ()>) {
        let mut future = pin!(future);
        let waker = Waker::from(self.clone());
        poll_fn(|context| {
            *self.task.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(context.waker().clone());
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_ready() && self.at.load(Ordering::Relaxed) == 0 {
                // It was ready without a wake-up.
                self.at.store(clock::now_nanos(), Ordering::Relaxed);
            }
            polled
        })
        .await;
    }

    /// When it was last called; resets it.
    fn moment(&self) -> u64 {
        // Relaxed: the wake-up of the task orders it.
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

/// A thread blocks.
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

    /// The first two deadlines of a sleeper of an hour; the second is requested as soon as the first was reported.
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
        let before = clock::now_nanos();
        let [first, second] = deadlines(Pace::Calls);
        assert!(
            first < before + HOUR && second >= before + HOUR,
            "{first} {second}"
        );
    }

    /// In any stretch of time a share of the sleepers is due, not all or none.
    #[test]
    fn sleepers_that_go_on_from_their_calls_are_not_due_together() {
        const SECOND: u64 = 1_000_000_000;
        let spec = WindowSpec {
            ramp_nanos: 0,
            nanos: 10 * SECOND,
            slowed_percent: None,
            seed: 1,
        };
        let dormitory = Dormitory {
            sleepers: 1_000,
            delays: SECOND..=SECOND,
            pace: Pace::Calls,
            lateness: None,
            slow: 0,
        };
        let began = clock::now_nanos();
        let interval = Interval::begin(&spec);
        let mut sleepers = dormitory.sleepers(&spec);
        let due = sleepers
            .iter_mut()
            .map(|it| it.next(&interval).expect("within").as_nanos());
        let soon = due.filter(|due| *due < began + SECOND / 4).count();
        assert!(
            (150..350).contains(&soon),
            "{soon} of 1000 in a quarter of the delay"
        );
    }
}
