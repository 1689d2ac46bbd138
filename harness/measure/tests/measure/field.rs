//! Plans for the fakes, and assertions about the records of a run.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use flowmeter_harness::caps::Origin;
use flowmeter_measure::{Entry, Plan, PlannedScenario};
use flowmeter_records::{
    Axes, Failure, Implementation, Machine, Measure, Run, RunData, SCHEMA, Scenario, Window,
    read_run,
};
use tempfile::TempDir;

use crate::this_program_as;

/// The folder in which implementations share files, and the folder of the run.
pub struct Ground {
    folder: TempDir,
}

impl Ground {
    pub fn new() -> Ground {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        File::create(folder.path().join("alive")).expect("it can be written");
        Ground { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn run_folder(&self) -> PathBuf {
        self.path().join("run")
    }

    pub fn records(&self) -> PathBuf {
        self.run_folder().join("records.jsonl")
    }

    pub fn read(&self) -> RunData {
        read_run(&self.run_folder()).expect("a run can be read")
    }

    /// Complete lines of the record file.
    pub fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.records()).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter(|l| l.ends_with('\n'));
        whole.map(str::to_owned).collect()
    }
}

/// A plan of these scenarios, all with the same entries: 2 forks of 3 rounds.
pub fn plan(ground: &Path, scenarios: &[&str], entries: &[Entry]) -> Plan {
    let names: BTreeSet<&str> = entries.iter().map(|e| e.implementation.as_str()).collect();
    Plan {
        run: Run {
            schema: SCHEMA,
            started: "2026-11-20T11:39:00Z".to_owned(),
            command: "test".to_owned(),
            scenario_dir: None,
            foreign_dir: None,
            commit: "unknown".to_owned(),
            seed: 7,
            forks: 2,
            rounds: 3,
            window_nanos: 1_000,
            pinning: "free".to_owned(),
            budget_seconds: None,
            slowed_percent: None,
            against: None,
            without: Vec::new(),
            looks: 1,
            layouts: 1,
            exploratory: false,
            unoptimised: false,
            machine: Machine::default(),
        },
        ramp: Duration::from_nanos(10),
        prove_limit: Duration::from_secs(60),
        window_limit: Duration::from_secs(60),
        allocation_window: None,
        noise_watch: Duration::ZERO,
        strict: false,
        fork_limit: None,
        budget: None,
        implementations: names.into_iter().map(implementation).collect(),
        proofs: Vec::new(),
        uncontended: Vec::new(),
        planned_scenarios: scenarios
            .iter()
            .map(|name| PlannedScenario {
                scenario: scenario(name),
                spec: serde_json::json!({ "folder": ground }),
                entries: entries.to_vec(),
            })
            .collect(),
    }
}

fn implementation(name: &str) -> Implementation {
    Implementation {
        name: name.to_owned(),
        origin: Origin::Mutant,
        version: "0".to_owned(),
        caps: Vec::new(),
        kind: "channel".to_owned(),
        reference: false,
    }
}

fn scenario(name: &str) -> Scenario {
    Scenario {
        name: name.to_owned(),
        group: "channels".to_owned(),
        title: "nothing happens".to_owned(),
        why: "to test the engine".to_owned(),
        form: "blocking".to_owned(),
        measure: Measure::Throughput,
        unit: "messages/s".to_owned(),
        params: [].into(),
        axes: Axes::default(),
        spec: serde_json::Value::Null,
    }
}

/// Entries of these implementations.
pub fn entries(names: &[&str]) -> Vec<Entry> {
    names.iter().map(|name| Entry::new(*name)).collect()
}

/// The command for an entry.
pub fn spawn(_: &str, entry: &Entry, _: u32) -> Command {
    match entry.implementation.as_str() {
        "nowhere" => Command::new("/nowhere/to/be/found"),
        "rubbish" => this_program_as("rubbish"),
        "rubbish-in-window" => {
            let mut command = this_program_as("rubbish");
            command.arg("2");
            command
        }
        _ => this_program_as("contestant"),
    }
}

/// The window of an entry in a round, if there is exactly one.
pub fn only_window<'a>(
    data: &'a RunData,
    scenario: &str,
    entry: &Entry,
    round: u32,
) -> Option<&'a Window> {
    let mut found = data.windows.iter().filter(|w| {
        w.scenario == scenario
            && w.implementation == entry.implementation
            && w.placebo == entry.placebo
            && w.slowed_percent == entry.slowed_percent
            && w.build == entry.build
            && w.round == round
    });
    let window = found.next();
    assert!(
        found.next().is_none(),
        "{scenario}, {entry:?}, round {round}: measured twice"
    );
    window
}

/// Every entry has one window in every round of every scenario, and nothing else is there.
pub fn assert_whole(data: &RunData, plan: &Plan) {
    let mut windows = 0;
    for planned in &plan.planned_scenarios {
        let scenario = &planned.scenario.name;
        for round in 0..plan.total_rounds() {
            let mut forks = BTreeSet::new();
            for entry in &planned.entries {
                let window = only_window(data, scenario, entry, round);
                let window = window.unwrap_or_else(|| {
                    panic!("{scenario}, {entry:?}, round {round}: no window");
                });
                forks.insert(window.fork);
                windows += 1;
            }
            assert_eq!(forks.len(), 1, "{scenario}, round {round}: one fork");
            let rounds = data.rounds.iter();
            let noted = rounds.filter(|r| r.scenario == *scenario && r.round == round);
            assert_eq!(noted.count(), 1, "{scenario}, round {round}: noted once");
        }
    }
    assert_eq!(data.windows.len(), windows, "nothing else was measured");
    let end = data.end.as_ref().expect("the run came to its end");
    assert_eq!(end.windows, windows as u64);
    assert!(!data.torn);
}

/// The one failure of an implementation.
pub fn only_failure<'a>(data: &'a RunData, implementation: &str) -> &'a Failure {
    let of_it = |f: &&Failure| f.implementation == implementation;
    let found: Vec<_> = data.failures.iter().filter(of_it).collect();
    let [failure] = found[..] else {
        panic!("{implementation}: one row, not {found:?}");
    };
    failure
}
