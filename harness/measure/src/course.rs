//! One scenario of a run: fork by fork, round by round, one window at a time.
//!
//! In a fork every entry of the scenario has a process of its own. All are alive at once, and all but the one being
//! measured are stopped. Each process proves itself once per fork, untimed; a fresh process that has proved
//! itself is as warm as every other. Rounds follow. In each, every entry has one window, in an order drawn anew from
//! the seed, so that drift of the machine affects all entries alike. Two builds of an implementation are timed one after
//! the other, so that drift affects their ratio less.
//!
//! A process that hangs, ends, panics, miscounts or violates the protocol gets one row with the reason. It is killed
//! and has no further window in this scenario; the run continues.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::budget::Demand;
use super::error::MeasureError;
use super::order::{order_of_entries, round_seed};
use super::parent::Parent;
use super::plan::{Entry, EntryKey, PlannedScenario};
use super::process::Process;
use super::progress::{Event, Standing};
use super::protocol::{Request, WireSample};
use super::{StageError, WindowSpec};
use super::{machine, noise};
use flowmeter_records::{Failure, Record, Round, Window};

/// The state of the current scenario.
struct Course<'a> {
    planned: &'a PlannedScenario,
    window: Duration,
    /// Complete rounds.
    rounds: u32,
    excluded: HashSet<EntryKey>,
    /// The first fork number that has not been used.
    next_fork: u32,
    /// Windows and processes of the scenarios after this one.
    later: Demand,
    /// Windows timed in the current round.
    in_round: u64,
}

impl<'a> Course<'a> {
    /// The entries that still take part.
    fn standing(&self) -> impl Iterator<Item = (usize, &'a Entry)> {
        let entries = self.planned.entries.iter().enumerate();
        entries.filter(|(_, entry)| !self.excluded.contains(&entry.key()))
    }
}

impl<'a> Parent<'a> {
    /// Measures the scenario of that index. `later` is the demand of the scenarios after it.
    pub(super) fn planned(
        &mut self,
        index: usize,
        window: Duration,
        later: Demand,
    ) -> Result<(), MeasureError> {
        let planned = &self.plan.planned_scenarios[index];
        let at = self.standpoint(planned);
        let is_excluded = |entry: &Entry| at.excluded.contains(&entry.key());
        if at.rounds >= self.due || planned.entries.iter().all(is_excluded) {
            // It has been timed, by an earlier part of the run or before an earlier look.
            let uncounted = self.uncounted(planned, |key| at.excluded.contains(key));
            return self.count_allocations(planned, &uncounted);
        }
        let mut course = Course {
            planned,
            window,
            rounds: at.rounds,
            excluded: at.excluded,
            next_fork: at.next_fork,
            later,
            in_round: 0,
        };
        let first = at.next_fork;
        self.progress.event(&Event::Scenario {
            name: &planned.scenario.name,
            index,
            of: self.plan.planned_scenarios.len(),
            window,
        });
        for entry in &planned.entries {
            if let Some(why) = &entry.kept_out {
                self.fail(&mut course, entry, first, None, why.clone())?;
            }
        }
        let stretch = noise::Stretch::begin();
        let mut measured = false;
        while course.rounds < self.due && course.standing().next().is_some() {
            self.fork(&mut course)?;
            measured = true;
        }
        if measured && let Some(noise) = stretch.and_then(noise::Stretch::end) {
            self.note_noise(noise)?;
        }
        let uncounted = self.uncounted(planned, |key| course.excluded.contains(key));
        self.count_allocations(planned, &uncounted)?;
        let at = self.before.scenarios.entry(planned.scenario.name.clone());
        let at = at.or_default();
        (at.rounds, at.next_fork, at.excluded) = (course.rounds, course.next_fork, course.excluded);
        Ok(())
    }

