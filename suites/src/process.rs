//! What this program does when another copy of it started it: run one contestant, say what it has, or prove
//! one cell.
//!
//! A contestant that hangs, aborts or overflows its stack must not take the run down, so everything foreign
//! runs in a process of its own: the same executable with a first argument that no user types. Every program
//! that measures or proves calls [`serve_if_asked`] before anything else.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{OnceLock, PoisonError, RwLock, mpsc};
use std::time::{Duration, Instant};

use flowmeter_harness::measure::StageError;
use flowmeter_harness::measure::child::serve_process;
use flowmeter_harness::measure::pin::{Pinned, Pinning, decide};
use flowmeter_harness::record::FailureKind;
use flowmeter_harness::registry::AsyncRegistry;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "command")]
use crate::claims;
use crate::contest::Contest;
#[cfg(feature = "command")]
use crate::lies::sweep;
#[cfg(feature = "command")]
use crate::proving::picture;
use crate::proving::{self, again};
use crate::roster;
#[cfg(feature = "command")]
use crate::sites;
use crate::worlds::Worlds;

const CONTESTANT: &str = "__contestant";
/// Proves one cell.
pub(crate) const CELL: &str = "__cell";
/// Runs a failing execution again.
pub(crate) const REPLAY: &str = "__replay";
/// Looks for a failing execution with fewer switches.
pub(crate) const SHRINK: &str = "__shrink";
/// Runs a failing case over and over.
pub(crate) const RATE: &str = "__rate";
/// Says what one contestant has.
pub(crate) const ANSWER: &str = "__answer";
/// Says what one contestant owes in a world.
pub(crate) const DUES: &str = "__dues";
/// Runs a failing execution again, and writes everything down.
#[cfg(feature = "command")]
pub(crate) const DRAW: &str = "__draw";
/// Lists the sites that one cell passes.
#[cfg(feature = "command")]
pub(crate) const SITES: &str = "__sites";
/// Proves one cell with one site broken.
#[cfg(feature = "command")]
pub(crate) const BROKEN: &str = "__broken";

/// Tells lies in one cell.
#[cfg(feature = "command")]
pub(crate) const SWEEP: &str = "__sweep";
/// Re-enacts the claims of the seed texts that are about one contestant.
#[cfg(feature = "command")]
pub(crate) const CLAIMS: &str = "__claims";
/// Ends, with something left running.
#[cfg(feature = "command")]
pub(crate) const LEAVE: &str = "__leave";

/// Serves the process that started this one, if it did; then its exit code is the answer.
pub fn serve_if_asked<R: AsyncRegistry>(worlds: &Worlds<R>) -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next()?.as_str() {
        CONTESTANT => {
            let pinning = arguments
                .next()
                .and_then(|word| pinning(&word))
                .unwrap_or_default();
            let pinned = decide(pinning);
            let contest = Contest::of(worlds.registry());
            Some(serve_process(|implementation, scenario| {
                if pinning != Pinning::Free && pinned != Pinned::Done {
                    return Err(unpinned(pinning, &pinned));
                }
                contest.stage_of(implementation, scenario)
            }))
        }
        CELL => Some(answer(|task| proving::serve(worlds, task))),
        REPLAY => Some(answer(|example| again::serve_replay(worlds, example))),
        SHRINK => Some(answer(|example| again::serve_shrink(worlds, example))),
        RATE => Some(answer(|example| again::serve_rate(worlds, example))),
        ANSWER => Some(answer(|question| roster::serve(worlds, question))),
        DUES => Some(answer(|question| roster::serve_dues(worlds, question))),
        #[cfg(feature = "command")]
        DRAW => Some(answer(|example| picture::serve(worlds, example))),
        #[cfg(feature = "command")]
        SITES => Some(answer(|task| sites::serve_listing(worlds, task))),
        #[cfg(feature = "command")]
        BROKEN => Some(answer(|broken| sites::serve_broken(worlds, broken))),
        #[cfg(feature = "command")]
        SWEEP => Some(answer(|question| sweep::serve(worlds, question))),
        #[cfg(feature = "command")]
        CLAIMS => Some(answer(|question| claims::serve(worlds, question))),
        #[cfg(feature = "command")]
        LEAVE => Some(answer(|leave| claims::serve_leaving(worlds, leave))),
        _ => None,
    }
}

static OTHER: OnceLock<PathBuf> = OnceLock::new();

/// Has another program do, from here on, what a copy of this one would: it need not have in it what it has others run.
/// That one calls [`serve_if_asked`].
///
/// # Panics
/// When it was called before.
pub fn serve_in(program: impl Into<PathBuf>) {
    OTHER
        .set(program.into())
        .expect("which program serves is said once");
}

/// The command that starts a contestant's process.
///
/// # Errors
/// When the system does not say where this program is.
pub fn contestant(pinning: Pinning) -> io::Result<Command> {
    let mut command = this_program()?;
    command.arg(CONTESTANT).arg(pinning_name(pinning));
    Ok(command)
}

/// Which other processes of this program answer at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Company {
    /// Any.
    Others,
    /// None: those that have begun are waited for, and those that come wait.
    Alone,
}

