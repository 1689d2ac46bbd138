//! A whole measuring run: the selected implementations are proved first, then timed by the engine.

use std::time::{Duration, SystemTime};

use flowmeter_harness::caps::{Kind, Origin};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::std::Std;
use flowmeter_measure::budget::Budget;
use flowmeter_measure::pin::{self, Pinning};
use flowmeter_measure::plan::{
    Entry, Plan, PlannedScenario, USUAL_ALLOCATION_WINDOW, USUAL_PROVE_LIMIT, USUAL_RAMP,
    USUAL_WINDOW_LIMIT,
};
use flowmeter_measure::{StageError, clock, machine};
use flowmeter_records::hash::fnv1a;
use flowmeter_records::{
    FailureKind, GivenUp, Implementation, Proof, Run, SCHEMA, Uncontended, Verdict,
};

use crate::descriptions::{Descriptions, Due, Owed};
use crate::foreign::Foreigners;
use crate::process::pinning_name;
use crate::properties::{PROPERTIES, Property, Reliance};
use crate::proving::{Effort, prove};
use crate::scenario::{Form, ScenarioSpec};
use crate::workloads::Needs;
use crate::worlds::Prover;

/// How a run is measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Rounds per fork.
    pub rounds: u32,
    /// Generations of child processes.
    pub forks: u32,
    /// Looks at what is measured: see [`Run::looks`].
    pub looks: u32,
    /// Length of a window.
    pub window: Duration,
    /// Fit everything into this time, if given.
    pub budget: Option<Duration>,
    /// Seed of every shuffle.
    pub seed: u64,
    /// How threads are pinned.
    pub pinning: Pinning,
    /// Adds to every scenario a copy of its placebo's implementation, slowed by this percentage.
    pub slowed_percent: Option<u32>,
    /// The program of another build, which times our implementations a second time.
    pub against: Option<String>,
    /// The promises that the other build gives up.
    pub without: Vec<GivenUp>,
    /// Layouts of the program that times. Forks take them in turn.
    pub layouts: u32,
    /// Refuse to measure on a machine that is not quiet.
    pub strict: bool,
    /// The command that repeats the run.
    pub command: String,
    /// The folder of scenarios on its command line.
    pub scenario_dir: Option<String>,
    /// The folder of foreign implementations on its command line.
    pub foreign_dir: Option<String>,
}

impl Settings {
    /// The default: enough to judge that one implementation is faster than another.
    pub const THOROUGH: (u32, u32, Duration) = (5, 6, Duration::from_millis(250));
    /// `--quick`: as many windows as five rounds of one fork have, so that differences between processes are seen.
    pub const QUICK: (u32, u32, Duration) = (5, 1, Duration::from_millis(100));

    /// Seconds of the engine in `cargo bench`: they leave room in ten minutes for criterion and the proofs.
    pub const BENCH_BUDGET: Duration = Duration::from_secs(400);

    /// With fewer generations of processes nothing is called faster: the variation between two of them is no measure of
    /// the variation of all.
    const FORKS_TO_COMPARE: u32 = 3;

    /// How `cargo bench` measures.
    #[must_use]
    pub fn of_bench(budget: Duration, command: String) -> Settings {
        let (forks, rounds, window) = Settings::QUICK;
        Settings {
            rounds,
            forks,
            looks: 1,
            window,
            budget: Some(budget),
            seed: 1,
            pinning: Pinning::Free,
            slowed_percent: None,
            against: None,
            without: Vec::new(),
            layouts: 1,
            strict: false,
            command,
            scenario_dir: None,
            foreign_dir: None,
        }
    }
}

/// The implementations and scenarios of a run.
#[derive(Debug)]
pub struct Selection {
    /// The implementations, with their answers about these scenarios.
    pub descriptions: Descriptions,
    /// Those among them that run as programs in other languages.
    pub foreign: Foreigners,
    /// Scenarios, the most important first.
    pub scenarios: Vec<ScenarioSpec>,
}

impl Selection {
    /// How threads are pinned in the scenario of that name. Where a system cannot pin, they are free.
    pub(crate) fn pinning(&self, asked: Pinning, scenario: &str) -> Pinning {
        if asked != Pinning::WherePossible {
            return asked;
        }
        let mut scenarios = self.scenarios.iter();
        let scenario = scenarios.find(|it| it.name == scenario);
        // Executors start their own threads, and beside other threads they would share cores.
        let is_free = scenario.is_none_or(|it| match it.work.needs() {
            Needs::Other(kind) => kind == Kind::Executor,
            Needs::Channel(needs) => needs.form == Form::Mixed && !needs.alts,
        });
        match is_free || pin::cores().is_none() {
            true => Pinning::Free,
            false => Pinning::CorePerThread,
        }
    }
}

