//! Turnover: timers are armed at a steady rate. A share of them is cancelled when its answer arrives, and the others
//! fire.
//!
//! The scenario fixes the rate, so all implementations have the same work. The value is the CPU time of the process
//! for a timer: armed, and cancelled or fired. Waiting is not included. The arming thread wakes two hundred times a
//! second in all of them. At both edges of the interval all due timers have fired, so no firing is missing.

use std::collections::VecDeque;

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use flowmeter_measure::reading::Reading;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, FailureKind, Measure};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use super::arming::{Arming, Cancelling};
use super::calls::Calls;
use super::delays::Delays;
use super::{TimerForm, sleep_until};
use crate::scenario::{Facts, Within};
use crate::workloads::ledger::void;

/// From one batch of the arming thread to the next, in nanoseconds.
const TICK: u64 = 5_000_000;
/// From the arming of a timer that is cancelled to its answer, in nanoseconds.
const ANSWER: u64 = 5_000_000;
/// Ticks before the first edge: longer than the answers, and than the short delays of timers that fire.
const RAMP: u64 = 10;
/// Ticks of a window, at least.
const TICKS: u64 = 20;

/// How many timers, and what happens to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How firing is waited for.
    pub form: TimerForm,
    /// Timers that are armed in a second.
    pub per_second: Within<1_000, 1_000_000>,
    /// How many of a thousand are cancelled.
    pub called_off_permille: Within<0, 1_000>,
    /// Their delays.
    pub delays: Delays,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        let permille = self.called_off_permille.get();
        Facts {
            form: self.form.into(),
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: format!(
                    "timer-turnover/{}/{permille} of 1000/{}",
                    self.delays.name(),
                    self.form.name()
                ),
                rate: Some(self.per_second.get()),
                ..Axes::default()
            },
        }
    }

    /// Timers that are armed in a tick.
    fn a_tick(&self) -> u64 {
        self.per_second.get() * TICK / 1_000_000_000
    }
}

/// A timer that will be cancelled.
struct Awaiting<T> {
    answer: u64,
    due: u64,
    armed: T,
}

/// Timers of one window.
struct Turnover<'s, A: Arming, D> {
    params: Params,
    service: &'s A,
    calls: &'static Calls,
    /// The first moment of a tick.
    begin: u64,
    delay: D,
    random: Pcg64Mcg,
    /// In the order of their answers.
    awaiting: VecDeque<Awaiting<A::Armed>>,
    /// Timers that are not cancelled. They are kept, since a dropped future would be cancelled.
    left: Vec<A::Armed>,
    /// How many of the cancelled ones had fired.
    fired: u64,
    /// How many should fire in each tick since the beginning, up to the end of the window.
    to_fire: Vec<u64>,
}

impl<A: Cancelling, D: FnMut() -> u64> Turnover<'_, A, D> {
    /// Counts a timer that should fire, if it is due within the window.
    fn is_left(&mut self, due: u64) {
        let tick = ((due - self.begin) / TICK) as usize;
        if let Some(count) = self.to_fire.get_mut(tick) {
            *count += 1;
        }
    }

    /// Cancels one after its answer has arrived, unless it has fired.
    fn answered(&mut self, one: Awaiting<A::Armed>) {
        if !self.service.cancel(one.armed) {
            self.fired += 1;
            self.is_left(one.due);
        }
    }

    /// The work of the tick that begins at `now`: the timers of the next tick, spread over it.
    fn tick(&mut self, now: u64) {
        let timers = self.params.a_tick();
        for timer in 0..timers {
            let asked = now + timer * TICK / timers;
            let due = asked + (self.delay)();
            let is_called_off =
                self.random.random_range(0..1_000) < self.params.called_off_permille.get();
            let armed = self
                .service
                .arm_counted(Deadline::from_nanos(due), self.calls);
            let answer = asked + ANSWER;
            if is_called_off && answer < due {
                self.awaiting.push_back(Awaiting { answer, due, armed });
            } else {
                self.is_left(due);
                self.left.push(armed);
            }
        }
        while self.awaiting.front().is_some_and(|one| one.answer <= now)
            && let Some(one) = self.awaiting.pop_front()
        {
            self.answered(one);
        }
    }

    /// So many ticks. Returns how late the last of them began, in nanoseconds.
    fn ticks(&mut self, ticks: u64) -> u64 {
        let first = clock::now_nanos();
        for tick in 0..ticks {
            let begins = first + tick * TICK;
            sleep_until(Deadline::from_nanos(begins));
            self.tick(begins);
        }
        let end = first + ticks * TICK;
        sleep_until(Deadline::from_nanos(end));
        clock::now_nanos() - end
    }

    /// Waits until all timers have fired that were due by the tick that has just begun.
    fn catch_up(&self) -> Result<(), StageError> {
        let tick = ((clock::now_nanos() - self.begin) / TICK) as usize;
        self.calls.wait_until(self.to_fire.iter().take(tick).sum())
    }

    /// Cancels the remaining timers. Those that cannot be cancelled have fired once.
    fn ends(mut self) -> Result<(), StageError> {
        let awaiting = self.awaiting.into_iter().map(|one| one.armed);
        for armed in awaiting.chain(self.left) {
            self.fired += u64::from(!self.service.cancel(armed));
        }
        self.calls.wait_for(self.fired)
    }
}

struct Stages<A> {
    params: Params,
    service: A,
    calls: &'static Calls,
}

impl<A: Cancelling> Stages<A> {
    fn run(&self, ticks: u64, seed: u64, calls: &'static Calls) -> Result<Sample, StageError> {
        calls.reset();
        let mut turnover = Turnover {
            params: self.params,
            service: &self.service,
            calls,
            begin: clock::now_nanos(),
            delay: self.params.delays.draw(seed),
            random: Pcg64Mcg::seed_from_u64(seed),
            awaiting: VecDeque::new(),
            left: Vec::new(),
            fired: 0,
            to_fire: vec![0; (4 * (RAMP + ticks)) as usize],
        };
        turnover.ticks(RAMP);
        turnover.catch_up()?;
        let first = Reading::first(clock::now_nanos());
        let late = turnover.ticks(ticks);
        turnover.catch_up()?;
        let last = Reading::last(clock::now_nanos());
        turnover.ends()?;
        if late > ticks * TICK / 10 {
            return Err(void(format!(
                "fell {} ms behind in {} ms",
                late / 1_000_000,
                ticks * TICK / 1_000_000
            )));
        }
        let nanos = last.nanos - first.nanos;
        let cost = last.since(&first, nanos);
        let used = cost
            .used
            .ok_or_else(|| void("the system does not tell CPU time"))?;
        let timers = ticks * self.params.a_tick();
        let value = used.cpu_nanos as f64 / timers as f64;
        Ok(Sample::new(value.max(1.0), timers, nanos, cost))
    }
}

impl<A: Cancelling> Stage for Stages<A> {
    fn prove(&mut self) -> Result<(), StageError> {
        match self.run(TICKS, 1, Calls::new(true)) {
            // Lateness on a busy machine is no fault.
            Err(why) if why.kind == FailureKind::Void => Ok(()),
            outcome => outcome.map(drop),
        }
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        self.run((spec.nanos / TICK).max(TICKS), spec.seed, self.calls)
    }
}

/// A stage.
pub fn stage<A: Cancelling>(params: Params) -> Box<dyn Stage> {
    Box::new(Stages {
        params,
        service: A::start(),
        calls: Calls::new(false),
    })
}
