//! The file of records during a run: created once, appended to line by line, and cut back when the run is resumed.
//!
//! Invariants: a record is one line, written by one call, so a kill tears at most the last line. A new run never
//! overwrites existing records. Two processes never append to one file.
//!
//! Resuming drops a torn last line and the windows of incomplete rounds, and keeps every other line. A failure is kept
//! even if its round was not finished: it was observed, and its entry stays excluded. The shortened file replaces the
//! old one atomically, so a kill during the replacement loses nothing either.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::error::MeasureError;
use super::plan::{EntryKey, Plan, PlannedScenario};
use flowmeter_records::{Build, Failure, RECORDS_FILE, Record, RecordError, RunData, read_run};

/// Where a run stands in one scenario, at first where an earlier part of it stopped.
#[derive(Clone, Debug, Default)]
pub(super) struct Standpoint {
    /// Complete rounds.
    pub rounds: u32,
    /// The first fork number that has not been used.
    pub next_fork: u32,
    /// The entries that take no further part: they have failed or are settled.
    pub excluded: HashSet<EntryKey>,
    /// Implementations with counted allocations.
    pub counted: HashSet<String>,
}

/// Where an earlier part of a run stopped.
#[derive(Clone, Debug, Default)]
pub(super) struct Standpoints {
    pub scenarios: HashMap<String, Standpoint>,
    /// Windows of complete rounds.
    pub windows: u64,
    /// Their total duration, nanoseconds.
    pub window_nanos: u64,
    pub failures: u64,
}

/// The result of looking for a run to resume.
pub(super) enum Found {
    /// The run is complete.
    Complete,
    /// The run continues from there.
    Unfinished(Book, Standpoints),
}

#[derive(Debug)]
pub(super) struct Book {
    path: PathBuf,
    file: File,
    /// The file that this one replaced. Its lock keeps out processes that opened it before the replacement.
    _replaced: Option<File>,
}

impl Book {
    /// Begins a run in a folder that holds none.
    pub(super) fn create(folder: &Path, plan: &Plan) -> Result<Book, MeasureError> {
        let trouble = |source| MeasureError::Folder {
            path: folder.to_owned(),
            source,
        };
        fs::create_dir_all(folder).map_err(trouble)?;
        let path = folder.join(RECORDS_FILE);
        let file = match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(MeasureError::Exists {
                    path: folder.to_owned(),
                });
            }
            Err(error) => return Err(trouble(error)),
        };
        lock(&file, folder)?;
        let mut book = Book {
            path,
            file,
            _replaced: None,
        };
        book.write(&header(plan))?;
        Ok(book)
    }

    /// Continues the run in a folder, or says that it is complete.
    pub(super) fn resume(folder: &Path, plan: &Plan) -> Result<Found, MeasureError> {
        let path = folder.join(RECORDS_FILE);
        let file = match OpenOptions::new().append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(MeasureError::NothingToResume {
                    path: folder.to_owned(),
                });
            }
            Err(source) => return Err(MeasureError::Folder { path, source }),
        };
        lock(&file, folder)?;
        let data = match read_run(&path) {
            Ok(data) => data,
            // The run was killed before its first line was complete.
            Err(RecordError::Empty { .. }) => {
                let book = Book::replace(path, file, &header(plan))?;
                return Ok(Found::Unfinished(book, Standpoints::default()));
            }
            Err(error) => return Err(error.into()),
        };
        if data.rounds.is_empty() && data.windows.is_empty() && data.failures.is_empty() {
            // The run was killed before anything was measured, perhaps amid the header.
            same_run(folder, &data, plan)?;
            let book = Book::replace(path, file, &header(plan))?;
            return Ok(Found::Unfinished(book, Standpoints::default()));
        }
        same_run(folder, &data, plan)?;
        same_field(folder, &data, plan)?;
        if data.end.is_some() {
            return Ok(Found::Complete);
        }
        let standpoints = standpoints(&data);
        let bytes = fs::read(&path).map_err(|source| MeasureError::Folder {
            path: path.clone(),
            source,
        })?;
        let kept = without_unfinished(&bytes, &data);
        let book = if kept == bytes {
            Book {
                path,
                file,
                _replaced: None,
            }
        } else {
            Book::replace(path, file, &kept)?
        };
        Ok(Found::Unfinished(book, standpoints))
    }

    /// Replaces the file by `content` atomically.
    fn replace(path: PathBuf, old: File, content: &[u8]) -> Result<Book, MeasureError> {
        let fresh = path.with_extension("jsonl.resuming");
        let trouble = |source| MeasureError::Folder {
            path: fresh.clone(),
            source,
        };
        // A replacement left behind by a kill is overwritten: the old file is still complete.
        let mut file = File::create(&fresh).map_err(trouble)?;
        lock(&file, &path)?;
        file.write_all(content).map_err(trouble)?;
        file.sync_all().map_err(trouble)?;
        fs::rename(&fresh, &path).map_err(trouble)?;
        Ok(Book {
            path,
            file,
            _replaced: Some(old),
        })
    }

    /// Appends one record.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), MeasureError> {
        self.write(&line(record))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), MeasureError> {
        self.file
            .write_all(bytes)
            .map_err(|source| MeasureError::Folder {
                path: self.path.clone(),
                source,
            })
    }
}