/// Proves what the selected scenarios rely on: with real threads, and in the explored world if one is given. There,
/// published crates have twins, if these are built. `heard` gets each verdict as it arrives.
pub(crate) fn quick_proof(
    explored: Option<&dyn Prover>,
    selection: &Selection,
    mut heard: impl FnMut(usize, usize, &Proof),
) -> Vec<Proof> {
    let needed = |cell: &Owed| {
        let mut scenarios = selection.scenarios.iter();
        let is_claimed = !matches!(cell.due, Due::Unclaimed | Due::NotPromised);
        is_claimed && scenarios.any(|scenario| relies_on(scenario, cell.property))
    };
    let explored = explored.map(|prover| selection.descriptions.owed_in(prover));
    let explored = explored.into_iter().flatten();
    // A crate without a twin has no proof there, and no lack of one.
    let explored = explored.filter(|cell| matches!(cell.due, Due::Owed | Due::Unknown(_)));
    let cells = selection.descriptions.owed().chain(explored).filter(needed);
    let cells: Vec<Owed> = cells.collect();
    cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            let proof = prove(cell, Effort::quick(cell.world));
            heard(index + 1, cells.len(), &proof);
            proof
        })
        .collect()
}

fn relies_on(scenario: &ScenarioSpec, property: &Property) -> bool {
    let needs = match scenario.work.needs() {
        Needs::Other(kind) => {
            return property.kind() == kind && property.relied_on_by == Reliance::All;
        }
        Needs::Channel(needs) => needs,
    };
    let has_form = |form| needs.form == form || needs.form == Form::Mixed;
    property.kind() == Kind::Channel
        && match property.relied_on_by {
            Reliance::Nothing => false,
            Reliance::All => true,
            Reliance::Blocking => has_form(Form::Blocking),
            Reliance::Async => has_form(Form::Async),
            Reliance::Alts => needs.alts,
        }
}

/// Whether a scenario relies on the property of that name.
pub fn relied_on(scenario: &ScenarioSpec, property: &str) -> bool {
    let mut properties = PROPERTIES.iter();
    let property = properties.find(|known| known.name == property);
    property.is_some_and(|property| relies_on(scenario, property))
}

/// Why an implementation is not timed in a scenario. Either a property that the scenario relies on did not pass; a
/// failure takes precedence over an undecided one. Or no property that it relies on was checked. Implementations in
/// other languages prove themselves.
pub fn kept_out(
    proofs: &[Proof],
    implementation: &Registered,
    scenario: &ScenarioSpec,
) -> Option<StageError> {
    disproved(proofs, implementation, scenario).or_else(|| {
        let held = |proof: &Proof| proof.verdict == Verdict::Pass;
        let proved = relied_on_of(proofs, implementation, scenario).any(held);
        (!proved && implementation.origin != Origin::Foreign).then(|| StageError {
            kind: FailureKind::Unproved,
            message: "it claims none of the properties that the scenario relies on".to_owned(),
        })
    })
}

/// The property that a scenario relies on and that did not pass, if there is one.
pub fn disproved(
    proofs: &[Proof],
    implementation: &Registered,
    scenario: &ScenarioSpec,
) -> Option<StageError> {
    let told = relied_on_of(proofs, implementation, scenario);
    let mut told: Vec<StageError> = told
        .filter_map(|proof| no_number(proof, &named(proof)))
        .collect();
    told.sort_by_key(|why| why.kind != FailureKind::Proof);
    told.into_iter().next()
}

/// The property, and the world unless it is that of the windows.
fn named(proof: &Proof) -> String {
    match &*proof.world {
        Std::NAME => proof.property.clone(),
        world => format!("{} under {world}", proof.property),
    }
}

fn relied_on_of<'a>(
    proofs: &'a [Proof],
    implementation: &'a Registered,
    scenario: &'a ScenarioSpec,
) -> impl Iterator<Item = &'a Proof> {
    let its = proofs
        .iter()
        .filter(|proof| proof.implementation == implementation.name);
    its.filter(|proof| relied_on(scenario, &proof.property))
}

