//! The work of this program when another copy of it started it: run one implementation, describe it, or prove one
//! cell.
//!
//! An implementation that hangs, aborts or overflows its stack must not stop the run. So all of its code runs in a
//! process of its own: the same executable with a first argument that no user types. Every program that measures or
//! proves calls [`serve_if_asked`] before anything else.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::{OnceLock, PoisonError, RwLock, mpsc};
use std::time::{Duration, Instant};

use flowmeter_measure::StageError;
use flowmeter_measure::child::serve_process;
use flowmeter_measure::pin::{Pinned, Pinning, decide};
use flowmeter_records::FailureKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::claims;
use crate::cost;
use crate::descriptions;
use crate::proving::counterexample::Counterexample;
use crate::proving::picture;
use crate::proving::{self, again};
use crate::sites;
use crate::sweep;
use crate::timed;
use crate::twins;
use crate::worlds::Worlds;

const CONTESTANT: &str = "__contestant";
const REQUEST: &str = "__request";

/// The request to a process: the line of JSON on its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The capabilities of this implementation, and the scenarios it supports.
    Introduce(descriptions::Question),
    /// The properties that it owes in a world.
    Owes(descriptions::Dues),
    /// Prove one cell.
    Prove(proving::Task),
    /// Run a failing execution again.
    Replay(Counterexample),
    /// Look for a failing execution with fewer switches.
    Shrink(Counterexample),
    /// Run a failing case repeatedly.
    Rate(Counterexample),
    /// Run a failing execution again, and record all of it.
    Draw(Counterexample),
    /// List the sites that one cell reaches.
    ListSites(proving::Task),
    /// Prove one cell with one site broken.
    ProveBroken(sites::Broken),
    /// Inject faults into one cell.
    Sweep(sweep::Question),
    /// Re-enact the claims of the seed texts that are about one implementation.
    Claims(claims::Question),
    /// End while something still runs.
    Leave(claims::Leave),
    /// The names of the implementations in a world.
    Present(twins::Question),
    /// The modelled cost of an implementation.
    Cost(cost::Question),
}

impl Request {
    /// Answers with a line of JSON.
    fn answered(self, worlds: &Worlds) -> serde_json::Result<String> {
        use serde_json::to_string;
        match self {
            Request::Introduce(question) => to_string(&descriptions::serve(worlds, question)),
            Request::Owes(question) => to_string(&descriptions::serve_dues(worlds, question)),
            Request::Prove(task) => to_string(&proving::serve(worlds, task)),
            Request::Replay(example) => to_string(&again::serve_replay(worlds, example)),
            Request::Shrink(example) => to_string(&again::serve_shrink(worlds, example)),
            Request::Rate(example) => to_string(&again::serve_rate(worlds, example)),
            Request::Draw(example) => to_string(&picture::serve(worlds, example)),
            Request::ListSites(task) => to_string(&sites::serve_listing(worlds, task)),
            Request::ProveBroken(broken) => to_string(&sites::serve_broken(worlds, broken)),
            Request::Sweep(question) => to_string(&sweep::serve(worlds, question)),
            Request::Claims(question) => to_string(&claims::serve(worlds, question)),
            Request::Leave(leave) => to_string(&claims::serve_leaving(worlds, leave)),
            Request::Present(question) => to_string(&twins::serve(worlds, &question)),
            Request::Cost(question) => to_string(&cost::serve(worlds, &question)),
        }
    }

    /// The world and the implementation of its cell, where twins can serve it.
    fn cell(&self) -> Option<(&str, &str)> {
        match self {
            Request::Owes(dues) => Some(dues.cell()),
            Request::Prove(task) => Some(task.cell()),
            Request::Cost(question) => Some(question.cell()),
            Request::Replay(example)
            | Request::Shrink(example)
            | Request::Rate(example)
            | Request::Draw(example) => Some((&example.world, &example.implementation)),
            _ => None,
        }
    }
}

/// Serves the process that started this one, if it did; then returns the exit code.
pub fn serve_if_asked(worlds: &Worlds) -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next()?.as_str() {
        CONTESTANT => {
            let word = arguments.next().unwrap_or_default();
            let Some(pinning) = pinning(&word) else {
                eprintln!("flowmeter: `{word}` is no way to pin threads");
                return Some(ExitCode::from(2));
            };
            let pinned = decide(pinning);
            let catalogue = worlds.catalogue();
            Some(serve_process(|implementation, scenario| {
                if pinning != Pinning::Free && pinned != Pinned::Done {
                    return Err(unpinned(pinning, &pinned));
                }
                catalogue.stage_of(implementation, scenario)
            }))
        }
        REQUEST => Some(answer(worlds)),
        _ => None,
    }
}