/// Held while a process answers: shared, or by the one that has to be alone.
static ANSWERING: RwLock<()> = RwLock::new(());

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Silence {
    /// The time was up.
    #[error("no answer within {:.0} s", .0.as_secs_f64())]
    TimeUp(Duration),
    /// The process ended, or did not begin: why, in a sentence.
    #[error("{0}")]
    Gone(String),
}

/// Has a process of its own answer one question, within a time limit that begins when the process is started.
///
/// # Errors
/// When there is no answer.
pub(crate) fn ask_in<A: DeserializeOwned + Send + 'static>(
    company: Company,
    role: &str,
    question: &impl Serialize,
    limit: Duration,
) -> Result<A, Silence> {
    let mut first = None;
    let heard = |answer| {
        first = Some(answer);
        true
    };
    let end = match company {
        Company::Others => listen(role, question, limit, heard),
        Company::Alone => {
            let _alone = ANSWERING.write().unwrap_or_else(PoisonError::into_inner);
            converse(role, question, limit, heard)
        }
    };
    first.ok_or(match end {
        End::TimeUp | End::Enough => Silence::TimeUp(limit),
        End::Gone(why) => Silence::Gone(why),
    })
}

/// As [`ask_in`], beside others.
///
/// # Errors
/// When there is no answer: why, in a sentence.
pub(crate) fn ask<A: DeserializeOwned + Send + 'static>(
    role: &str,
    question: &impl Serialize,
    limit: Duration,
) -> Result<A, String> {
    ask_in(Company::Others, role, question, limit).map_err(|why| why.to_string())
}

/// Why no more answers come.
pub(crate) enum End {
    /// No more were wanted.
    Enough,
    TimeUp,
    /// The process ended, or did not begin: why, in a sentence.
    Gone(String),
}

/// Has a process of its own answer one question with lines of JSON, until `enough` says that it is so or the
/// time is up. `enough` asks nothing itself.
pub(crate) fn listen<A: DeserializeOwned + Send + 'static>(
    role: &str,
    question: &impl Serialize,
    limit: Duration,
    enough: impl FnMut(A) -> bool,
) -> End {
    let _shared = ANSWERING.read().unwrap_or_else(PoisonError::into_inner);
    converse(role, question, limit, enough)
}

fn converse<A: DeserializeOwned + Send + 'static>(
    role: &str,
    question: &impl Serialize,
    limit: Duration,
    mut enough: impl FnMut(A) -> bool,
) -> End {
    let began = Instant::now();
    let mut child = match start(role) {
        Ok(child) => child,
        Err(why) => return End::Gone(format!("its process cannot be started: {why}")),
    };
    let question = serde_json::to_string(question).expect("questions are plain data");
    let output = child.stdout.take().expect("its output is piped");
    let (lines, read) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Contestants may print too; the answers are the lines that are some.
            if let Ok(answer) = serde_json::from_str::<A>(&line) {
                let _ = lines.send(answer);
            }
        }
    });
    // Its end of this pipe tells the process that nobody waits for it any more: no kill leaves an orphan.
    let mut lifeline = child.stdin.take().expect("its input is piped");
    // One that has ended says so by the answer that does not come.
    let _ = writeln!(lifeline, "{question}");
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
    // Harmless where it has ended already.
    let _ = child.kill();
    let status = child.wait();
    drop(lifeline);
    let _ = reader.join();
    match (silent, status) {
        (None, _) => End::Enough,
        (Some(mpsc::RecvTimeoutError::Timeout), _) => End::TimeUp,
        (_, Ok(status)) => End::Gone(format!("the process ended without an answer ({status})")),
        (_, Err(why)) => End::Gone(format!("the process ended without an answer ({why})")),
    }
}

fn start(role: &str) -> io::Result<Child> {
    this_program()?
        .arg(role)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// The process that [`listen`] started: prints the last answer as a line of JSON.
fn answer<Q: DeserializeOwned, A: Serialize>(reply: impl FnOnce(Q) -> A) -> ExitCode {
    let mut question = String::new();
    let read = io::stdin().read_line(&mut question).is_ok();
    let Some(question) = serde_json::from_str(&question).ok().filter(|_| read) else {
        eprintln!("this argument is for a copy of this program, not for you");
        return ExitCode::from(2);
    };
    // Nothing more is ever written to it: it ends with the process that asked.
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(2)
    });
    match serde_json::to_string(&reply(question)) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::from(2),
    }
}

/// This very program, also when its file was replaced by a newer build since it was started; or who serves in its place.
fn this_program() -> io::Result<Command> {
    match OTHER.get() {
        Some(other) => Ok(Command::new(other)),
        None => this_file().map(Command::new),
    }
}

/// Where this very program lies.
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

/// The word for a way of pinning, as arguments and records have it.
pub const fn pinning_name(pinning: Pinning) -> &'static str {
    match pinning {
        Pinning::Free => "free",
        Pinning::OneCore => "one-core",
        Pinning::CorePerThread => "core-per-thread",
    }
}

/// The way of pinning that [`pinning_name`] gives that word.
pub(crate) fn pinning(word: &str) -> Option<Pinning> {
    let all = [Pinning::Free, Pinning::OneCore, Pinning::CorePerThread];
    all.into_iter()
        .find(|pinning| pinning_name(*pinning) == word)
}
