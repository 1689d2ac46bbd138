//! From the windows of runs to values for each scenario, entry and complete round.

use std::collections::{BTreeMap, BTreeSet};

use flowmeter_harness::caps::Origin;
use flowmeter_records::{Better, Build, FailureKind, Implementation, RunData, Scenario, Window};

use super::forks::median;
use super::modes::{Mode, modes};
use super::pace::Pace;
use super::tails::{Pooled, TAIL};
use crate::error::StatisticsError;

/// Which entry of an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    /// The implementation itself.
    Original,
    /// Its second entry.
    Placebo,
    /// Its copy slowed by so many percent.
    Slowed(u32),
    /// The same implementation, timed by another build.
    Of(Build),
}

impl Entry {
    fn of(window: &Window) -> Entry {
        match (window.build, window.slowed_percent, window.placebo) {
            (Some(build), ..) => Entry::Of(build),
            (None, Some(percent), _) => Entry::Slowed(percent),
            (None, None, true) => Entry::Placebo,
            (None, None, false) => Entry::Original,
        }
    }
}

/// A window, and the run that it belongs to.
#[derive(Clone, Copy)]
pub struct Timed<'a> {
    /// Index of the run.
    pub run: usize,
    /// The timed window.
    pub window: &'a Window,
}

/// The measurements of a scenario.
pub struct ScenarioSamples<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Rounds by index, grouped into forks.
    pub forks: Vec<Vec<usize>>,
    /// How many rounds.
    pub rounds: usize,
    /// Windows of complete rounds: by implementation and entry, then by round.
    pub windows: BTreeMap<(&'a str, Entry), BTreeMap<usize, Timed<'a>>>,
    /// Latencies by fork, where [`pool`](super::tails::pool) found histograms.
    pub pooled: BTreeMap<(&'a str, Entry), Pooled>,
    /// Implementations that may have no number here, with the first reason.
    pub failures: BTreeMap<&'a str, (FailureKind, String)>,
    /// The value of a window.
    pub value: fn(&Window) -> f64,
}

impl ScenarioSamples<'_> {
    /// What an entry is compared by: its values by round, or the tail of each fork where latencies are pooled.
    pub fn compared(&self, implementation: &str, entry: Entry) -> Vec<(usize, f64)> {
        match self.pooled.get(&(implementation, entry)) {
            Some(pooled) => pooled.by_fork(TAIL),
            None => self.values(implementation, entry),
        }
    }

    /// An entry's number: the median of its values, or the tail of all rounds where latencies are pooled.
    pub fn number(&self, implementation: &str, entry: Entry) -> f64 {
        match self.pooled.get(&(implementation, entry)) {
            Some(pooled) => pooled.of_all(TAIL),
            None => {
                let values = self.values(implementation, entry).into_iter();
                median(&values.map(|(_, value)| value).collect::<Vec<_>>())
            }
        }
    }

    /// The two modes of an implementation's values, where they have two. Pooled latencies have none: their number is no
    /// middle of windows.
    pub fn modes(&self, implementation: &str) -> Option<[Mode; 2]> {
        let entry = Entry::Original;
        if self.pooled.contains_key(&(implementation, entry)) {
            return None;
        }
        let fork_of = |round: &usize| self.forks.iter().position(|fork| fork.contains(round));
        let values = self.values(implementation, entry).into_iter();
        let values = values.filter_map(|(round, value)| Some((fork_of(&round)?, value)));
        modes(&values.collect::<Vec<_>>())
    }

    /// Logarithms of what an entry is compared by, signed so that more is better.
    pub fn logs(&self, implementation: &str, entry: Entry) -> Vec<(usize, f64)> {
        self.logs_of(implementation, entry, |value| value)
    }

    /// The same of what `of` makes of each value.
    pub fn logs_of(
        &self,
        implementation: &str,
        entry: Entry,
        of: impl Fn(f64) -> f64,
    ) -> Vec<(usize, f64)> {
        let sign = match self.scenario.measure.better() {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
        };
        self.compared(implementation, entry)
            .into_iter()
            .map(|(round, value)| (round, sign * of(value).ln()))
            .collect()
    }

    /// How well the windows of the implementation itself kept their rate.
    pub fn pace(&self, implementation: &str) -> Pace {
        self.pace_of(implementation, Entry::Original)
    }

    /// How well the windows of an entry kept their rate.
    pub fn pace_of(&self, implementation: &str, entry: Entry) -> Pace {
        let windows = self.windows.get(&(implementation, entry));
        let windows = windows.into_iter().flat_map(BTreeMap::values);
        Pace::of(windows.map(|timed| timed.window))
    }

    /// Whether an implementation may have a number here.
    pub fn has_number(&self, implementation: &str) -> bool {
        !self.failures.contains_key(implementation) && self.pace(implementation).sustained()
    }

    /// Windows by round of each implementation itself that has a number, by name.
    pub fn with_number(&self) -> impl Iterator<Item = (&str, &BTreeMap<usize, Timed<'_>>)> {
        let all = self.windows.iter();
        all.filter(|((name, entry), _)| *entry == Entry::Original && self.has_number(name))
            .map(|((name, _), windows)| (*name, windows))
    }

    /// An entry's values by round.
    pub fn values(&self, implementation: &str, entry: Entry) -> Vec<(usize, f64)> {
        let windows = self.windows.get(&(implementation, entry));
        windows
            .into_iter()
            .flatten()
            .map(|(&round, timed)| (round, (self.value)(timed.window)))
            .collect()
    }
}

