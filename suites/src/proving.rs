//! Proves cells, each in a process of its own under a time limit, in any world. A hang or an abort costs one cell its
//! verdict. `check`, the proofs before a measurement and `cargo test` use it.
//!
//! A cell without an answer is repeated alone. A crash is a failure: the process says beforehand which case comes next.
//! Attacks on mutants, where a hang is no finding, run it once.
//!
//! A failure that `check` finds is examined further, also in separate processes. Where its world can repeat an
//! execution, it is shrunk and kept as a [`counterexample`]. Elsewhere it is run again to find its rate.

pub(crate) mod again;
pub mod counterexample;
pub(crate) mod picture;
mod repeated;

use std::path::Path;
use std::time::{Duration, Instant};

use flowmeter_harness::check::watch;
use flowmeter_harness::sync::{Exploration, Scheduling, panic_text};
use flowmeter_records::{Proof, Verdict};
use serde::{Deserialize, Serialize};

use crate::descriptions::{Due, Owed};
use crate::process::{self, Company, End, Request, Silence};
use crate::properties::{Condition, FailingCase, Judgement, announce, now};
use crate::worlds::Worlds;

/// The effort for each cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Maximum executions of each case.
    pub executions: u64,
    /// Time for all cases of a cell together.
    pub time: Duration,
    /// Extra time before an attempt at a cell counts as a hang: for an execution on a busy machine.
    pub grace: Duration,
    /// Seed of random choices.
    pub seed: u64,
    /// Under loom: how often a thread may be preempted.
    pub preemptions: usize,
    /// Under shuttle: how schedules are chosen.
    pub scheduling: Scheduling,
}

impl Effort {
    /// The default of `check` in the std world.
    pub const CHECK: Effort = Effort {
        executions: 2_000,
        time: Duration::from_secs(2),
        grace: Duration::from_secs(10),
        seed: 0x666c_6f77,
        preemptions: 2,
        scheduling: Scheduling::Turns,
    };
    /// The default of `check` in an explored world. The executions decide, or under loom the end of the space. The
    /// time is far more than they need, so that a busy machine makes no difference; a deadlock is found at once.
    pub const EXPLORE: Effort = Effort {
        time: Duration::from_secs(300),
        grace: Duration::from_secs(60),
        ..Effort::CHECK
    };
    /// The default of `check` for a cell. What is not promised is looked at briefly.
    pub fn of(cell: &Owed) -> Effort {
        match cell.due {
            Due::NotPromised => Effort {
                time: Duration::from_secs(1),
                ..Effort::CHECK
            },
            _ => Effort::under(cell.world),
        }
    }

    /// The default of `check` for what is claimed in a world.
    pub fn under(world: &str) -> Effort {
        match world {
            "std" => Effort::CHECK,
            // Nothing is proved before the space is exhausted.
            "loom" => Effort {
                executions: u64::MAX,
                ..Effort::EXPLORE
            },
            _ => Effort::EXPLORE,
        }
    }

    /// The proof before anything is timed.
    pub fn quick(world: &str) -> Effort {
        let effort = match world {
            "std" => Effort {
                time: Duration::from_millis(300),
                ..Effort::CHECK
            },
            _ => Effort::EXPLORE,
        };
        Effort {
            executions: 200,
            ..effort
        }
    }

    /// Enough for a test: a thirty-second of the drawn executions that `check` explores, and an eightieth of its time on
    /// real threads. Half of the mutants die within six executions. Executions decide, not time, so that a busy machine
    /// turns no cell red. Under std alone the time decides, but each case has some seconds more to run twice.
    pub fn of_test(world: &str) -> Effort {
        match world {
            "std" => Effort {
                executions: 20_000,
                time: Duration::from_millis(25),
                grace: Duration::from_secs(60),
                ..Effort::CHECK
            },
            // Larger spaces are explored to their end by `check`. Lock-free designs have them: many small steps.
            "loom" => Effort {
                executions: 64,
                ..Effort::EXPLORE
            },
            _ => Effort {
                executions: Effort::EXPLORE.executions / 32,
                ..Effort::EXPLORE
            },
        }
    }

    /// Two executions of each case, however long they take.
    fn twice_each(self) -> Effort {
        Effort {
            executions: 2,
            time: Effort::EXPLORE.time,
            ..self
        }
    }
}

/// Proves a cell with the effort of a test. A space of loom that is larger than that passes. All else that is undecided
/// does not. A busy machine may leave no time to run each case twice; such a cell is repeated alone.
///
/// # Errors
/// What was violated or is undecided, and the command that shows it again.
pub fn test(cell: &Owed) -> Result<(), String> {
    let effort = Effort::of_test(cell.world);
    let mut judgement = decided(cell, effort);
    if cell.world == "std" && judgement.proof.verdict == Verdict::Inconclusive {
        judgement = attempted(cell, effort.twice_each(), None, Company::Alone);
    }
    let Judgement {
        proof, cut_short, ..
    } = judgement;
    match proof.verdict {
        Verdict::Pass => Ok(()),
        Verdict::Inconclusive if cut_short => Ok(()),
        verdict => {
            let detail = proof.detail.unwrap_or_else(|| format!("{verdict:?}"));
            Err(format!("{detail}\n{}", proof.replay.unwrap_or_default()))
        }
    }
}