    /// One generation of processes and its rounds.
    fn fork(&mut self, course: &mut Course<'a>) -> Result<(), MeasureError> {
        let fork = course.next_fork;
        course.next_fork += 1;
        let scenario = course.planned.scenario.name.as_str();
        self.progress.event(&Event::Fork { scenario, fork });
        let began = Instant::now();
        let standing: Vec<(usize, &'a Entry)> = course.standing().collect();
        let processes = standing.len();
        let mut field = Field::new(course.planned.entries.len());
        // All processes are started before waiting for the first, so that their start-up overlaps.
        let started: Vec<_> = standing
            .into_iter()
            .map(|(index, entry)| (index, entry, self.start(course.planned, entry, fork)))
            .collect();
        for (index, entry, started) in started {
            let proved = started.and_then(|mut process| {
                process.ready(self.plan.prove_limit)?;
                process.prove(self.plan.prove_limit)?;
                process.rest();
                Ok(process)
            });
            match proved {
                Ok(process) => {
                    let implementation = entry.implementation.as_str();
                    self.progress.event(&Event::Proved {
                        scenario,
                        implementation,
                    });
                    field.0[index] = Some(process);
                }
                Err(error) => self.fail(course, entry, fork, None, error)?,
            }
        }
        // The time of a process that hung until its limit does not predict the time of the next.
        if field.0.iter().flatten().count() == processes {
            self.pace.processes_took(began.elapsed(), processes);
        }
        let end = course.rounds + self.plan.run.rounds.min(self.due - course.rounds);
        let mut timed = Duration::ZERO;
        while course.rounds < end && !field.is_empty() {
            timed += self.round(course, &mut field, fork)?;
            if self.plan.fork_limit.is_some_and(|limit| timed >= limit) {
                course.rounds = end;
            }
        }
        Ok(())
    }

    pub(super) fn start(
        &self,
        planned: &PlannedScenario,
        entry: &Entry,
        fork: u32,
    ) -> Result<Process, StageError> {
        let mut process = Process::start((self.spawn)(&planned.scenario.name, entry, fork))?;
        process.ask(&Request::Prepare {
            implementation: entry.implementation.clone(),
            scenario: planned.spec.clone(),
        })?;
        Ok(process)
    }

    /// One window for each entry that has not failed. Returns how long the longest was.
    fn round(
        &mut self,
        course: &mut Course<'a>,
        field: &mut Field,
        fork: u32,
    ) -> Result<Duration, MeasureError> {
        let planned = course.planned;
        let scenario = planned.scenario.name.as_str();
        let (seed, round) = (self.plan.run.seed, course.rounds);
        let of = self.due;
        self.progress.event(&Event::Round {
            scenario,
            round,
            of,
        });
        course.in_round = 0;
        let (core_round_trip_nanos, fixed_work_nanos) = self.probe();
        let mut longest = 0;
        for index in order_of_entries(seed, scenario, round, &planned.entries) {
            let Some(process) = &mut field.0[index] else {
                continue;
            };
            let entry = &planned.entries[index];
            let spec = WindowSpec {
                ramp_nanos: nanos(self.plan.ramp),
                nanos: nanos(course.window),
                slowed_percent: entry.slowed_percent,
                seed: round_seed(seed, scenario, round),
            };
            let began = Instant::now();
            let limit = self.plan.ramp + course.window + self.plan.window_limit;
            let timed = process.window(spec, limit).and_then(|sample| {
                let peak = process.peak_memory(self.plan.window_limit)?;
                process.rest();
                Ok((sample, peak))
            });
            match timed {
                Ok((sample, peak)) => {
                    longest = longest.max(sample.nanos);
                    let window = window_record(scenario, entry, (fork, round), sample, peak);
                    self.book.append(&Record::Window(window.clone()))?;
                    self.windows += 1;
                    course.in_round += 1;
                    self.pace.window_took(began.elapsed(), course.window);
                    let standing = self.standing(course);
                    self.progress.event(&Event::Window {
                        window: &window,
                        standing,
                    });
                }
                Err(error) => {
                    field.0[index] = None;
                    self.fail(course, entry, fork, Some(round), error)?;
                }
            }
        }
        self.book.append(&Record::Round(Round {
            scenario: scenario.to_owned(),
            fork,
            round,
            core_round_trip_nanos,
            fixed_work_nanos,
        }))?;
        course.rounds += 1;
        course.in_round = 0;
        Ok(Duration::from_nanos(longest))
    }

    /// What the machine does at the moment: a round trip between two cores, and fixed work. A virtual machine's cores may
    /// have moved to other cores of the host since the last round.
    fn probe(&mut self) -> (Option<f64>, Option<u64>) {
        if self.plan.noise_watch.is_zero() {
            return (None, None);
        }
        let began = Instant::now();
        let probed = (
            machine::core_round_trip_nanos(),
            Some(noise::fixed_work_nanos()),
        );
        self.pace.round_took(began.elapsed());
        probed
    }

    /// Records the failure of an entry, once.
    fn fail(
        &mut self,
        course: &mut Course<'_>,
        entry: &Entry,
        fork: u32,
        round: Option<u32>,
        error: StageError,
    ) -> Result<(), MeasureError> {
        if !course.excluded.insert(entry.key()) {
            return Ok(());
        }
        let failure = Failure {
            scenario: course.planned.scenario.name.clone(),
            implementation: entry.implementation.clone(),
            placebo: entry.placebo,
            slowed_percent: entry.slowed_percent,
            build: entry.build,
            fork,
            round,
            kind: error.kind,
            message: error.message,
        };
        self.book.append(&Record::Failure(failure.clone()))?;
        self.failures += 1;
        let standing = self.standing(course);
        self.progress.event(&Event::Failure {
            failure: &failure,
            standing,
        });
        Ok(())
    }

    fn standing(&self, course: &Course<'_>) -> Standing {
        let able = course.standing().count() as u64;
        let rounds = u64::from(self.due - course.rounds);
        let here = (able * rounds).saturating_sub(course.in_round);
        let forks = rounds.div_ceil(u64::from(self.plan.run.rounds));
        let demand = Demand {
            windows: here + course.later.windows,
            // The processes of the current fork are already started.
            processes: able * forks.saturating_sub(1)
                + self
                    .uncounted(course.planned, |key| course.excluded.contains(key))
                    .len() as u64
                + course.later.processes,
        };
        Standing {
            done: self.before.windows + self.windows,
            to_come: demand.windows,
            time_left: self.pace.left(demand, course.window),
        }
    }
}

/// The processes of a fork, by entry; dropping them ends them.
struct Field(Vec<Option<Process>>);

impl Field {
    fn new(entries: usize) -> Field {
        Field((0..entries).map(|_| None).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn window_record(
    scenario: &str,
    entry: &Entry,
    (fork, round): (u32, u32),
    sample: WireSample,
    peak_bytes: Option<u64>,
) -> Window {
    Window {
        scenario: scenario.to_owned(),
        implementation: entry.implementation.clone(),
        placebo: entry.placebo,
        slowed_percent: entry.slowed_percent,
        build: entry.build,
        fork,
        round,
        value: sample.value,
        operations: sample.operations,
        nanos: sample.nanos,
        cpu_nanos: sample.cpu_nanos,
        voluntary_switches: sample.voluntary_switches,
        involuntary_switches: sample.involuntary_switches,
        peak_bytes,
        unsustained: sample.unsustained,
        generator_p99_nanos: sample.generator_p99_nanos,
        findings: sample.findings,
        latency: sample.latency,
    }
}
