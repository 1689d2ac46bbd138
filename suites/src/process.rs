//! What this program does when another copy of it started it: run one contestant, or prove one cell.
//!
//! A contestant that hangs, aborts or overflows its stack must not take the run down, so everything foreign
//! runs in a process of its own: the same executable with a first argument that no user types. Every program
//! that measures or proves calls [`serve_if_asked`] before anything else.

use std::io;
use std::process::{Command, ExitCode};

use flowmeter_harness::measure::StageError;
use flowmeter_harness::measure::child::serve_process;
use flowmeter_harness::measure::pin::{Pinned, Pinning, decide};
use flowmeter_harness::record::FailureKind;
use flowmeter_harness::registry::AsyncRegistry;

use crate::contest::Contest;
use crate::proving;

const CONTESTANT: &str = "__contestant";
const CELL: &str = "__cell";

/// Serves the process that started this one, if it did; then its exit code is the answer.
pub fn serve_if_asked<R: AsyncRegistry>(registry: R) -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next()?.as_str() {
        CONTESTANT => {
            let pinning = arguments
                .next()
                .and_then(|word| pinning(&word))
                .unwrap_or_default();
            let pinned = decide(pinning);
            let contest = Contest::of(registry);
            Some(serve_process(|implementation, scenario| {
                if pinning != Pinning::Free && pinned != Pinned::Done {
                    return Err(unpinned(pinning, &pinned));
                }
                contest.stage_of(implementation, scenario)
            }))
        }
        CELL => Some(proving::serve(
            registry,
            &arguments.next().unwrap_or_default(),
        )),
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

/// The command that proves one cell and prints its verdict.
pub(crate) fn cell(task: &str) -> io::Result<Command> {
    let mut command = this_program()?;
    command.arg(CELL).arg(task);
    Ok(command)
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
