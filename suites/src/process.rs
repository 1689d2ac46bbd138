//! What this program does when another copy of it started it: run one contestant, say what it has, or prove
//! one cell.
//!
//! A contestant that hangs, aborts or overflows its stack must not take the run down, so everything foreign
//! runs in a process of its own: the same executable with a first argument that no user types. Every program
//! that measures or proves calls [`serve_if_asked`] before anything else.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use flowmeter_harness::measure::StageError;
use flowmeter_harness::measure::child::serve_process;
use flowmeter_harness::measure::pin::{Pinned, Pinning, decide};
use flowmeter_harness::record::FailureKind;
use flowmeter_harness::registry::AsyncRegistry;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contest::Contest;
#[cfg(feature = "command")]
use crate::sites;
use crate::worlds::Worlds;
use crate::{proving, roster};

const CONTESTANT: &str = "__contestant";
/// Proves one cell.
pub(crate) const CELL: &str = "__cell";
/// Says what one contestant has.
pub(crate) const ANSWER: &str = "__answer";
/// Says what one contestant owes in a world.
pub(crate) const DUES: &str = "__dues";
/// Lists the sites that one cell passes.
#[cfg(feature = "command")]
pub(crate) const SITES: &str = "__sites";
/// Proves one cell with one site broken.
#[cfg(feature = "command")]
pub(crate) const BROKEN: &str = "__broken";

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
        ANSWER => Some(answer(|question| roster::serve(worlds, question))),
        DUES => Some(answer(|question| roster::serve_dues(worlds, question))),
        #[cfg(feature = "command")]
        SITES => Some(answer(|task| sites::serve_listing(worlds, task))),
        #[cfg(feature = "command")]
        BROKEN => Some(answer(|broken| sites::serve_broken(worlds, broken))),
        _ => None,
    }
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

/// Has a process of its own answer one question, within a time limit.
///
/// # Errors
/// When there is no answer: why, in a sentence.
pub(crate) fn ask<A: DeserializeOwned + Send + 'static>(
    role: &str,
    question: &impl Serialize,
    limit: Duration,
) -> Result<A, String> {
    let question = serde_json::to_string(question).map_err(|why| why.to_string())?;
    let mut child = this_program()
        .and_then(|mut command| {
            command
                .arg(role)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
        })
        .map_err(|why| format!("its process cannot be started: {why}"))?;
    let output = child.stdout.take().expect("its output is piped");
    let (lines, read) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Contestants may print too; the answer is the line that is one.
            if let Ok(answer) = serde_json::from_str::<A>(&line) {
                let _ = lines.send(answer);
            }
        }
    });
    // Its end of this pipe tells the process that nobody waits for it any more: no kill leaves an orphan.
    let mut lifeline = child.stdin.take().expect("its input is piped");
    // One that has ended says so by the answer that does not come.
    let _ = writeln!(lifeline, "{question}");
    let answer = read.recv_timeout(limit);
    // Harmless where it has ended already.
    let _ = child.kill();
    let status = child.wait();
    drop(lifeline);
    let _ = reader.join();
    answer.map_err(|why| match (why, status) {
        (mpsc::RecvTimeoutError::Timeout, _) => format!(
            "no answer within {:.0} s: somebody waits for ever",
            limit.as_secs_f64()
        ),
        (_, Ok(status)) => format!("the process ended without an answer ({status})"),
        (_, Err(why)) => format!("the process ended without an answer ({why})"),
    })
}

/// The process that [`ask`] started: prints the answer as a line of JSON.
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

/// This very program, also when its file was replaced by a newer build since it was started.
fn this_program() -> io::Result<Command> {
    if cfg!(target_os = "linux") {
        return Ok(Command::new("/proc/self/exe"));
    }
    std::env::current_exe().map(Command::new)
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