fn lock(file: &File, path: &Path) -> Result<(), MeasureError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(MeasureError::Busy {
            path: path.to_owned(),
        }),
        // Some file systems have no locks; then the file is not locked.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn line(record: &Record) -> Vec<u8> {
    let mut line = serde_json::to_vec(record).expect("a record is JSON");
    line.push(b'\n');
    line
}

/// The records that are known before the first window.
fn header(plan: &Plan) -> Vec<u8> {
    let run = Record::Run(Box::new(plan.run.clone()));
    let implementations = plan.implementations.iter().cloned();
    let scenarios = plan.planned_scenarios.iter().map(|c| c.scenario.clone());
    let proofs = plan.proofs.iter().cloned();
    let uncontended = plan.uncontended.iter().cloned();
    std::iter::once(run)
        .chain(implementations.map(Record::Implementation))
        .chain(scenarios.map(Record::Scenario))
        .chain(proofs.map(Record::Proof))
        .chain(uncontended.map(Record::Uncontended))
        .flat_map(|record| line(&record))
        .collect()
}

/// Refuses a plan if its records would not belong to the same run.
fn same_run(folder: &Path, data: &RunData, plan: &Plan) -> Result<(), MeasureError> {
    let (recorded, planned) = (&data.run, &plan.run);
    let machine =
        |run: &flowmeter_records::Run| format!("{} ({})", run.machine.cpu, run.machine.cores);
    let pairs = [
        ("seed", recorded.seed.to_string(), planned.seed.to_string()),
        (
            "forks",
            recorded.forks.to_string(),
            planned.forks.to_string(),
        ),
        (
            "rounds",
            recorded.rounds.to_string(),
            planned.rounds.to_string(),
        ),
        (
            "layouts",
            recorded.layouts.to_string(),
            planned.layouts.to_string(),
        ),
        ("pinning", recorded.pinning.clone(), planned.pinning.clone()),
        ("the build", recorded.commit.clone(), planned.commit.clone()),
        ("the machine", machine(recorded), machine(planned)),
    ];
    differing(folder, pairs)?;
    if plan.budget.is_none() {
        let window = |nanos: u64| format!("of {nanos} ns");
        let pair = (
            "windows",
            window(recorded.window_nanos),
            window(planned.window_nanos),
        );
        differing(folder, [pair])?;
    }
    Ok(())
}

/// Refuses a plan with other scenarios or other implementations.
fn same_field(folder: &Path, data: &RunData, plan: &Plan) -> Result<(), MeasureError> {
    let mut planned: Vec<&str> = plan
        .planned_scenarios
        .iter()
        .map(|c| c.scenario.name.as_str())
        .collect();
    planned.sort_unstable();
    let recorded: Vec<&str> = data.scenarios.keys().map(String::as_str).collect();
    let scenarios = ("the scenarios", recorded.join(", "), planned.join(", "));
    let mut planned: Vec<&str> = plan
        .implementations
        .iter()
        .map(|i| i.name.as_str())
        .collect();
    planned.sort_unstable();
    let recorded: Vec<&str> = data.implementations.keys().map(String::as_str).collect();
    let implementations = (
        "the implementations",
        recorded.join(", "),
        planned.join(", "),
    );
    differing(folder, [scenarios, implementations])?;
    for planned in &plan.planned_scenarios {
        let recorded = &data.scenarios[&planned.scenario.name];
        if *recorded != planned.scenario {
            let text = |s| serde_json::to_string(s).unwrap_or_default();
            let pair = ("the scenario", text(recorded), text(&planned.scenario));
            differing(folder, [pair])?;
        }
        differing(folder, entries_of(data, planned))?;
    }
    Ok(())
}

