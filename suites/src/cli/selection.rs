//! `-i`, `-s`, `-p`: the same selection in every verb.

use std::path::{Path, PathBuf};

use clap::Args;
use flowmeter_harness::registry::Registered;
use flowmeter_records::RunData;
use regex::Regex;

use super::failure::Failure;
use crate::scenario::{ScenarioSpec, built_in, from_folder, in_order};

/// A selection of implementations.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Implementations {
    /// Only implementations with a name that matches this regular expression
    #[arg(
        id = "implementation",
        short = 'i',
        long = "implementations",
        value_name = "REGEX"
    )]
    pattern: Option<Regex>,
}

/// A selection among the scenarios of a run.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ScenarioNames {
    /// Only scenarios with a name that matches this regular expression
    #[arg(id = "scenario", short = 's', long = "scenarios", value_name = "REGEX")]
    pattern: Option<Regex>,
}

/// A selection among the existing scenarios.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Scenarios {
    #[command(flatten)]
    names: ScenarioNames,

    /// Also read scenarios (*.toml) from this folder
    #[arg(long, value_name = "DIR")]
    scenario_dir: Option<PathBuf>,
}

/// A selection of properties.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Properties {
    /// Only properties with a name that matches this regular expression
    #[arg(
        id = "property",
        short = 'p',
        long = "properties",
        value_name = "REGEX"
    )]
    pattern: Option<Regex>,
}

fn matches(pattern: &Option<Regex>, name: &str) -> bool {
    pattern
        .as_ref()
        .is_none_or(|pattern| pattern.is_match(name))
}

/// Refuses a pattern that matches none of these names; without a pattern nothing is refused.
fn find_in<'a>(
    what: &str,
    pattern: &Option<Regex>,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), Failure> {
    match pattern {
        Some(pattern) if !names.into_iter().any(|name| pattern.is_match(name)) => {
            Err(Failure::input(format!(
                "no {what} matches '{pattern}'; `cargo flowmeter list` shows them all"
            )))
        }
        _ => Ok(()),
    }
}

impl Implementations {
    pub(super) fn matches(&self, name: &str) -> bool {
        matches(&self.pattern, name)
    }

    pub(super) fn is_given(&self) -> bool {
        self.pattern.is_some()
    }

    /// Refuses a pattern that matches none of these names.
    pub(super) fn find_in<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Failure> {
        find_in("implementation", &self.pattern, names)
    }

    /// Those of `all` that match.
    pub(super) fn of(&self, all: &[Registered]) -> Result<Vec<Registered>, Failure> {
        let chosen: Vec<_> = all
            .iter()
            .filter(|implementation| self.matches(implementation.name))
            .cloned()
            .collect();
        self.find_in(chosen.iter().map(|it| it.name))?;
        Ok(chosen)
    }
}

/// One of several equal parts of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// Its index, from 0.
    index: usize,
    of: usize,
}

impl Shard {
    /// All of it.
    pub(super) const WHOLE: Shard = Shard { index: 0, of: 1 };

    /// From `k/n`: the k-th of n.
    pub(super) fn parse(text: &str) -> Result<Shard, Failure> {
        let parts = text.split_once('/');
        let parsed = parts.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match parsed {
            Some((k, of)) if (1..=of).contains(&k) => Ok(Shard { index: k - 1, of }),
            _ => Err(Failure::input(format!(
                "--shard {text}: give k/n, with k from 1 to n, such as 1/3"
            ))),
        }
    }

    /// Its part: every n-th, so that each item is in one part and the parts are alike.
    pub(super) fn of<T>(self, all: Vec<T>) -> Vec<T> {
        let part = all.into_iter().skip(self.index);
        part.step_by(self.of).collect()
    }
}

impl ScenarioNames {
    fn is_given(&self) -> bool {
        self.pattern.is_some()
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        matches(&self.pattern, name)
    }

    /// Refuses a pattern that matches none of these names.
    pub(super) fn find_in<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Failure> {
        find_in("scenario", &self.pattern, names)
    }
}

impl Scenarios {
    pub(super) fn is_given(&self) -> bool {
        self.are_named() || self.scenario_dir.is_some()
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        self.scenario_dir.as_deref()
    }

    /// Whether there is a pattern.
    pub(super) fn are_named(&self) -> bool {
        self.names.is_given()
    }