static OTHER: OnceLock<PathBuf> = OnceLock::new();

/// Lets another program do, from here on, the work of a copy of this one. This program then need not contain the code
/// that it lets others run. The other program calls [`serve_if_asked`].
///
/// # Panics
/// When it was called before.
pub fn serve_in(program: impl Into<PathBuf>) {
    OTHER
        .set(program.into())
        .expect("which program serves is said once");
}

/// The command that starts the process of an implementation.
///
/// # Errors
/// When the system does not provide the path of this program, or the program that times cannot be built.
pub fn implementation(pinning: Pinning) -> io::Result<Command> {
    let command = match timed::program() {
        Some(program) => Command::new(program.map_err(io::Error::other)?),
        None => this_program()?,
    };
    Ok(contending(command, pinning))
}

/// The command that starts the process of an implementation in that program.
pub(crate) fn implementation_in(program: &Path, pinning: Pinning) -> Command {
    contending(Command::new(program), pinning)
}

fn contending(mut command: Command, pinning: Pinning) -> Command {
    command.arg(CONTESTANT).arg(pinning_name(pinning));
    command
}

/// Which other processes of this program may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Company {
    /// Any.
    Others,
    /// None: running ones are waited for, and new ones wait.
    Alone,
}

/// Held while a process answers: shared, or exclusively by one that has to be alone.
static ANSWERING: RwLock<()> = RwLock::new(());

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Silence {
    /// The time was up.
    #[error("no answer within {:.0} s", .0.as_secs_f64())]
    TimeUp(Duration),
    /// A signal that a process brings upon itself ended it: its code crashed.
    #[error("the process crashed with {0}")]
    Crashed(Signal),
    /// The process ended, or did not start: why, in a sentence.
    #[error("{0}")]
    Gone(String),
}

/// A signal by which a fault of its code ends a process. Others, such as a kill, come from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal(i32);

impl Signal {
    #[cfg(unix)]
    fn of(status: ExitStatus) -> Option<Signal> {
        use std::os::unix::process::ExitStatusExt;
        let signal = Signal(status.signal()?);
        signal.name().map(|_| signal)
    }

    #[cfg(not(unix))]
    fn of(_status: ExitStatus) -> Option<Signal> {
        None
    }

    fn name(self) -> Option<&'static str> {
        // The numbers that POSIX systems share, and those of a bus error, of which each system has one.
        Some(match self.0 {
            4 => "SIGILL",
            5 => "SIGTRAP",
            6 => "SIGABRT",
            7 if cfg!(target_os = "linux") => "SIGBUS",
            10 if !cfg!(target_os = "linux") => "SIGBUS",
            8 => "SIGFPE",
            11 => "SIGSEGV",
            _ => return None,
        })
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name().unwrap_or("an unknown signal");
        write!(f, "{name} (signal: {})", self.0)
    }
}

/// Lets a process answer one request, within a time limit that begins when the process is started.
///
/// # Errors
/// When there is no answer.
pub(crate) fn ask_in<A: DeserializeOwned + Send + 'static>(
    company: Company,
    request: &Request,
    limit: Duration,
) -> Result<A, Silence> {
    let mut first = None;
    let heard = |answer| {
        first = Some(answer);
        true
    };
    let end = listen_in(company, request, limit, heard);
    first.ok_or(match end {
        End::TimeUp | End::Enough => Silence::TimeUp(limit),
        End::Gone(why) => why,
    })
}

/// As [`ask_in`], beside others.
///
/// # Errors
/// When there is no answer: why, in a sentence.
pub(crate) fn ask<A: DeserializeOwned + Send + 'static>(
    request: &Request,
    limit: Duration,
) -> Result<A, String> {
    ask_in(Company::Others, request, limit).map_err(|why| why.to_string())
}

/// Why no more answers come.
pub(crate) enum End {
    /// No more were wanted.
    Enough,
    TimeUp,
    /// The process ended, or did not start: why.
    Gone(Silence),
}

/// As [`listen`], in that company.
pub(crate) fn listen_in<A: DeserializeOwned + Send + 'static>(
    company: Company,
    request: &Request,
    limit: Duration,
    enough: impl FnMut(A) -> bool,
) -> End {
    match company {
        Company::Others => listen(request, limit, enough),
        Company::Alone => {
            let _alone = ANSWERING.write().unwrap_or_else(PoisonError::into_inner);
            converse(request, limit, enough)
        }
    }
}

/// Lets a process answer one request with lines of JSON, until `enough` returns true or the time is up. `enough`
/// sends no request itself.
pub(crate) fn listen<A: DeserializeOwned + Send + 'static>(
    request: &Request,
    limit: Duration,
    enough: impl FnMut(A) -> bool,
) -> End {
    let _shared = ANSWERING.read().unwrap_or_else(PoisonError::into_inner);
    converse(request, limit, enough)
}

