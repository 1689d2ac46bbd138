//! `measure --resume`: the settings of a run, read back from its records, so that only its folder has to be named.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flowmeter_harness::registry::Registered;
use flowmeter_measure::MeasureError;
use flowmeter_records::{Proof, RecordError, RunData, read_run};
use serde::Deserialize;

use super::failure::Failure;
use crate::campaign::Settings;
use crate::process;
use crate::scenario::{ScenarioSpec, in_order};

/// A run that was cut off.
#[derive(Debug)]
pub(super) struct Begun {
    folder: PathBuf,
    data: RunData,
}

impl Begun {
    /// Reads it. Refuses a folder without a run, or with too few records to know its settings.
    pub(super) fn read(folder: &Path) -> Result<Begun, Failure> {
        let folder = folder.to_owned();
        let data = read_run(&folder).map_err(|why| match why {
            RecordError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
                let path = folder.clone();
                Failure::from(MeasureError::NothingToResume { path })
            }
            RecordError::Empty { path } => Failure::input(format!(
                "{}: cut off before its first record was whole; delete it and measure again",
                path.display()
            )),
            other => other.into(),
        })?;
        // The noise before the first window is written once all other records about the run are.
        let nothing_measured = data.windows.is_empty() && data.failures.is_empty();
        if data.noise.is_empty() && nothing_measured {
            return Err(Failure::input(format!(
                "{}: the run was cut off before anything was measured; delete the folder and measure again",
                folder.display()
            )));
        }
        Ok(Begun { folder, data })
    }

    /// Its settings. Strictness is given anew for each part; the engine subtracts the time of earlier parts from a
    /// budget.
    pub(super) fn settings(&self) -> Settings {
        let run = &self.data.run;
        Settings {
            rounds: run.rounds,
            forks: run.forks,
            looks: run.looks,
            window: Duration::from_nanos(run.window_nanos),
            budget: run.budget_seconds.map(Duration::from_secs),
            seed: run.seed,
            pinning: process::pinning(&run.pinning).unwrap_or_default(),
            slowed_percent: run.slowed_percent,
            against: run.against.clone(),
            without: run.without.clone(),
            layouts: run.layouts,
            strict: false,
            command: run.command.clone(),
            scenario_dir: run.scenario_dir.clone(),
            foreign_dir: run.foreign_dir.clone(),
        }
    }

    /// Its implementations, in the order of `all`.
    pub(super) fn implementations(&self, all: &[Registered]) -> Result<Vec<Registered>, Failure> {
        let mut recorded = self.data.implementations.keys();
        if let Some(gone) = recorded.find(|name| all.iter().all(|it| it.name != **name)) {
            return Err(Failure::input(format!(
                "{}: {gone} takes part in it and is not in this build; resume with the build that began it",
                self.folder.display()
            )));
        }
        let took_part = |implementation: &&Registered| {
            self.data.implementations.contains_key(implementation.name)
        };
        Ok(all.iter().filter(took_part).cloned().collect())
    }

    /// Its scenarios, in the order in which they are run.
    pub(super) fn scenarios(&self) -> Result<Vec<ScenarioSpec>, Failure> {
        let recorded = self.data.scenarios.values();
        let specs: Result<Vec<_>, _> = recorded
            .map(|scenario| {
                ScenarioSpec::deserialize(&scenario.spec).map_err(|why| {
                    Failure::input(format!(
                        "{}: this build cannot run its scenario {} ({why}); resume with the build that began it",
                        self.folder.display(),
                        scenario.name
                    ))
                })
            })
            .collect();
        Ok(in_order(specs?)?)
    }

    /// The proofs before its first window. Repeating them might give other answers, and existing rows rely on these.
    pub(super) fn proofs(&self) -> Vec<Proof> {
        self.data.proofs.clone()
    }
}