/// The record of an implementation, from any of the runs.
pub fn implementation<'a>(runs: &'a [RunData], name: &str) -> Option<&'a Implementation> {
    runs.iter().find_map(|run| run.implementations.get(name))
}

/// The origin of an implementation, from any of the runs.
pub fn origin(runs: &[RunData], name: &str) -> Origin {
    implementation(runs, name).map_or(Origin::Peer, |it| it.origin)
}

/// The end of the name of a group whose cells nothing was tuned by.
pub const HELD_OUT: &str = "-held-out";

/// The group beside which such a group is ranked; any other group itself.
fn tuned(group: &str) -> &str {
    group.strip_suffix(HELD_OUT).unwrap_or(group)
}

/// The scenarios of all runs in the order in which tables and charts show them.
///
/// # Errors
/// [`StatisticsError::Clash`] when two runs mean different things by one name.
pub fn scenarios(runs: &[RunData]) -> Result<Vec<&Scenario>, StatisticsError> {
    let mut seen: BTreeMap<&str, (&RunData, &Scenario)> = BTreeMap::new();
    for run in runs {
        for (name, scenario) in &run.scenarios {
            let (first, same) = seen.entry(name).or_insert((run, scenario));
            if (same.measure, &same.unit, &same.form, &same.params)
                != (
                    scenario.measure,
                    &scenario.unit,
                    &scenario.form,
                    &scenario.params,
                )
            {
                return Err(StatisticsError::Clash {
                    scenario: name.clone(),
                    one: first.folder.clone(),
                    other: run.folder.clone(),
                });
            }
        }
    }
    // Groups in the order in which the runs first name them; cells that are held out follow the tuned ones.
    let groups: Vec<&str> = runs
        .iter()
        .flat_map(|run| &run.groups)
        .map(|group| tuned(group))
        .collect();
    let mut scenarios: Vec<&Scenario> = seen.into_values().map(|(_, scenario)| scenario).collect();
    scenarios.sort_by_key(|s| {
        let a = &s.axes;
        let threads = (
            a.producers.unwrap_or(0) + a.consumers.unwrap_or(0),
            a.producers,
        );
        let capacity = (a.unbounded, a.capacity);
        let rest = (a.message_bytes, a.width, a.waiting, a.parallelism, a.rate);
        (
            groups.iter().position(|group| *group == tuned(&s.group)),
            tuned(&s.group).to_owned(),
            s.group.clone(),
            a.family.clone(),
            threads,
            capacity,
            rest,
            s.name.clone(),
        )
    });
    Ok(scenarios)
}

/// Windows and failures of one scenario in all runs. The engine knows which proofs a scenario relies
/// on: an implementation that failed one of them has a failure in the records.
pub fn samples<'a>(runs: &'a [RunData], scenario: &'a Scenario) -> ScenarioSamples<'a> {
    let name = scenario.name.as_str();
    let mut complete: BTreeSet<(usize, u32, u32)> = BTreeSet::new();
    for (index, run) in runs.iter().enumerate() {
        let rounds = run.rounds.iter().filter(|r| r.scenario == name);
        complete.extend(rounds.map(|r| (index, r.fork, r.round)));
    }
    let mut forks: Vec<Vec<usize>> = Vec::new();
    let mut index_of = BTreeMap::new();
    let mut last = None;
    for (i, &(run, fork, round)) in complete.iter().enumerate() {
        index_of.insert((run, fork, round), i);
        if last != Some((run, fork)) {
            forks.push(Vec::new());
            last = Some((run, fork));
        }
        forks.last_mut().expect("pushed above").push(i);
    }
    let mut samples = ScenarioSamples {
        scenario,
        forks,
        rounds: complete.len(),
        windows: BTreeMap::new(),
        pooled: BTreeMap::new(),
        failures: BTreeMap::new(),
        value: |window| window.value,
    };
    for (index, run) in runs.iter().enumerate() {
        for window in run.windows.iter().filter(|w| w.scenario == name) {
            if let Some(&round) = index_of.get(&(index, window.fork, window.round)) {
                let entry = (window.implementation.as_str(), Entry::of(window));
                let rounds = samples.windows.entry(entry).or_default();
                rounds.insert(round, Timed { run: index, window });
            }
        }
        // A failure of the second entry is one of the implementation: it is the same code.
        let failures = run
            .failures
            .iter()
            .filter(|f| f.scenario == name && f.slowed_percent.is_none() && f.build.is_none());
        for failure in failures {
            samples
                .failures
                .entry(&failure.implementation)
                .or_insert_with(|| (failure.kind, failure.message.clone()));
        }
    }
    samples
}
