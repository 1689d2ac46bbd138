//! A whole measuring run: who runs what, proved first, then timed by the engine.

use std::time::{Duration, SystemTime};

use flowmeter_harness::measure::budget::Budget;
use flowmeter_harness::measure::pin::Pinning;
use flowmeter_harness::measure::plan::{
    Contest as PlannedContest, Entry, Plan, USUAL_PROVE_LIMIT, USUAL_RAMP, USUAL_WINDOW_LIMIT,
};
use flowmeter_harness::measure::{clock, machine};
use flowmeter_harness::record::{Implementation, Proof, Run, SCHEMA, Verdict};
use flowmeter_harness::registry::Contestant;

use crate::process::pinning_name;
use crate::properties::{PROPERTIES, Property};
use crate::proving::{Effort, prove};
use crate::roster::{Owed, Roster};
use crate::scenario::ScenarioSpec;

/// How a run is measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Rounds per fork.
    pub rounds: u32,
    /// Generations of child processes.
    pub forks: u32,
    /// Length of a window.
    pub window: Duration,
    /// Fit everything into this time instead.
    pub budget: Option<Duration>,
    /// Seed of every shuffle.
    pub seed: u64,
    /// Where threads may run.
    pub pinning: Pinning,
    /// Adds to every scenario a copy of its placebo's implementation, slowed by so many percent.
    pub slowed_percent: Option<u32>,
    /// Refuse to measure on a machine that is not quiet.
    pub strict: bool,
    /// The command that repeats the run.
    pub command: String,
}

impl Settings {
    /// The default: enough to call one faster than another.
    pub const THOROUGH: (u32, u32, Duration) = (5, 6, Duration::from_millis(250));
    /// `--quick`: exploratory.
    pub const QUICK: (u32, u32, Duration) = (1, 5, Duration::from_millis(100));

    /// With fewer generations of processes nothing is called faster: one process's layout of memory may
    /// decide it.
    const FORKS_TO_COMPARE: u32 = 5;
    /// With fewer rounds in all nothing is called faster.
    const ROUNDS_TO_COMPARE: u32 = 10;
}

/// Who runs which scenarios.
#[derive(Debug)]
pub struct Selection {
    /// Who, asked about these scenarios.
    pub roster: Roster,
    /// Scenarios, the most important first.
    pub scenarios: Vec<ScenarioSpec>,
}

/// Proves what the selected scenarios rely on, telling `heard` of each verdict as it comes.
pub fn quick_proof(
    selection: &Selection,
    mut heard: impl FnMut(usize, usize, &Proof),
) -> Vec<Proof> {
    let needed = |cell: &Owed| {
        let mut scenarios = selection.scenarios.iter();
        cell.claim != Ok(false) && scenarios.any(|scenario| relies_on(scenario, cell.property))
    };
    let cells: Vec<Owed> = selection.roster.owed().filter(needed).collect();
    cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            let proof = prove(cell, Effort::QUICK);
            heard(index + 1, cells.len(), &proof);
            proof
        })
        .collect()
}

fn relies_on(scenario: &ScenarioSpec, property: &Property) -> bool {
    property.relied_on_by.concerns(&scenario.work.needs())
}

/// What keeps an implementation from being timed in a scenario: the first property that the scenario relies
/// on and that did not pass.
pub fn disproved(proofs: &[Proof], who: &str, scenario: &ScenarioSpec) -> Option<String> {
    let concerns = |proof: &&Proof| {
        let property = PROPERTIES
            .iter()
            .find(|property| property.name == proof.property);
        proof.implementation == who && property.is_some_and(|p| relies_on(scenario, p))
    };
    let mut failed = proofs.iter().filter(|proof| proof.verdict != Verdict::Pass);
    failed.find(concerns).map(|proof| {
        format!(
            "{}: {}",
            proof.property,
            proof.detail.as_deref().unwrap_or("did not pass")
        )
    })
}

/// The engine's plan for a selection; `proofs` is what [`quick_proof`] gave.
pub fn plan(selection: &Selection, proofs: Vec<Proof>, settings: &Settings) -> Plan {
    let entry = |who: &str, scenario: &ScenarioSpec| Entry {
        disproved: disproved(&proofs, who, scenario),
        ..Entry::new(who)
    };
    let contests = selection
        .scenarios
        .iter()
        .filter_map(|scenario| {
            let roster = &selection.roster;
            let mut entries: Vec<Entry> = roster
                .contestants()
                .filter(|who| roster.supports(who.name, scenario))
                .map(|who| entry(who.name, scenario))
                .collect();
            let sound: Vec<&Entry> = entries.iter().filter(|e| e.disproved.is_none()).collect();
            if let Some(twin) = sound.get(twin_index(&scenario.name, sound.len())) {
                let name = twin.implementation.clone();
                let slowed = settings.slowed_percent.map(|percent| Entry {
                    slowed_percent: Some(percent),
                    ..Entry::new(name.clone())
                });
                entries.push(Entry::placebo(name));
                entries.extend(slowed);
            }
            let scenario = scenario.record();
            (!entries.is_empty()).then(|| PlannedContest {
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
            commit: commit(),
            seed: settings.seed,
            forks,
            rounds,
            window_nanos: settings.window.as_nanos() as u64,
            pinning: pinning_name(settings.pinning).to_owned(),
            budget_seconds: settings.budget.map(|total| total.as_secs()),
            slowed_percent: settings.slowed_percent,
            exploratory: forks < Settings::FORKS_TO_COMPARE
                || rounds.saturating_mul(forks) < Settings::ROUNDS_TO_COMPARE,
            machine: machine::describe(),
        },
        ramp: USUAL_RAMP,
        prove_limit: USUAL_PROVE_LIMIT,
        window_limit: USUAL_WINDOW_LIMIT,
        noise_watch: Duration::from_millis(500),
        strict: settings.strict,
        budget: settings.budget.map(|total| Budget {
            total,
            longest_window: settings.window,
        }),
        implementations: selection.roster.contestants().map(implementation).collect(),
        proofs,
        contests,
    }
}

/// Which of a scenario's implementations is entered twice: another one for each scenario, always the same
/// for the same.
fn twin_index(scenario: &str, implementations: usize) -> usize {
    // FNV-1a: spreads similar names, and is the same in every build.
    let hash = scenario
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    (hash % implementations.max(1) as u64) as usize
}

fn implementation(who: &Contestant) -> Implementation {
    Implementation {
        name: who.name.to_owned(),
        origin: who.origin,
        version: who.version.clone(),
        caps: who.capabilities.names(),
    }
}

/// The commit of the checkout that the command is run in.
fn commit() -> String {
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
