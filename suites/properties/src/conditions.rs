//! The conditions under which real threads run a model. Threads with a core each interleave in other ways than
//! threads that share one core, where a woken thread may run before its waker continues. Threads that lose their core
//! in the middle of an operation interleave in yet other ways.
//!
//! Invariant: afterwards the calling thread has its former affinity, and no spinning thread is left. A new thread
//! inherits its affinity from the thread that starts it, so threads that an implementation keeps for the whole
//! process stay where they were.

use std::fmt;
use std::hint::spin_loop;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use flowmeter_harness::sync::std::{choose, precise_wakeups};
use flowmeter_harness::sync::{Exploration, Explored};
use flowmeter_measure::pin::{Pinned, Pinning, pin};
use serde::{Deserialize, Serialize};

use super::{Case, Explorer};

/// How real threads share the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Wherever the system schedules them.
    #[default]
    Free,
    /// All on one core.
    OneCore,
    /// Beside more threads that spin than there are cores.
    Oversubscribed,
}

/// A spinning thread spins and sleeps for up to this many nanoseconds. When it wakes it preempts a thread in the
/// middle of an operation, and it soon yields the core again; otherwise there would be few executions.
const BURST_NANOS: usize = 100_000;

/// What is being explored, for a panic or a hang that ends the process: each cell has a process of its own.
static NOW: Mutex<(String, Condition)> = Mutex::new((String::new(), Condition::Free));

/// The name of the case that is being explored, and its condition.
pub fn now() -> (String, Condition) {
    NOW.lock()
        .expect("no thread panics while it holds the lock")
        .clone()
}

/// Called with each case and condition before it is explored.
static ANNOUNCE: OnceLock<fn(&str, Condition)> = OnceLock::new();

/// Calls that function from now on before each case is explored. A crash leaves no other trace of its case.
pub fn announce(heard: fn(&str, Condition)) {
    // The first one stays: there is one for each process.
    let _ = ANNOUNCE.set(heard);
}

/// The outcome of a case.
pub(super) struct Outcome {
    pub(super) explored: Explored,
    /// The condition under which it failed; the std world has several.
    pub(super) condition: Condition,
    /// A condition that could not be set up.
    pub(super) missed: Option<String>,
}

/// Explores a case. In the std world half of the plan runs with free threads, and a quarter under each further
/// condition. Elsewhere the explorer alone schedules threads.
pub(super) fn explore(explorer: &Explorer, plan: &Exploration, case: &Case) -> Outcome {
    let conditions: &[Condition] = match explorer.world {
        "std" => &[
            Condition::Free,
            Condition::OneCore,
            Condition::Oversubscribed,
        ],
        _ => &[Condition::Free],
    };
    let began = Instant::now();
    // A family may count more executions than it was given.
    let mut left = plan.executions;
    let mut outcome = Outcome {
        explored: Explored {
            executions: 0,
            complete: false,
            undecided: 0,
            failure: None,
        },
        condition: Condition::Free,
        missed: None,
    };
    for (index, condition) in conditions.iter().enumerate() {
        // Half of what is left; the last condition gets all of it.
        let share = if index + 1 < conditions.len() { 2 } else { 1 };
        let part = Exploration {
            executions: left.div_ceil(share),
            time: plan.time.saturating_sub(began.elapsed()) / share as u32,
            ..plan.clone()
        };
        left -= part.executions;
        if index > 0 && (part.executions == 0 || part.time.is_zero()) {
            break;
        }
        *NOW.lock()
            .expect("no thread panics while it holds the lock") = (case.name.clone(), *condition);
        if let Some(announce) = ANNOUNCE.get() {
            announce(&case.name, *condition);
        }
        match condition.have(|| case.explore(explorer, &part)) {
            Err(why) => outcome.missed = Some(format!("not{condition}: {why}")),
            Ok(mut explored) => {
                explored.executions += outcome.explored.executions;
                explored.undecided += outcome.explored.undecided;
                outcome.explored = explored;
            }
        }
        if outcome.explored.failure.is_some() {
            outcome.condition = *condition;
            break;
        }
    }
    outcome
}

/// What it adds to the name of a case.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::Free => "",
            Condition::OneCore => " on one core",
            Condition::Oversubscribed => " beside spinning threads",
        })
    }
}

impl Condition {
    /// Runs `work` under the condition, or says why it cannot be set up.
    pub fn have<R>(self, work: impl FnOnce() -> R) -> Result<R, String> {
        match self {
            Condition::Free => Ok(work()),
            Condition::OneCore => {
                // Cells that are proved at the same time should have separate cores.
                match pin(Pinning::CorePerThread, std::process::id() as usize) {
                    Pinned::Done => {}
                    Pinned::Unsupported => return Err("this system cannot pin threads".to_owned()),
                    Pinned::Refused(why) => return Err(why),
                }
                let done = work();
                pin(Pinning::Free, 0);
                Ok(done)
            }
            Condition::Oversubscribed => Ok(beside_spinning_threads(work)),
        }
    }
}

fn beside_spinning_threads<R>(work: impl FnOnce() -> R) -> R {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..=cores {
            scope.spawn(|| {
                precise_wakeups();
                while !done.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    let burst = Duration::from_nanos(choose(BURST_NANOS) as u64);
                    while began.elapsed() < burst {
                        spin_loop();
                    }
                    thread::sleep(Duration::from_nanos(choose(BURST_NANOS) as u64));
                }
            });
        }
        let _ends = Ends(&done);
        work()
    })
}

/// Ends the spinning, also when the work unwinds.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use flowmeter_harness::sync::std::Std;
    use flowmeter_measure::pin;

    use super::*;

    fn ten_seconds(executions: u64) -> Exploration {
        Exploration {
            executions,
            time: Duration::from_secs(10),
            ..Exploration::default()
        }
    }

    #[test]
    fn every_condition_has_its_share_of_the_executions() {
        let runs = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&runs);
        let case = Case::new("counts", move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let outcome = explore(&Explorer::of::<Std>(), &ten_seconds(9), &case);
        assert_eq!(
            (outcome.explored.executions, runs.load(Ordering::Relaxed)),
            (9, 9)
        );
        assert_eq!(outcome.condition, Condition::Free);
    }

    #[test]
    fn a_failure_names_its_condition_and_the_cores_are_given_back() {
        let before = thread::available_parallelism().expect("a number").get();
        if pin::cores().is_none() || before < 2 {
            return;
        }
        let case = Case::new("alone", || {
            let cores = thread::available_parallelism().expect("a number").get();
            assert!(cores > 1, "one core");
        });
        let outcome = explore(&Explorer::of::<Std>(), &ten_seconds(8), &case);
        assert_eq!(outcome.condition, Condition::OneCore);
        assert_eq!(outcome.explored.executions, 5, "4 were free");
        let after = thread::available_parallelism().expect("a number").get();
        assert_eq!(after, before);
    }
}
