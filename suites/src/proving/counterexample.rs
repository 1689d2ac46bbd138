//! A failing execution in a file: `check` writes it, and `check --replay` reads it, in any build. It is identified by
//! its implementation, property, case and schedule.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use flowmeter_harness::sync::Failure;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::look_again;
use crate::process::this_file;
use crate::properties::Condition;

/// How many letters of a case are in the name of its file, which a system limits to 255 bytes.
const LONGEST_CASE: usize = 150;

/// Version of the files.
const FORMAT: u32 = 2;

/// The default folder.
pub const FOLDER: &str = "target/flowmeter/counterexamples";

/// A failing execution of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counterexample {
    /// The program that found it (`this_build`). Any build may replay it.
    pub build: String,
    /// The implementation.
    pub implementation: String,
    /// The property.
    pub property: String,
    /// The world.
    pub world: String,
    /// The case of the property.
    pub case: String,
    /// How its threads shared the machine; it matters under std only.
    pub(crate) condition: Condition,
    /// The seed with which it was found.
    pub seed: u64,
    /// How long it took to find, in seconds.
    pub seconds: f64,
    /// What failed, and the schedule of that execution.
    pub failure: Failure,
}

/// A counterexample in the form of its file.
#[derive(Serialize, Deserialize)]
struct Written<E> {
    format: u32,
    #[serde(flatten)]
    example: E,
}

/// Why a file cannot be replayed.
#[derive(Debug, Error)]
pub enum CounterexampleError {
    /// It cannot be read.
    #[error("{}: {why}; give a file that `cargo flowmeter check` has written", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// It has another format.
    #[error("{}: a counterexample of format {theirs}, and this build reads format {FORMAT}; look for its failure again with \
             `cargo flowmeter check`", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        theirs: u32,
    },
    /// It is something else.
    #[error("{}: not a counterexample ({why}); give a file that `cargo flowmeter check` has written", path.display())]
    NotOne {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl Counterexample {
    /// Reads one.
    ///
    /// # Errors
    /// When the file cannot be read, has another format, or is something else.
    pub fn read(path: &Path) -> Result<Counterexample, CounterexampleError> {
        let unreadable = |why| CounterexampleError::Read {
            path: path.to_owned(),
            why,
        };
        let not_one = |why| CounterexampleError::NotOne {
            path: path.to_owned(),
            why,
        };
        let bytes = fs::read(path).map_err(unreadable)?;
        let parsed = serde_json::from_slice(&bytes);
        let head: Written<()> = parsed.map_err(|why| not_one(why.to_string()))?;
        if head.format != FORMAT {
            return Err(CounterexampleError::Format {
                path: path.to_owned(),
                theirs: head.format,
            });
        }
        let parsed = serde_json::from_slice(&bytes);
        let Written::<Counterexample> { example, .. } =
            parsed.map_err(|why| not_one(why.to_string()))?;
        Ok(example)
    }

    /// The command that looks for it again.
    pub(super) fn look_again(&self) -> String {
        look_again(&self.implementation, &self.property, &self.world, self.seed)
    }

    /// Writes it into the folder, in place of an earlier one of the same case and seed; returns the file. A cell may have
    /// two: one of a case that is owed, and one of a case that is not.
    ///
    /// # Errors
    /// When that cannot be written.
    pub(super) fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        let letters = self.case.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<&str> = letters.filter(|word| !word.is_empty()).collect();
        let case = words.join("-");
        let name = format!(
            "{}-{}-{}-{}-{}.json",
            self.world,
            self.implementation,
            self.property,
            case.get(..LONGEST_CASE).unwrap_or(&case),
            self.seed
        );
        let path = folder.join(name.replace(['/', '\\'], "_"));
        fs::create_dir_all(folder)?;
        let written = Written {
            format: FORMAT,
            example: self,
        };
        fs::write(&path, serde_json::to_string(&written)? + "\n")?;
        Ok(path)
    }
}

/// This program: its version, and the size and time of its file. A copy counts as another program.
pub(super) fn this_build() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let file = this_file().and_then(fs::metadata);
    let made = file.and_then(|file| Ok((file.len(), file.modified()?)));
    let since =
        |(size, time): (u64, SystemTime)| Some((size, time.duration_since(UNIX_EPOCH).ok()?));
    match made.ok().and_then(since) {
        Some((size, time)) => format!("{version}-{size:x}-{:x}", time.as_nanos()),
        None => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_cases_of_a_cell_have_a_file_each() {
        let folder = tempfile::tempdir().unwrap();
        let written = |case: &str| {
            let example = Counterexample {
                build: String::new(),
                implementation: "kanal".to_owned(),
                property: "c11-forms".to_owned(),
                world: "shuttle".to_owned(),
                case: case.to_owned(),
                condition: Condition::Free,
                seed: 7,
                seconds: 0.0,
                failure: Failure {
                    message: String::new(),
                    schedule: None,
                    member: None,
                    limit: false,
                },
            };
            example.write(folder.path()).unwrap()
        };
        let (owed, other) = (written("a put, fixed(1)"), written("a take"));
        let name = owed.file_name().and_then(|name| name.to_str()).unwrap();
        assert_eq!(name, "shuttle-kanal-c11-forms-a-put-fixed-1-7.json");
        let read = |path: &Path| Counterexample::read(path).unwrap().case;
        assert_eq!(
            (&*read(&owed), &*read(&other)),
            ("a put, fixed(1)", "a take")
        );
    }
}