/// The request to the process of a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    implementation: String,
    property: String,
    world: String,
    executions: u64,
    millis: u64,
    /// How long the process has for its answer.
    patience_millis: u64,
    seed: u64,
    preemptions: usize,
    scheduling: Scheduling,
    /// Whether to run the models that the implementation does not owe, instead of those that it owes.
    not_promised: bool,
    /// The check that is switched off.
    without: Option<String>,
}

/// A line from the process of a cell.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Told {
    /// Its answer.
    Judged(Box<Judgement>),
    /// The case that comes next.
    Next(Next),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Next {
    next: String,
    condition: Condition,
}

impl Task {
    /// Its world and its implementation.
    pub(crate) fn cell(&self) -> (&str, &str) {
        (&self.world, &self.implementation)
    }

    pub(crate) fn of(cell: &Owed, effort: Effort) -> Task {
        Task {
            implementation: cell.implementation.to_owned(),
            property: cell.property.name.to_owned(),
            world: cell.world.to_owned(),
            executions: effort.executions,
            millis: effort.time.as_millis() as u64,
            patience_millis: (effort.time + effort.grace).as_millis() as u64,
            seed: effort.seed,
            preemptions: effort.preemptions,
            scheduling: effort.scheduling,
            not_promised: cell.due == Due::NotPromised,
            without: None,
        }
    }
}

/// Time for a process to start, and to report where it hangs.
pub(crate) const LEEWAY: Duration = Duration::from_secs(1);

/// Proves a cell in a process of its own. Without an answer it is repeated alone, twice: no other cell of this
/// program runs meanwhile.
pub fn prove(cell: &Owed, effort: Effort) -> Proof {
    decided(cell, effort).proof
}

/// As [`prove`]; a failure is also shrunk and kept in that folder, or its rate is reported.
pub fn prove_and_keep(cell: &Owed, effort: Effort, folder: &Path) -> Proof {
    kept(decided(cell, effort), effort.seed, folder)
}

fn decided(cell: &Owed, effort: Effort) -> Judgement {
    let first = attempted(cell, effort, None, Company::Others);
    let mut decided = repeated::decided(first, || attempted(cell, effort, None, Company::Alone));
    if cell.due == Due::NotPromised {
        let proof = &mut decided.proof;
        proof.verdict = proof.verdict.not_promised(proof.executions > 0);
    }
    decided
}

/// One attempt at a cell, with all details of a failure; `without` switches off a check.
pub(crate) fn judgement(cell: &Owed, effort: Effort, without: Option<&str>) -> Judgement {
    attempted(cell, effort, without, Company::Others)
}

/// Its proof, after a failure was shrunk and kept in that folder, or its rate was reported.
pub(crate) fn kept(judgement: Judgement, seed: u64, folder: &Path) -> Proof {
    let Judgement {
        mut proof, failing, ..
    } = judgement;
    if let Some(failing) = failing {
        again::look_further(&mut proof, failing, seed, folder);
    }
    proof
}

fn attempted(cell: &Owed, effort: Effort, without: Option<&str>, company: Company) -> Judgement {
    let began = Instant::now();
    let (implementation, property) = (cell.implementation, cell.property.name);
    let task = Task {
        without: without.map(str::to_owned),
        ..Task::of(cell, effort)
    };
    let unasked = |verdict, detail| Judgement {
        proof: proof(&task, verdict, detail, began.elapsed().as_secs_f64()),
        failing: None,
        spoke: Vec::new(),
        cut_short: false,
    };
    let mut answer = match &cell.due {
        Due::Unclaimed => return unasked(Verdict::Unclaimed, None),
        Due::NotInstrumentable(why) => {
            return unasked(Verdict::NotInstrumentable, Some(why.clone()));
        }
        Due::Owed | Due::NotPromised => {
            let limit = effort.time + effort.grace + LEEWAY;
            answered(&task, company, limit).unwrap_or_else(|(why, Next { next, condition })| {
                let verdict = match &why {
                    Silence::TimeUp(_) => Verdict::Hung,
                    Silence::Crashed(_) => Verdict::Fail,
                    Silence::Gone(_) => Verdict::Error,
                };
                if next.is_empty() {
                    return unasked(verdict, Some(why.to_string()));
                }
                let crash = matches!(why, Silence::Crashed(_)).then(|| FailingCase {
                    case: next.clone(),
                    condition,
                    failure: why.to_string().into(),
                });
                Judgement {
                    failing: crash,
                    ..unasked(verdict, Some(format!("{next}{condition}: {why}")))
                }
            })
        }
        Due::Unknown(why) => unasked(Verdict::Error, Some(why.clone())),
    };
    if answer.proof.verdict != Verdict::Pass {
        answer.proof.replay = Some(look_again(
            implementation,
            property,
            cell.world,
            effort.seed,
        ));
    }
    answer
}

