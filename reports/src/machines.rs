//! Runs by machine: the results of several machines are shown side by side and never combined.
//!
//! On one machine the forks of one build are one sample, however many runs they come from. Those of an earlier build
//! are history. A build with uncommitted changes is a build of its own. If a run is named twice, or copies of it had
//! verdicts added separately, it is one run with everything that was added.

use flowmeter_records::{Machine as Description, RunData};

use crate::error::ReportError;
use crate::statistics::{Diff, Estimates, StatisticsError, diff, estimates_of};

/// Changes of less than this share are not reported, as in `diff` by default.
const RELEVANT: f64 = 0.05;

/// A machine, and what was measured there.
#[derive(Debug)]
pub struct Machine {
    name: String,
    /// All runs, in the order in which they were started.
    runs: Vec<RunData>,
    /// Where the runs of the latest build begin.
    latest: usize,
    /// The estimates of the latest build.
    estimates: Estimates,
}

/// A run and the next one.
#[derive(Debug)]
pub(crate) struct Step {
    /// The index of the earlier run.
    pub base: usize,
    /// What changed, or why that cannot be said.
    pub diff: Result<Diff, String>,
}

impl Machine {
    /// Runs of the latest build.
    pub fn latest(&self) -> &[RunData] {
        &self.runs[self.latest..]
    }

    /// All its runs, the first one first.
    pub fn runs(&self) -> &[RunData] {
        &self.runs
    }

    /// The estimates of the latest build.
    pub fn estimates(&self) -> &Estimates {
        &self.estimates
    }

    /// From each run to the next.
    pub(crate) fn steps(&self) -> Result<Vec<Step>, ReportError> {
        let pairs = self.runs.windows(2).enumerate();
        let steps = pairs.map(|(base, pair)| {
            let pair = <&[RunData; 2]>::try_from(pair).expect("windows of two");
            let diff = match diff(pair, RELEVANT) {
                Ok(diff) => Ok(diff),
                // Scenarios have changed their meaning; neither run is wrong.
                Err(why @ StatisticsError::Clash { .. }) => Err(why.to_string()),
                Err(other) => return Err(other.into()),
            };
            Ok(Step { base, diff })
        });
        steps.collect()
    }

    /// In words, such as `AMD EPYC, 2 cores`; with its hypervisor and governor if another machine has the same name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn of(mut runs: Vec<RunData>) -> Result<Machine, ReportError> {
        runs.sort_by(|a, b| a.run.started.cmp(&b.run.started));
        let latest = runs.len() - last_build(&runs);
        let estimates = estimates_of(&runs[latest..])?;
        Ok(Machine {
            name: name(&runs[0].run.machine),
            runs,
            latest,
            estimates,
        })
    }
}

/// How many of the last runs are of one build.
fn last_build(runs: &[RunData]) -> usize {
    let build = |run: &RunData| (run.run.commit.clone(), run.run.unoptimised);
    let last = runs.last().map(build).unwrap_or_default();
    if last.0 == "unknown" || last.0.ends_with("-dirty") {
        return 1;
    }
    let same = runs.iter().rev();
    same.take_while(|run| build(run) == last).count()
}

fn name(machine: &Description) -> String {
    let s = if machine.cores == 1 { "" } else { "s" };
    format!("{}, {} core{s}", machine.cpu, machine.cores)
}

/// What distinguishes machines. Two with the same description are one.
fn identity(run: &RunData) -> (&str, usize, &str, &str) {
    let machine = &run.run.machine;
    (
        &machine.cpu,
        machine.cores,
        &machine.hypervisor,
        &machine.governor,
    )
}

/// Groups runs by machine, in the order in which machines are first named, and computes each machine's estimates.
///
/// # Errors
/// [`StatisticsError::NoRuns`] for no runs; as [`estimates_of`] else.
pub fn machines(runs: Vec<RunData>) -> Result<Vec<Machine>, ReportError> {
    let mut by_machine: Vec<Vec<RunData>> = Vec::new();
    for run in runs {
        let same = by_machine
            .iter_mut()
            .find(|of| identity(&of[0]) == identity(&run));
        let Some(of) = same else {
            by_machine.push(vec![run]);
            continue;
        };
        match of.iter_mut().find(|known| known.run == run.run) {
            Some(known) => merge(known, run),
            None => of.push(run),
        }
    }
    if by_machine.is_empty() {
        return Err(StatisticsError::NoRuns.into());
    }
    let machines = by_machine.into_iter().map(Machine::of);
    let mut machines = machines.collect::<Result<Vec<Machine>, ReportError>>()?;
    let names: Vec<String> = machines.iter().map(|it| it.name.clone()).collect();
    for machine in &mut machines {
        if names.iter().filter(|name| **name == machine.name).count() > 1 {
            let (_, _, hypervisor, governor) = identity(&machine.runs[0]);
            let told = format!(" (hypervisor {hypervisor}, governor {governor})");
            machine.name.push_str(&told);
        }
    }
    Ok(machines)
}

/// Adds what a copy of a run has in addition.
fn merge(run: &mut RunData, mut copy: RunData) {
    // Keep the one with more windows: a copy may be from before the run's end.
    if copy.windows.len() > run.windows.len() {
        std::mem::swap(run, &mut copy);
    }
    add(&mut run.proofs, copy.proofs);
    add(&mut run.failures, copy.failures);
    add(&mut run.seed_claims, copy.seed_claims);
    add(&mut run.attacks, copy.attacks);
}

fn add<T: PartialEq>(known: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !known.contains(&one) {
            known.push(one);
        }
    }
}
