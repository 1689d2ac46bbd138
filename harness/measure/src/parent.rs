//! The parent of a run: scenario after scenario, each with windows as long as the plan or its budget says.
//!
//! `course.rs` handles one scenario, `book.rs` the file of records. The records are those of one run even if it was
//! killed and resumed; see [`resume`].

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::book::{Book, Found, Standpoint, Standpoints};
use super::budget::{Demand, Pace, allot};
use super::error::MeasureError;
use super::noise;
use super::plan::{Entry, Plan, PlannedScenario};
use super::progress::{Event, Progress};
use flowmeter_records::{End, Noise, Record, RunData, read_run};

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Windows in the records, those of earlier parts included.
    pub windows: u64,
    /// Cells without a result, those of earlier parts included.
    pub failures: u64,
    /// Scenarios dropped for lack of time.
    pub dropped: u64,
    /// Wall time of this part.
    pub took: Duration,
}

/// Measures a plan into a folder that holds no run yet.
///
/// `spawn` returns the command that starts an implementation's process for a scenario, an entry and a fork. It must speak the
/// [`protocol`](super::protocol), as [`child::serve_process`](super::child::serve_process) does. Its pipes are set
/// here. Writing to a process that has just ended must return an error, not raise a signal: leave `SIGPIPE` ignored, as
/// Rust's start-up does.
///
/// # Errors
/// [`MeasureError`]; never because of an implementation.
pub fn run(
    plan: &Plan,
    folder: &Path,
    spawn: impl Fn(&str, &Entry, u32) -> Command,
    progress: &mut dyn Progress,
) -> Result<RunSummary, MeasureError> {
    run_in_looks(plan, folder, spawn, |_| Settled::new(), progress)
}

/// Implementations that need no further forks, each with the scenario.
pub type Settled = HashSet<(String, String)>;

/// [`run`], which asks `settled` at each look but the last ([`Run::looks`](flowmeter_records::Run::looks)) which
/// implementations need no further forks. A judgement of such a run has to count every look as a chance of error.
///
/// # Errors
/// As of [`run`].
pub fn run_in_looks(
    plan: &Plan,
    folder: &Path,
    spawn: impl Fn(&str, &Entry, u32) -> Command,
    settled: impl Fn(&RunData) -> Settled,
    progress: &mut dyn Progress,
) -> Result<RunSummary, MeasureError> {
    plan.check()?;
    let noise = watch(plan)?;
    let book = Book::create(folder, plan)?;
    let parent = Parent::new(plan, book, Standpoints::default(), &spawn, progress);
    parent.run(noise, || Ok(settled(&read_run(folder)?)))
}

/// Continues a run that was cut off. Returns `None` when nothing is left to do.
///
/// Only a torn last line and the windows of an unfinished round are dropped. Scenarios that lack rounds continue in a
/// new fork, with an unused number, until they have as many as planned. Entries that have failed stay excluded. A run of
/// several looks is not continued: its records do not say what was settled.
///
/// # Errors
/// [`MeasureError`], also when the plan is not that of the run in the folder.
pub fn resume(
    plan: &Plan,
    folder: &Path,
    spawn: impl Fn(&str, &Entry, u32) -> Command,
    progress: &mut dyn Progress,
) -> Result<Option<RunSummary>, MeasureError> {
    plan.check()?;
    if plan.run.looks > 1 {
        return Err(MeasureError::Plan(
            "a run that looks several times cannot be resumed; begin it anew".to_owned(),
        ));
    }
    let (book, standpoints) = match Book::resume(folder, plan)? {
        Found::Complete => return Ok(None),
        Found::Unfinished(book, standpoints) => (book, standpoints),
    };
    let noise = watch(plan)?;
    let parent = Parent::new(plan, book, standpoints, &spawn, progress);
    parent.run(noise, || Ok(Settled::new())).map(Some)
}