/// The answer of the process of a cell, or why there is none and which case it had begun.
fn answered(task: &Task, company: Company, limit: Duration) -> Result<Judgement, (Silence, Next)> {
    let (mut begun, mut judged) = (Next::default(), None);
    let end = process::listen_in(company, &Request::Prove(task.clone()), limit, |told| {
        match told {
            Told::Judged(judgement) => judged = Some(*judgement),
            Told::Next(next) => begun = next,
        }
        judged.is_some()
    });
    judged.ok_or_else(|| {
        let why = match end {
            End::Gone(why) => why,
            End::TimeUp | End::Enough => Silence::TimeUp(limit),
        };
        (why, begun)
    })
}

/// The command that checks a cell with the same seed.
fn look_again(implementation: &str, property: &str, world: &str, seed: u64) -> String {
    format!(
        "cargo flowmeter check -i '^{implementation}$' -p '^{property}$' --under {world} --seed {seed}"
    )
}

fn proof(task: &Task, verdict: Verdict, detail: Option<String>, seconds: f64) -> Proof {
    Proof {
        implementation: task.implementation.clone(),
        property: task.property.clone(),
        world: task.world.clone(),
        verdict,
        complete: false,
        executions: 0,
        seconds,
        counterexample: None,
        detail,
        replay: None,
        bound: None,
    }
}

/// Makes the message of a panic the verdict, since the standard error is not read. Where a thread beside the main one
/// panics, the main one may wait for it for ever. So that panic is reported at once, and ends the process. Panics
/// that a model makes on purpose are resumed, which calls no hook.
fn tell_of_panics(task: &Task) {
    let main = std::thread::current().id();
    let fail = proof(task, Verdict::Fail, None, 0.0);
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == main {
            return;
        }
        let (case, condition) = now();
        let message = panic_text(panic.payload());
        // The other threads of that execution may wait for ever: the process ends with it, without a verdict.
        let verdict = match message.as_str() {
            watch::ABANDONED => Verdict::Inconclusive,
            _ => Verdict::Fail,
        };
        let proof = Proof {
            verdict,
            detail: Some(format!("{case}{condition}: {message}")),
            ..fail.clone()
        };
        let failing = Some(FailingCase {
            case,
            condition,
            failure: message.into(),
        });
        end_with(&Judgement {
            proof,
            failing,
            spoke: watch::spoken(),
            cut_short: false,
        });
    }));
}

/// A thread that waits for ever does not report where. This process does, before its parent gives up.
fn tell_of_a_hang(task: &Task) {
    let patience = Duration::from_millis(task.patience_millis);
    let hung = proof(task, Verdict::Hung, None, patience.as_secs_f64());
    std::thread::spawn(move || {
        std::thread::sleep(patience);
        let (case, condition) = now();
        let why = Silence::TimeUp(patience);
        let proof = Proof {
            detail: Some(format!("{case}{condition}: {why}")),
            ..hung
        };
        end_with(&Judgement {
            proof,
            failing: None,
            spoke: Vec::new(),
            cut_short: false,
        });
    });
}

/// Answers from any thread, and ends this process.
fn end_with(judgement: &Judgement) -> ! {
    if let Ok(line) = serde_json::to_string(judgement) {
        println!("{line}");
    }
    std::process::exit(0)
}

/// The process of one cell; returns its verdict.
pub(crate) fn serve(worlds: &Worlds, task: Task) -> Judgement {
    watch::switch_off(task.without.as_deref());
    tell_of_panics(&task);
    tell_of_a_hang(&task);
    let same = "the process that asks is the same program";
    let prover = worlds
        .prover_of(&task.world, &task.implementation)
        .expect(same);
    let cell = prover.cell(&task.implementation, &task.property);
    let mut cell = cell.expect(same);
    if task.not_promised {
        cell = cell.not_promised();
    }
    announce(|case, condition| {
        let next = Next {
            next: case.to_owned(),
            condition,
        };
        println!(
            "{}",
            serde_json::to_string(&next).expect("it is plain data")
        );
    });
    let plan = Exploration {
        executions: task.executions,
        time: Duration::from_millis(task.millis),
        seed: task.seed,
        preemptions: Some(task.preemptions),
        scheduling: task.scheduling,
        ..Exploration::default()
    };
    prover.judge(&cell, &plan)
}