/// Why a cell that relies on this proof has no number; `what` names the property. `None` where the proof passed or
/// was not requested.
pub(crate) fn no_number(proof: &Proof, what: &str) -> Option<StageError> {
    let (kind, undecided) = match proof.verdict {
        Verdict::Pass | Verdict::NotInstrumentable => return None,
        Verdict::Unclaimed | Verdict::NotPromisedBroken | Verdict::NotPromisedUnbroken => {
            return None;
        }
        Verdict::Fail | Verdict::Error => (FailureKind::Proof, ""),
        Verdict::Hung => (FailureKind::Proof, "hung: "),
        Verdict::Inconclusive => (FailureKind::Unproved, "undecided: "),
    };
    let detail = proof.detail.as_deref().unwrap_or("did not pass");
    Some(StageError {
        kind,
        message: format!("{undecided}{what}: {detail}"),
    })
}

/// The engine's plan for a selection. `proofs` are those of what it relies on, `uncontended` what criterion timed.
pub fn plan(
    selection: &Selection,
    proofs: Vec<Proof>,
    uncontended: Vec<Uncontended>,
    settings: &Settings,
) -> Plan {
    // The base build follows the entry that it is compared with. It is not proved: it gives this build no number.
    let entries_of = |implementation: &Registered, scenario: &ScenarioSpec| {
        let entry = Entry {
            kept_out: kept_out(&proofs, implementation, scenario),
            ..Entry::new(implementation.name)
        };
        let is_paired = settings.against.is_some() && implementation.origin == Origin::Own;
        std::iter::once(entry).chain(is_paired.then(|| Entry::base(implementation.name)))
    };
    let planned_scenarios = selection
        .scenarios
        .iter()
        .filter_map(|scenario| {
            let descriptions = &selection.descriptions;
            let mut entries: Vec<Entry> = descriptions
                .iter()
                .filter(|implementation| descriptions.supports(implementation.name, scenario))
                .flat_map(|implementation| entries_of(implementation, scenario))
                .collect();
            let sound = entries.iter().filter(|entry| entry.build.is_none());
            let sound = sound.filter(|entry| entry.kept_out.is_none());
            let sound: Vec<&str> = sound.map(|entry| &*entry.implementation).collect();
            // The placebo is a process of ours. One in another language takes seconds to start and warm up, and cannot
            // be slowed.
            let of_ours = sound.iter().filter(|name| !selection.foreign.has(name));
            let name = twin(&scenario.name, of_ours.copied());
            if let Some(name) = name.or_else(|| twin(&scenario.name, sound.iter().copied())) {
                let is_ours = !selection.foreign.has(name);
                let name = name.to_owned();
                let percent = settings.slowed_percent;
                let percent = percent.filter(|_| is_ours && scenario.work.can_be_slowed());
                let slowed = percent.map(|percent| Entry {
                    slowed_percent: Some(percent),
                    ..Entry::new(name.clone())
                });
                entries.push(Entry::placebo(name));
                entries.extend(slowed);
            }
            let scenario = scenario.record();
            (!entries.is_empty()).then(|| PlannedScenario {
                spec: scenario.spec.clone(),
                scenario,
                entries,
            })
        })
        .collect();
    let (rounds, forks) = (settings.rounds, settings.forks);
    Plan {
        run: Run {
            schema: SCHEMA,
            started: clock::utc(SystemTime::now()),
            command: settings.command.clone(),
            scenario_dir: settings.scenario_dir.clone(),
            foreign_dir: settings.foreign_dir.clone(),
            commit: commit(),
            seed: settings.seed,
            forks,
            looks: settings.looks,
            rounds,
            window_nanos: settings.window.as_nanos() as u64,
            pinning: pinning_name(settings.pinning).to_owned(),
            budget_seconds: settings.budget.map(|total| total.as_secs()),
            slowed_percent: settings.slowed_percent,
            against: settings.against.clone(),
            without: settings.without.clone(),
            layouts: settings.layouts,
            exploratory: forks < Settings::FORKS_TO_COMPARE,
            unoptimised: UNOPTIMISED,
            machine: machine::describe(),
        },
        ramp: USUAL_RAMP,
        prove_limit: USUAL_PROVE_LIMIT,
        window_limit: USUAL_WINDOW_LIMIT,
        allocation_window: Some(USUAL_ALLOCATION_WINDOW),
        noise_watch: Duration::from_millis(500),
        strict: settings.strict,
        fork_limit: None,
        budget: settings.budget.map(|total| Budget {
            total,
            longest_window: settings.window,
        }),
        implementations: selection.descriptions.iter().map(implementation).collect(),
        proofs,
        uncontended,
        planned_scenarios,
    }
}

