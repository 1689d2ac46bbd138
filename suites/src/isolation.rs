//! Models as tests, each in a process of its own. A hang, an abort or a stack overflow is one failed line, and the
//! rest continues.
//!
//! A test target with `harness = false` calls [`main`] with its models. The process that `cargo test` or nextest
//! starts lists them. For each requested one it runs the same executable again as `--run-model NAME`, under a time
//! limit. Filters, `--exact`, `--list`, `--skip` and `--test-threads` work as with Rust's own test harness (by the
//! crate `libtest-mimic`). To see the output of a model that passes, run the test executable with `--run-model NAME`
//! by hand.
//!
//! ```no_run
//! use flowmeter_harness::sync::{Exploration, World, std::Std};
//! use flowmeter_suites::isolation::{self, Model};
//!
//! fn main() -> std::process::ExitCode {
//!     isolation::main(vec![
//!         Model::holds("std::nothing_happens", || Std::explore(&Exploration::default(), || {})),
//!         Model::finds("std::a_panic", "alas", || Std::explore(&Exploration::default(), || panic!("alas"))),
//!     ])
//! }
//! ```

use std::env;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flowmeter_harness::sync::{Explored, panic_text};
use libtest_mimic::{Arguments, Failed, Trial};

/// How long a model may take unless it says otherwise.
pub const LIMIT: Duration = Duration::from_secs(60);

const RUN_MODEL: &str = "--run-model";

/// A named model, and the expected result of its exploration.
pub struct Model {
    name: String,
    limit: Duration,
    run: Box<dyn Fn() -> Result<String, String> + Send + Sync>,
}

impl Model {
    /// A model that judges itself: its result is printed, and an error fails it.
    pub fn new(
        name: impl Into<String>,
        run: impl Fn() -> Result<String, String> + Send + Sync + 'static,
    ) -> Model {
        Model {
            name: name.into(),
            limit: LIMIT,
            run: Box::new(run),
        }
    }

    /// A model that must be explored without a failure.
    pub fn holds(
        name: impl Into<String>,
        explore: impl Fn() -> Explored + Send + Sync + 'static,
    ) -> Model {
        Model::new(name, move || {
            let explored = explore();
            match &explored.failure {
                Some(failure) => Err(format!("{}\n{failure}", counted(&explored))),
                None if explored.executions == 0 => Err("nothing was explored".to_owned()),
                None => Ok(counted(&explored)),
            }
        })
    }

    /// A model that must fail, with `says` in the text of the failure: it tests the checker.
    pub fn finds(
        name: impl Into<String>,
        says: &'static str,
        explore: impl Fn() -> Explored + Send + Sync + 'static,
    ) -> Model {
        Model::new(name, move || {
            let explored = explore();
            match &explored.failure {
                Some(failure) if failure.message.contains(says) => {
                    Ok(format!("{}\nfound: {failure}", counted(&explored)))
                }
                Some(failure) => Err(format!(
                    "{}\nthis was found instead of {says:?}:\n{failure}",
                    counted(&explored)
                )),
                None => Err(format!(
                    "{}, and {says:?} was not found",
                    counted(&explored)
                )),
            }
        })
    }

    /// The same model with another time limit.
    pub fn within(mut self, limit: Duration) -> Model {
        self.limit = limit;
        self
    }
}

fn counted(explored: &Explored) -> String {
    let whole = if explored.complete {
        "the whole space"
    } else {
        "a part of the space"
    };
    format!("{} executions, {whole}", explored.executions)
}

/// Runs as a test executable; returns the exit code of `main`. Unless `--test-threads` is given, twice as many models run
/// as there are cores, since some wait.
pub fn main(models: Vec<Model>) -> ExitCode {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    run(models, 2 * cores)
}

/// As [`main`], for models that mostly wait: all run side by side, unless `--test-threads` is given.
pub fn main_of_waiting(models: Vec<Model>) -> ExitCode {
    let all = models.len();
    run(models, all)
}

fn run(models: Vec<Model>, threads: usize) -> ExitCode {
    let mut args = env::args().skip(1);
    if args.next().as_deref() == Some(RUN_MODEL) {
        return run_here(&models, &args.next().unwrap_or_default());
    }
    let trials = models.into_iter().map(|model| {
        let Model { name, limit, .. } = model;
        Trial::test(name.clone(), move || run_apart(&name, limit))
    });
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(threads));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The child process.
fn run_here(models: &[Model], name: &str) -> ExitCode {
    let Some(model) = models.iter().find(|model| model.name == name) else {
        eprintln!("there is no model named {name:?}");
        return ExitCode::from(2);
    };
    let outcome = catch_unwind(AssertUnwindSafe(&model.run));
    match outcome.unwrap_or_else(|panic| Err(panic_text(&*panic))) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// The parent process.
fn run_apart(name: &str, limit: Duration) -> Result<(), Failed> {
    let (mut output, input) = io::pipe()?;
    let mut command = Command::new(env::current_exe()?);
    command
        .args([RUN_MODEL, name])
        .stdin(Stdio::null())
        .stdout(input.try_clone()?)
        .stderr(input);
    let mut child = command.spawn()?;
    // The command holds the writing ends. Once it is dropped, the output ends with the child.
    drop(command);

    let (done, finished) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut said = Vec::new();
        let read = output.read_to_end(&mut said);
        // The receiver is gone once the time is up.
        let _ = done.send(());
        read.map(|_| String::from_utf8_lossy(&said).into_owned())
    });
    let in_time = finished.recv_timeout(limit).is_ok();
    if !in_time {
        child.kill()?;
    }
    let status = child.wait()?;
    let said = reader
        .join()
        .map_err(|panic| panic_text(&*panic))
        .and_then(|read| read.map_err(|error| error.to_string()))?;
    if !in_time {
        return Err(format!("{said}took longer than {} s", limit.as_secs_f64()).into());
    }
    if status.success() {
        return Ok(());
    }
    match status.code() {
        Some(_) => Err(said.into()),
        None => Err(format!("{said}ended by {status}").into()),
    }
}