/// Watches the machine before anything is timed.
fn watch(plan: &Plan) -> Result<Option<Noise>, MeasureError> {
    let noise = match plan.noise_watch {
        Duration::ZERO if !plan.strict => return Ok(None),
        Duration::ZERO => noise::watch(noise::DEFAULT_WATCH),
        interval => noise::watch(interval),
    };
    if plan.strict && !noise.quiet {
        return Err(MeasureError::Noisy(noise));
    }
    Ok(Some(noise))
}

/// A run in progress.
pub(super) struct Parent<'a> {
    pub(super) plan: &'a Plan,
    pub(super) book: Book,
    /// Where each scenario stands, and what earlier parts of the run measured.
    pub(super) before: Standpoints,
    pub(super) spawn: &'a dyn Fn(&str, &Entry, u32) -> Command,
    pub(super) progress: &'a mut dyn Progress,
    /// Rounds of a scenario until the current look.
    pub(super) due: u32,
    began: Instant,
    pub(super) pace: Pace,
    /// Windows timed in this part.
    pub(super) windows: u64,
    /// Failures in this part.
    pub(super) failures: u64,
}

impl<'a> Parent<'a> {
    fn new(
        plan: &'a Plan,
        book: Book,
        before: Standpoints,
        spawn: &'a dyn Fn(&str, &Entry, u32) -> Command,
        progress: &'a mut dyn Progress,
    ) -> Parent<'a> {
        Parent {
            plan,
            book,
            before,
            spawn,
            progress,
            due: plan.rounds_until(1),
            began: Instant::now(),
            pace: Pace::new(plan.ramp),
            windows: 0,
            failures: 0,
        }
    }

    fn run(
        mut self,
        noise: Option<Noise>,
        settled: impl Fn() -> Result<Settled, MeasureError>,
    ) -> Result<RunSummary, MeasureError> {
        if let Some(noise) = noise {
            self.note_noise(noise)?;
        }
        let dropped = self.first_look()?;
        for scenario in &dropped {
            self.progress.event(&Event::Dropped { scenario });
        }
        self.later_looks(&dropped, settled)?;
        let end = End {
            seconds: (self.began.elapsed() + self.spent_before()).as_secs_f64(),
            windows: self.before.windows + self.windows,
            failures: self.before.failures + self.failures,
            dropped,
        };
        self.book.append(&Record::End(end.clone()))?;
        Ok(RunSummary {
            windows: end.windows,
            failures: end.failures,
            dropped: end.dropped.len() as u64,
            took: self.began.elapsed(),
        })
    }

    /// Measures scenario after scenario until the first look. Returns those for which there was no time.
    fn first_look(&mut self) -> Result<Vec<String>, MeasureError> {
        let planned_scenarios = &self.plan.planned_scenarios;
        for index in 0..planned_scenarios.len() {
            let Some((window, kept)) = self.window_of(index) else {
                // The remaining scenarios are less important than this one, and are dropped with it.
                let left = planned_scenarios[index..].iter();
                return Ok(left.map(|planned| planned.scenario.name.clone()).collect());
            };
            let later = self.demand(&planned_scenarios[index + 1..index + kept.max(1)]);
            self.planned(index, window, later)?;
        }
        Ok(Vec::new())
    }

    /// Measures what is not settled until each later look. A scenario that lacks the time for it keeps the forks that it
    /// has.
    fn later_looks(
        &mut self,
        dropped: &[String],
        settled: impl Fn() -> Result<Settled, MeasureError>,
    ) -> Result<(), MeasureError> {
        let of = self.plan.run.looks;
        let nothing = Demand {
            windows: 0,
            processes: 0,
        };
        let mut short = HashSet::new();
        for look in 1..of {
            let settled = settled()?;
            self.exclude(&settled);
            self.due = self.plan.rounds_until(look + 1);
            let planned_scenarios = &self.plan.planned_scenarios;
            let open: Vec<usize> = (0..planned_scenarios.len())
                .filter(|&index| !dropped.contains(&planned_scenarios[index].scenario.name))
                .filter(|&index| self.demand_of(&planned_scenarios[index]).windows > 0)
                .collect();
            if open.is_empty() {
                break;
            }
            self.progress.event(&Event::Look {
                look,
                of,
                settled: settled.len(),
            });
            for index in open {
                match self.window_of(index) {
                    Some((window, _)) => self.planned(index, window, nothing)?,
                    None => _ = short.insert(index),
                }
            }
        }
        if !short.is_empty() {
            let scenarios = short.len();
            self.progress.event(&Event::Short { scenarios });
        }
        Ok(())
    }

    /// Ends what is settled.
    fn exclude(&mut self, settled: &Settled) {
        for (scenario, implementation) in settled {
            let mut planned = self.plan.planned_scenarios.iter();
            let planned = planned.find(|planned| planned.scenario.name == *scenario);
            let entries = planned.into_iter().flat_map(|planned| &planned.entries);
            let its = entries.filter(|entry| entry.implementation == *implementation);
            let at = self.before.scenarios.entry(scenario.clone()).or_default();
            at.excluded.extend(its.map(Entry::key));
        }
    }

    pub(super) fn standpoint(&self, planned: &PlannedScenario) -> Standpoint {
        let at = self.before.scenarios.get(&planned.scenario.name);
        at.cloned().unwrap_or_default()
    }

    /// The remaining demand of these scenarios.
    fn demand(&self, planned_scenarios: &[PlannedScenario]) -> Demand {
        let mut demand = Demand {
            windows: 0,
            processes: 0,
        };
        for planned in planned_scenarios {
            let more = self.demand_of(planned);
            demand.windows += more.windows;
            demand.processes += more.processes;
        }
        demand
    }

    fn demand_of(&self, planned: &PlannedScenario) -> Demand {
        let at = self.standpoint(planned);
        let entries = planned.entries.iter();
        let able = entries.filter(|e| e.kept_out.is_none() && !at.excluded.contains(&e.key()));
        let able = able.count() as u64;
        let rounds = self.due.saturating_sub(at.rounds);
        Demand {
            windows: able * u64::from(rounds),
            // One more process each to count its allocations. The time of its window is part of the pace of processes.
            processes: able * u64::from(rounds.div_ceil(self.plan.run.rounds))
                + self
                    .uncounted(planned, |key| at.excluded.contains(key))
                    .len() as u64,
        }
    }

    /// The window length of that scenario, and how many scenarios from it on fit; `None` where the budget is too small.
    fn window_of(&self, index: usize) -> Option<(Duration, usize)> {
        let planned_scenarios = &self.plan.planned_scenarios[index..];
        let Some(budget) = self.plan.budget else {
            let window = Duration::from_nanos(self.plan.run.window_nanos);
            return Some((window, planned_scenarios.len()));
        };
        let demands: Vec<Demand> = planned_scenarios
            .iter()
            .map(|c| self.demand_of(c))
            .collect();
        let left = self
            .share(budget.total)
            .saturating_sub(self.began.elapsed());
        let overhead = self.pace.overhead();
        let allotment = allot(left, budget.longest_window, &demands, overhead);
        // A budget too small for anything still measures the most important scenario.
        (allotment.kept > 0 || index == 0 && self.is_first_look())
            .then_some((allotment.window, allotment.kept.max(1)))
    }

    fn is_first_look(&self) -> bool {
        self.due == self.plan.rounds_until(1)
    }

    /// What is left of a budget for this part of the run. It is at least a tenth, so that the run can finish.
    fn share(&self, total: Duration) -> Duration {
        total.saturating_sub(self.spent_before()).max(total / 10)
    }

    /// The time that earlier parts are known to have taken: their windows and ramps.
    fn spent_before(&self) -> Duration {
        let ramps = self.plan.ramp.as_secs_f64() * self.before.windows as f64;
        let seconds = self.before.window_nanos as f64 / 1e9 + ramps;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    pub(super) fn note_noise(&mut self, noise: Noise) -> Result<(), MeasureError> {
        self.book.append(&Record::Noise(noise.clone()))?;
        self.progress.event(&Event::Noise(&noise));
        Ok(())
    }
}