fn converse<A: DeserializeOwned + Send + 'static>(
    request: &Request,
    limit: Duration,
    mut enough: impl FnMut(A) -> bool,
) -> End {
    let began = Instant::now();
    let mut child = match start(request) {
        Ok(child) => child,
        Err(why) => {
            let why = format!("its process cannot be started: {why}");
            return End::Gone(Silence::Gone(why));
        }
    };
    let request = serde_json::to_string(request).expect("requests are plain data");
    let output = child.stdout.take().expect("its output is piped");
    let (lines, read) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Implementations may print too; only lines that parse are answers.
            if let Ok(answer) = serde_json::from_str::<A>(&line) {
                let _ = lines.send(answer);
            }
        }
    });
    // When its end of this pipe closes, the process knows that its parent is gone: no kill leaves an orphan.
    let mut lifeline = child.stdin.take().expect("its input is piped");
    // If the process has ended, the missing answer shows it.
    let _ = writeln!(lifeline, "{request}");
    let silent = loop {
        match read.recv_timeout(limit.saturating_sub(began.elapsed())) {
            Ok(answer) => {
                if enough(answer) {
                    break None;
                }
            }
            Err(why) => break Some(why),
        }
    };
    // Harmless if it has ended already.
    let _ = child.kill();
    let status = child.wait();
    drop(lifeline);
    let _ = reader.join();
    match (silent, status) {
        (None, _) => End::Enough,
        (Some(mpsc::RecvTimeoutError::Timeout), _) => End::TimeUp,
        (_, Ok(status)) => End::Gone(match Signal::of(status) {
            Some(signal) => Silence::Crashed(signal),
            None => Silence::Gone(format!("the process ended without an answer ({status})")),
        }),
        (_, Err(why)) => {
            let why = format!("the process ended without an answer ({why})");
            End::Gone(Silence::Gone(why))
        }
    }
}

/// A process for the request: of the program that times if it asks for workloads, and of the twins' program if they
/// serve its cell.
fn start(request: &Request) -> io::Result<Child> {
    let program = match request {
        Request::Introduce(question) if question.is_of_workloads() => {
            timed::program().transpose().map_err(io::Error::other)?
        }
        Request::Present(question) => Some(question.program()),
        _ => (request.cell())
            .and_then(|(world, implementation)| twins::program_of(world, implementation)),
    };
    let mut command = match program {
        Some(program) => Command::new(program),
        None => this_program()?,
    };
    command
        .arg(REQUEST)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// The process that [`listen`] started: prints the last answer as a line of JSON.
fn answer(worlds: &Worlds) -> ExitCode {
    let mut request = String::new();
    let read = io::stdin().read_line(&mut request).is_ok();
    let request = serde_json::from_str::<Request>(&request);
    let Some(request) = request.ok().filter(|_| read) else {
        eprintln!("this argument is for a copy of this program, not for you");
        return ExitCode::from(2);
    };
    // Nothing more is ever written to it: it ends with the parent process.
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(2)
    });
    match request.answered(worlds) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::from(2),
    }
}

/// This program, also when its file was replaced by a newer build since it started; or the program that serves in its
/// place.
fn this_program() -> io::Result<Command> {
    match OTHER.get() {
        Some(other) => Ok(Command::new(other)),
        None => this_file().map(Command::new),
    }
}

/// The path of this program.
pub(crate) fn this_file() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe()
}

fn unpinned(pinning: Pinning, pinned: &Pinned) -> StageError {
    let why = match pinned {
        Pinned::Refused(why) => why.as_str(),
        Pinned::Unsupported | Pinned::Done => "this system cannot pin threads",
    };
    let message = format!("not pinned as asked ({}): {why}", pinning_name(pinning));
    StageError {
        kind: FailureKind::Void,
        message,
    }
}

/// The name of a kind of pinning, in arguments and records.
pub const fn pinning_name(pinning: Pinning) -> &'static str {
    match pinning {
        Pinning::Free => "free",
        Pinning::OneCore => "one-core",
        Pinning::CorePerThread => "core-per-thread",
        Pinning::Siblings => "siblings",
        Pinning::Sockets => "sockets",
        Pinning::WherePossible => "where-possible",
    }
}

/// The kind of pinning with that name ([`pinning_name`]).
pub(crate) fn pinning(word: &str) -> Option<Pinning> {
    let all = [
        Pinning::Free,
        Pinning::OneCore,
        Pinning::CorePerThread,
        Pinning::Siblings,
        Pinning::Sockets,
        Pinning::WherePossible,
    ];
    all.into_iter()
        .find(|pinning| pinning_name(*pinning) == word)
}