/// The engine's plan that compares two builds and nothing else: [`plan`] without placebos and without counting
/// allocations. No scenario gets much more time in a fork than its windows were asked for. With [`Settings::slowed_percent`], this build is slowed in the cells for which `is_slowed` returns true,
/// by scenario and implementation.
pub fn plan_of_pairs(
    selection: &Selection,
    proofs: Vec<Proof>,
    settings: &Settings,
    is_slowed: impl Fn(&str, &str) -> bool,
) -> Plan {
    let unslowed = Settings {
        slowed_percent: None,
        ..settings.clone()
    };
    let mut plan = plan(selection, proofs, Vec::new(), &unslowed);
    plan.run.slowed_percent = settings.slowed_percent;
    plan.allocation_window = None;
    plan.fork_limit = Some(settings.window * settings.rounds);
    for planned in &mut plan.planned_scenarios {
        let name = &planned.scenario.name;
        let scenario = selection.scenarios.iter().find(|it| it.name == *name);
        let can_be_slowed = scenario.is_some_and(|scenario| scenario.work.can_be_slowed());
        planned.entries.retain(|entry| !entry.placebo);
        let ours = planned.entries.iter_mut().filter(|it| it.build.is_none());
        for entry in ours.filter(|it| can_be_slowed && is_slowed(name, &it.implementation)) {
            entry.slowed_percent = settings.slowed_percent;
        }
    }
    plan
}

/// Whether this build is unoptimised. A profile with debug assertions would time those too.
pub const UNOPTIMISED: bool = cfg!(debug_assertions);

/// The implementation of a scenario that is entered twice: different scenarios get different ones, and each scenario
/// always gets the same one. Each implementation has a rank of its own in a scenario, and the highest is taken
/// (rendezvous hashing: Thaler and Ravishankar, 1998). So one that fails its proof changes only the scenarios that
/// had chosen it.
fn twin<'a>(scenario: &str, sound: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let rank = |name: &str| fnv1a(scenario.bytes().chain([0]).chain(name.bytes()));
    sound.max_by_key(|name| rank(name))
}

fn implementation(implementation: &Registered) -> Implementation {
    Implementation {
        name: implementation.name.to_owned(),
        origin: implementation.origin,
        version: implementation.version.clone(),
        caps: implementation.capabilities.names(),
        kind: implementation.kind.name().to_owned(),
        reference: implementation.reference,
    }
}

/// The commit of the checkout in which the command runs.
pub fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args(arguments)
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match git(&["rev-parse", "--short=12", "HEAD"]) {
        Some(commit) if git(&["status", "--porcelain"]).is_none_or(|dirty| !dirty.is_empty()) => {
            format!("{commit}-dirty")
        }
        Some(commit) => commit,
        None => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const NAMES: [&str; 8] = [
        "mutex",
        "condvar",
        "crossbeam-channel",
        "kanal",
        "flume",
        "tokio-mpsc",
        "std-mpsc",
        "async-channel",
    ];

    #[test]
    fn one_that_is_unsound_changes_the_placebo_of_its_own_scenarios_only() {
        for (scenario, _) in crate::scenario::BUILT_IN {
            let before = twin(scenario, NAMES.into_iter()).unwrap();
            for unsound in NAMES {
                let left = NAMES.into_iter().filter(|name| *name != unsound);
                let after = twin(scenario, left).unwrap();
                assert_eq!(after == before, unsound != before, "{scenario}: {unsound}");
            }
        }
        assert_eq!(twin("channels/spsc-64", std::iter::empty()), None);
    }

    #[test]
    fn every_implementation_is_entered_twice_somewhere() {
        let mut seen = BTreeMap::new();
        for n in 0..4_000 {
            let name = twin(&format!("channels/scenario-{n}"), NAMES.into_iter()).unwrap();
            *seen.entry(name).or_insert(0_u32) += 1;
        }
        // Expected 500 each; six standard deviations are 125.
        assert_eq!(seen.len(), NAMES.len());
        assert!(seen.values().all(|n| (375..=625).contains(n)), "{seen:?}");
    }
}
