//! A folder to run the command in, and one small run that the tests share.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};

use flowmeter_records::{RunData, read_run};
use flowmeter_suites::timed;
use tempfile::TempDir;

/// A small run: two implementations in one scenario.
pub const SMALL: &[&str] = &[
    "measure",
    "-s",
    "^channels/spsc-64$",
    "-i",
    "mutex|std",
    "--rounds",
    "2",
    "--forks",
    "1",
    "--window",
    "20",
];

/// The program that times, built once for all tests.
pub fn timed_program() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let command = Path::new(env!("CARGO_BIN_EXE_flowmeter"));
        flowmeter_models::TIMED
            .built_beside(command)
            .expect("it builds")
    });
    &PROGRAM
}

/// The answer of the command.
#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
}

impl Answer {
    /// Of that command; whatever it answers, it does not panic.
    pub fn of(mut command: Command) -> Answer {
        let answered = command.output().expect("it was built");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it writes text");
        let answer = Answer {
            code: answered.status.code(),
            output: text(answered.stdout),
            errors: text(answered.stderr),
        };
        assert!(!answer.errors.contains("panicked"), "{answer:?}");
        answer
    }

    /// It succeeded.
    #[track_caller]
    pub fn fine(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.output
    }

    /// It refused with exit code 2 and one sentence that contains all of these; returns the sentence.
    #[track_caller]
    pub fn refused(self, parts: &[&str]) -> String {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert_eq!(self.output, "", "{self:?}");
        assert_eq!(self.errors.lines().count(), 1, "{self:?}");
        assert!(self.errors.starts_with("flowmeter: "), "{self:?}");
        for part in parts {
            assert!(self.errors.contains(part), "{part}: {self:?}");
        }
        self.errors
    }
}

/// A folder of its own for a test.
pub struct Ground(TempDir);

impl Ground {
    pub fn new() -> Ground {
        Ground(tempfile::tempdir().expect("there is a place for temporary files"))
    }

    /// With a copy of the small run in `run/`.
    pub fn with_run() -> Ground {
        static RUN: OnceLock<Vec<u8>> = OnceLock::new();
        let records = RUN.get_or_init(|| {
            let ground = Ground::new();
            ground.run(&[SMALL, &["-o", "run"]].concat()).fine();
            ground.bytes("run/records.jsonl")
        });
        let ground = Ground::new();
        ground.write("run/records.jsonl", records);
        ground
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("it is below the ground")).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    pub fn read_run(&self) -> RunData {
        read_run(&self.at("run")).expect("it is a run")
    }

    /// The command, about to be started here.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowmeter"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_remove("COLUMNS")
            .env(timed::VARIABLE, timed_program())
            .stdin(Stdio::null());
        command
    }

    /// Runs the command here; whatever it answers, it does not panic.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.command(arguments))
    }
}

/// Lines of JSON.
#[track_caller]
pub fn rows(output: &str) -> Vec<serde_json::Map<String, serde_json::Value>> {
    let row = |line: &str| serde_json::from_str(line).unwrap_or_else(|why| panic!("{line}: {why}"));
    output.lines().map(row).collect()
}

/// Each row has these keys and no others.
#[track_caller]
pub fn assert_keys(output: &str, keys: &[&str]) {
    let rows = rows(output);
    assert!(!rows.is_empty());
    for row in rows {
        let found: BTreeSet<&str> = row.keys().map(String::as_str).collect();
        let expected: BTreeSet<&str> = keys.iter().copied().collect();
        assert_eq!(found, expected, "{row:?}");
    }
}