    /// Those that match, curated or not, the most important first.
    pub(super) fn all(&self) -> Result<Vec<ScenarioSpec>, Failure> {
        self.with(built_in())
    }

    /// Those that match, the most important first. Without a pattern: the curated ones, and those of the given
    /// folder.
    pub(super) fn of(&self) -> Result<Vec<ScenarioSpec>, Failure> {
        let mut built_in = built_in();
        if self.names.pattern.is_none() {
            built_in.retain(|scenario| scenario.priority.is_some());
        }
        self.with(built_in)
    }

    fn with(&self, mut all: Vec<ScenarioSpec>) -> Result<Vec<ScenarioSpec>, Failure> {
        if let Some(folder) = &self.scenario_dir {
            all.extend(from_folder(folder)?);
            all = in_order(all)?;
        }
        all.retain(|scenario| self.names.matches(&scenario.name));
        self.names
            .find_in(all.iter().map(|scenario| scenario.name.as_str()))?;
        Ok(all)
    }
}

impl Properties {
    pub(super) fn matches(&self, name: &str) -> bool {
        matches(&self.pattern, name)
    }

    pub(super) fn is_given(&self) -> bool {
        self.pattern.is_some()
    }

    /// Refuses a pattern that matches none of these names.
    pub(super) fn find_in<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Failure> {
        find_in("property", &self.pattern, names)
    }
}

/// The folder of runs when none is named.
pub(super) const RUNS: &str = "runs";

/// Reads the named runs, or the latest below `runs/`.
pub(super) fn runs(folders: &[PathBuf]) -> Result<Vec<RunData>, Failure> {
    let read = |folder: &Path| Ok(flowmeter_records::read_run(folder)?);
    if !folders.is_empty() {
        return folders.iter().map(|folder| read(folder)).collect();
    }
    match latest_run() {
        Some(folder) => Ok(vec![read(&folder)?]),
        None => Err(Failure::input(format!(
            "no run in {RUNS}/; measure first (`cargo bench` or `cargo flowmeter measure`), or name a run's folder"
        ))),
    }
}

/// Reads every run below `runs/`. Unreadable ones were not named explicitly, so they are reported and skipped.
pub(super) fn all_runs() -> Result<Vec<RunData>, Failure> {
    let entries = std::fs::read_dir(RUNS).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path());
    let is_run = |folder: &PathBuf| folder.join(flowmeter_records::RECORDS_FILE).is_file();
    let mut folders: Vec<PathBuf> = folders.filter(is_run).collect();
    folders.sort_unstable();
    let mut read = Vec::new();
    let mut refused = Vec::new();
    for folder in folders {
        match flowmeter_records::read_run(&folder) {
            Ok(run) => read.push(run),
            Err(why) => refused.push(Failure::from(why)),
        }
    }
    match (read.is_empty(), refused.pop()) {
        // The same message as for the latest run.
        (true, None) => runs(&[]),
        (true, Some(why)) => Err(why),
        (false, last) => {
            refused.iter().chain(&last).for_each(Failure::warn);
            Ok(read)
        }
    }
}

/// The folder below `runs/` with the most recently written records.
pub(super) fn latest_run() -> Option<PathBuf> {
    let written = |folder: &Path| {
        folder
            .join(flowmeter_records::RECORDS_FILE)
            .metadata()
            .ok()?
            .modified()
            .ok()
    };
    let folders = std::fs::read_dir(RUNS)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()));
    folders
        .filter_map(|folder| Some((written(&folder)?, folder)))
        .max()
        .map(|(_, folder)| folder)
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn everything_is_in_exactly_one_shard() {
        for (count, of) in [(0, 3), (1, 1), (2, 5), (100, 7)] {
            let all: Vec<usize> = (0..count).collect();
            let shards =
                (1..=of).map(|k| Shard::parse(&format!("{k}/{of}")).unwrap().of(all.clone()));
            let shards: Vec<Vec<usize>> = shards.collect();
            let sizes = shards.iter().map(Vec::len);
            assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
            let mut dealt = shards.concat();
            dealt.sort_unstable();
            assert_eq!(dealt, all, "{of} shards");
        }
        assert_eq!(Shard::WHOLE.of(vec![1, 2]), [1, 2]);
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for text in [
            "", "x", "1", "0/3", "4/3", "0/0", "1/0", "-1/3", "1/3/5", "a/b",
        ] {
            assert!(Shard::parse(text).is_err(), "{text}");
        }
    }
}
