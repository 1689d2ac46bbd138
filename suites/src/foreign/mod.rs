//! Implementations in other languages: a folder each, found beside the checkout, started as processes of their own.
//!
//! The manifest of a folder of `scripts/foreign` lists its implementations, the workloads of each, and the start command
//! ([`manifest`]). The started program uses the line protocol of `flowmeter_measure::protocol`, like our own
//! processes: the engine does not distinguish them. They prove themselves before each measurement, like every
//! process. Properties are models in Rust, so none is owed. All of them are optional: a language that is not
//! installed is skipped, with a sentence that says so.

mod asking;
pub mod manifest;
mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use flowmeter_harness::registry::Registered;

use crate::scenario::ScenarioSpec;
pub(crate) use asking::{Asking, excerpt};
pub(crate) use manifest::Language;
use manifest::{Manifest, ManifestError};
use runs::Runs;

/// Their folder, below a checkout.
pub const FOLDER: &str = "scripts/foreign";
/// Has the effect of `--foreign`, also for `cargo bench`.
pub const VARIABLE: &str = "FLOWMETER_FOREIGN";

/// Whether implementations in other languages take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Wanted {
    /// Those in languages that are installed
    #[default]
    Auto,
    /// None
    Off,
    /// All; a missing one is an error
    Require,
}

impl Wanted {
    /// The value with that name.
    pub fn named(word: &str) -> Option<Wanted> {
        match word {
            "auto" => Some(Wanted::Auto),
            "off" => Some(Wanted::Off),
            "require" => Some(Wanted::Require),
            _ => None,
        }
    }
}

/// Why implementations in other languages cannot take part as requested.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// A manifest is wrong.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// One of them has the name of an implementation of ours.
    #[error("{0} is the name of one in another language too; rename that one in its manifest")]
    Taken(&'static str),
    /// They are required, and one is missing.
    #[error("--foreign require: {0}")]
    Missing(String),
}

/// The implementations in other languages that are available.
#[derive(Clone, Debug, Default)]
pub struct Foreigners {
    all: Vec<Foreigner>,
    missing: Vec<String>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Foreigner {
    implementation: Registered,
    runs: Vec<Runs>,
    language: Language,
}

impl Foreigners {
    /// The implementations of the folders in `folder`, or in `scripts/foreign` of the checkout. Each language is asked in
    /// a process of its own whether it can be started.
    ///
    /// # Errors
    /// [`ForeignError`].
    pub fn find(wanted: Wanted, folder: Option<&Path>) -> Result<Foreigners, ForeignError> {
        let found = match (wanted, folder) {
            (Wanted::Off, _) => return Ok(Foreigners::default()),
            (_, Some(folder)) => Some(folder.to_owned()),
            (_, None) => of_checkout(),
        };
        let manifests = found
            .as_deref()
            .map_or(Ok(Vec::new()), manifest::read_all)?;
        if wanted == Wanted::Require && manifests.is_empty() {
            let what = found.map_or(FOLDER.to_owned(), |folder| folder.display().to_string());
            return Err(ForeignError::Missing(format!(
                "no implementation is in {what}; run this in a checkout, or name another folder"
            )));
        }
        let foreigners = asked(manifests)?;
        match foreigners.missing.first() {
            Some(why) if wanted == Wanted::Require => Err(ForeignError::Missing(why.clone())),
            _ => Ok(foreigners),
        }
    }

    /// The implementations, in the order of folders and manifests.
    pub fn implementations(&self) -> impl Iterator<Item = &Registered> {
        self.all.iter().map(|foreigner| &foreigner.implementation)
    }

    /// The skipped languages and the reasons, in a sentence each.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Whether one of that name is among them.
    pub fn has(&self, name: &str) -> bool {
        self.find_by(name).is_some()
    }

    /// The names of those scenarios that it can run.
    pub(crate) fn scenarios_of(&self, name: &str, scenarios: &[ScenarioSpec]) -> BTreeSet<String> {
        let runs = self.find_by(name).map(|it| it.runs.as_slice());
        let can = |scenario: &&ScenarioSpec| {
            let mut runs = runs.unwrap_or_default().iter();
            runs.any(|runs| runs.has(scenario))
        };
        let able = scenarios.iter().filter(can);
        able.map(|scenario| scenario.name.clone()).collect()
    }

    /// Scenarios among `wanted` with at most that many cells in other languages: the first of each group, then the
    /// second of each.
    pub(crate) fn affordable(
        &self,
        scenarios: &[ScenarioSpec],
        cells: usize,
        wanted: impl Fn(&ScenarioSpec, &str) -> bool,
    ) -> Vec<ScenarioSpec> {
        let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
        let mut able = Vec::new();
        for scenario in scenarios {
            let here = self.all.iter().filter(|foreigner| {
                wanted(scenario, foreigner.implementation.name)
                    && foreigner.runs.iter().any(|runs| runs.has(scenario))
            });
            let here = here.count();
            if here > 0 {
                let place = groups.entry(scenario.group()).or_default();
                able.push((*place, here, scenario));
                *place += 1;
            }
        }
        // Stable: those of one place keep their order of importance.
        able.sort_by_key(|(place, _, _)| *place);
        let mut left = cells;
        let fitting = able.into_iter().map_while(|(_, here, scenario)| {
            left = left.checked_sub(here)?;
            Some(scenario.clone())
        });
        fitting.collect()
    }

    /// The command that starts its process; `None` where it is not one of these.
    pub fn command(&self, name: &str) -> Option<Command> {
        self.find_by(name)
            .map(|foreigner| foreigner.language.command())
    }

    /// Each language once, with the names of its implementations.
    pub(crate) fn languages(&self) -> Vec<(&Language, Vec<&'static str>)> {
        let mut languages: Vec<(&Language, Vec<&'static str>)> = Vec::new();
        for Foreigner {
            implementation,
            language,
            ..
        } in &self.all
        {
            match languages.iter_mut().find(|(known, _)| *known == language) {
                Some((_, names)) => names.push(implementation.name),
                None => languages.push((language, vec![implementation.name])),
            }
        }
        languages
    }

    /// Keeps those for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.all
            .retain(|foreigner| keep(foreigner.implementation.name));
    }

    fn find_by(&self, name: &str) -> Option<&Foreigner> {
        self.all
            .iter()
            .find(|foreigner| foreigner.implementation.name == name)
    }
}

/// The folder of the checkout that contains the current folder.
fn of_checkout() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let mut above = here.ancestors().map(|folder| folder.join(FOLDER));
    above.find(|folder| folder.is_dir())
}

/// Asks each language for its version, all in parallel, so that one hanging language does not delay the others.
fn asked(manifests: Vec<Manifest>) -> Result<Foreigners, ForeignError> {
    let languages = manifests
        .into_iter()
        .flat_map(|manifest| manifest.languages);
    let asking: Vec<_> = languages
        .map(|(language, implementations)| {
            let command = language.version_command();
            let asking = thread::spawn(move || asking::version(command));
            (language, implementations, asking)
        })
        .collect();
    let mut foreigners = Foreigners::default();
    for (language, implementations, asking) in asking {
        match asking.join().expect("asking does not panic") {
            Err(why) => {
                let told = format!("{} is left out: {why}", language.name());
                foreigners.missing.push(told);
            }
            Ok(version) => {
                for stated in implementations {
                    if foreigners.has(stated.name) {
                        return Err(stated.entered_twice().into());
                    }
                    foreigners.all.push(stated.taking_part(&language, &version));
                }
            }
        }
    }
    Ok(foreigners)
}

#[cfg(test)]
mod tests;