/// The recorded and the planned entries of that scenario, if a complete round of it shows the recorded ones.
fn entries_of(data: &RunData, planned: &PlannedScenario) -> Option<(&'static str, String, String)> {
    let name = &planned.scenario.name;
    data.rounds.iter().find(|round| round.scenario == *name)?;
    let windows = data.windows.iter().filter(|w| w.scenario == *name);
    let windows = windows.map(|w| {
        let implementation = w.implementation.clone();
        (implementation, w.placebo, w.slowed_percent, w.build)
    });
    let failures = data.failures.iter().filter(|f| f.scenario == *name);
    let recorded: BTreeSet<EntryKey> = windows.chain(failures.map(key_of)).collect();
    let planned: BTreeSet<EntryKey> = planned.entries.iter().map(|e| e.key()).collect();
    Some(("the entries", told(&recorded), told(&planned)))
}

fn told(entries: &BTreeSet<EntryKey>) -> String {
    let entries = entries
        .iter()
        .map(|(implementation, placebo, slowed, build)| {
            let placebo = if *placebo { " (placebo)" } else { "" };
            let slowed = slowed.map_or(String::new(), |p| format!(" (slowed by {p} %)"));
            let build = build.map_or("", |Build::Base| " (base build)");
            format!("{implementation}{placebo}{slowed}{build}")
        });
    entries.collect::<Vec<_>>().join(", ")
}

fn differing(
    folder: &Path,
    pairs: impl IntoIterator<Item = (&'static str, String, String)>,
) -> Result<(), MeasureError> {
    match pairs.into_iter().find(|(_, a, b)| a != b) {
        None => Ok(()),
        Some((what, recorded, planned)) => Err(MeasureError::Differs {
            path: folder.to_owned(),
            what,
            recorded,
            planned,
        }),
    }
}

fn standpoints(data: &RunData) -> Standpoints {
    let complete = complete_rounds(data);
    let mut all = Standpoints::default();
    for round in &data.rounds {
        let at = all.scenarios.entry(round.scenario.clone()).or_default();
        at.rounds = at.rounds.max(round.round + 1);
        at.next_fork = at.next_fork.max(round.fork + 1);
    }
    for window in &data.windows {
        let at = all.scenarios.entry(window.scenario.clone()).or_default();
        // The number of a fork is not reused even if all its windows are dropped.
        at.next_fork = at.next_fork.max(window.fork + 1);
        if complete.contains(&(window.scenario.as_str(), window.fork, window.round)) {
            all.windows += 1;
            all.window_nanos += window.nanos;
        }
    }
    for failure in &data.failures {
        let at = all.scenarios.entry(failure.scenario.clone()).or_default();
        at.next_fork = at.next_fork.max(failure.fork + 1);
        at.excluded.insert(key_of(failure));
        all.failures += 1;
    }
    for allocation in &data.allocations {
        let at = all
            .scenarios
            .entry(allocation.scenario.clone())
            .or_default();
        at.counted.insert(allocation.implementation.clone());
    }
    all
}

pub(super) fn key_of(failure: &Failure) -> EntryKey {
    (
        failure.implementation.clone(),
        failure.placebo,
        failure.slowed_percent,
        failure.build,
    )
}

fn complete_rounds(data: &RunData) -> HashSet<(&str, u32, u32)> {
    let rounds = data.rounds.iter();
    rounds
        .map(|r| (r.scenario.as_str(), r.fork, r.round))
        .collect()
}

/// The complete lines, without the windows of incomplete rounds.
fn without_unfinished(bytes: &[u8], data: &RunData) -> Vec<u8> {
    let complete = complete_rounds(data);
    let kept = |line: &[u8]| match serde_json::from_slice(line) {
        Ok(Record::Window(w)) => complete.contains(&(w.scenario.as_str(), w.fork, w.round)),
        _ => true,
    };
    bytes
        .split_inclusive(|&b| b == b'\n')
        .filter(|line| line.ends_with(b"\n") && kept(line))
        .flatten()
        .copied()
        .collect()
}
