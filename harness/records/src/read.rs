//! Reads a run back: its lines sorted by kind, or the reason why the file is not a run.
//!
//! The result is consistent: each window and failure names a scenario and an implementation that were introduced before
//! it, and each value is a positive number.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{
    Allocation, Attack, End, Failure, Implementation, ModelledCost, Noise, Proof, RECORDS_FILE,
    Record, Round, Run, SCHEMA, Scenario, SeedClaim, Uncontended, Window,
};

/// Why a run cannot be read or written. Each message names the file and the place, and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be opened, read or written.
    #[error("{}: {source}; name the folder of a run", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A line is not a record.
    #[error("{}:{line}: not a record of a Flowmeter run ({reason}); name the folder of a run, or measure again", .path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was written by another version.
    #[error("{}: written with record schema {found}, and this build reads {SCHEMA}; measure again with this build", .path.display())]
    Schema {
        /// Which file.
        path: PathBuf,
        /// Its schema.
        found: u32,
    },
    /// The file is empty.
    #[error("{}: holds no run; measure first, or name another folder", .path.display())]
    Empty {
        /// Which file.
        path: PathBuf,
    },
}

/// A complete run in memory.
#[derive(Clone, Debug)]
pub struct RunData {
    /// Its folder.
    pub folder: PathBuf,
    /// Its first line.
    pub run: Run,
    /// Implementations by name.
    pub implementations: BTreeMap<String, Implementation>,
    /// Scenarios by name.
    pub scenarios: BTreeMap<String, Scenario>,
    /// Groups of scenarios in the order in which the file names them first.
    pub groups: Vec<String>,
    /// The proofs.
    pub proofs: Vec<Proof>,
    /// Criterion's timings.
    pub uncontended: Vec<Uncontended>,
    /// Allocations, where they were counted.
    pub allocations: Vec<Allocation>,
    /// Windows in the order of the file.
    pub windows: Vec<Window>,
    /// Cells without a result.
    pub failures: Vec<Failure>,
    /// Rounds that are complete.
    pub rounds: Vec<Round>,
    /// The machine's noise over the run.
    pub noise: Vec<Noise>,
    /// Reproduced claims of the seed texts.
    pub seed_claims: Vec<SeedClaim>,
    /// Results of properties on mutants.
    pub attacks: Vec<Attack>,
    /// What messages cost channels under fixed schedules.
    pub modelled_costs: Vec<ModelledCost>,
    /// The end, if the run is complete.
    pub end: Option<End>,
    /// A torn last line was left out (the run was cut off while it wrote).
    pub torn: bool,
}

/// Reads a run from its folder, or from its file of records.
///
/// # Errors
/// [`RecordError`] naming file and line. A last line without its line end is left out, not an error.
pub fn read_run(path: &Path) -> Result<RunData, RecordError> {
    let file = if path.is_dir() {
        path.join(RECORDS_FILE)
    } else {
        path.to_owned()
    };
    let opened = File::open(&file).map_err(|source| RecordError::Io {
        path: file.clone(),
        source,
    })?;
    read_records(BufReader::new(opened), &file)
}

/// Reads the records of a run from any reader. Errors name `file`, and its folder is the folder of the run.
///
/// # Errors
/// As [`read_run`].
pub fn read_records(mut reader: impl BufRead, file: &Path) -> Result<RunData, RecordError> {
    let folder = file.parent().map(Path::to_owned).unwrap_or_default();
    let io = |source| RecordError::Io {
        path: file.to_owned(),
        source,
    };
    let mut data: Option<RunData> = None;
    let mut torn = false;
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(io)? == 0 {
            break;
        }
        if bytes.last() != Some(&b'\n') {
            torn = true;
            break;
        }
        let refuse = |reason: String| RecordError::Line {
            path: file.to_owned(),
            line,
            reason,
        };
        let record: Record = serde_json::from_slice(&bytes).map_err(|e| refuse(e.to_string()))?;
        match (&mut data, record) {
            (None, Record::Run(run)) => {
                if run.schema != SCHEMA {
                    return Err(RecordError::Schema {
                        path: file.to_owned(),
                        found: run.schema,
                    });
                }
                data = Some(RunData::new(folder.clone(), *run));
            }
            (None, _) => return Err(refuse("the first line is not a run".to_owned())),
            (Some(_), Record::Run(_)) => return Err(refuse("a second run in one file".to_owned())),
            (Some(data), record) => data.add(record).map_err(refuse)?,
        }
    }
    let mut data = data.ok_or(RecordError::Empty {
        path: file.to_owned(),
    })?;
    data.torn = torn;
    Ok(data)
}

impl RunData {
    fn new(folder: PathBuf, run: Run) -> RunData {
        RunData {
            folder,
            run,
            implementations: BTreeMap::new(),
            scenarios: BTreeMap::new(),
            groups: Vec::new(),
            proofs: Vec::new(),
            uncontended: Vec::new(),
            allocations: Vec::new(),
            windows: Vec::new(),
            failures: Vec::new(),
            rounds: Vec::new(),
            noise: Vec::new(),
            seed_claims: Vec::new(),
            attacks: Vec::new(),
            modelled_costs: Vec::new(),
            end: None,
            torn: false,
        }
    }

    fn add(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Run(_) => unreachable!("told apart by the caller"),
            Record::Implementation(it) => drop(self.implementations.insert(it.name.clone(), it)),
            Record::Scenario(it) => {
                if !self.groups.contains(&it.group) {
                    self.groups.push(it.group.clone());
                }
                self.scenarios.insert(it.name.clone(), it);
            }
            Record::Proof(it) => self.proofs.push(it),
            Record::Uncontended(it) => {
                self.knows_implementation(&it.implementation)?;
                positive(it.nanos)?;
                self.uncontended.push(it);
            }
            Record::Allocation(it) => {
                self.knows(&it.scenario, &it.implementation)?;
                if it.operations == 0 {
                    return Err("0 operations allocate nothing".to_owned());
                }
                self.allocations.push(it);
            }
            Record::Window(it) => {
                self.knows(&it.scenario, &it.implementation)?;
                positive(it.value)?;
                self.windows.push(it);
            }
            Record::Failure(it) => {
                self.knows(&it.scenario, &it.implementation)?;
                self.failures.push(it);
            }
            Record::Round(it) => self.rounds.push(it),
            Record::Noise(it) => self.noise.push(it),
            Record::SeedClaim(it) => self.seed_claims.push(it),
            Record::Mutant(it) => self.attacks.push(it),
            Record::ModelledCost(it) => {
                self.knows(&it.scenario, &it.implementation)?;
                self.modelled_costs.push(it);
            }
            Record::End(it) => self.end = Some(it),
            Record::Unknown => {}
        }
        Ok(())
    }

    fn knows(&self, scenario: &str, implementation: &str) -> Result<(), String> {
        if !self.scenarios.contains_key(scenario) {
            return Err(format!(
                "the scenario {scenario:?} was not introduced before"
            ));
        }
        self.knows_implementation(implementation)
    }

    fn knows_implementation(&self, implementation: &str) -> Result<(), String> {
        if !self.implementations.contains_key(implementation) {
            return Err(format!(
                "the implementation {implementation:?} was not introduced before"
            ));
        }
        Ok(())
    }
}

fn positive(value: f64) -> Result<(), String> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(format!("the value {value} is not a positive number")),
    }
}
