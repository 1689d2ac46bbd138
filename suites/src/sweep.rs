//! Determines which checks are needed. Every fault is injected into every model of a cell, and the checks that find
//! it are recorded. Then each of them is switched off for that fault. If the model passes now, that check is needed:
//! no other check finds the fault.
//!
//! A cell is swept in a process of its own, which announces what it is about to do. If it hangs or breaks off,
//! another process continues after that point.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flowmeter_harness::caps::Kind;
use flowmeter_harness::check::watch;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Exploration, Explored, World};
use serde::{Deserialize, Serialize};

use crate::process::{self, End, Request};
use crate::properties::Case;
use crate::properties::lies::{Lie, occasions, tell};
use crate::worlds::{Prover, Worlds};

/// For a frequent occasion: the first ones, and the last two.
const FIRST: u32 = 6;
/// An exploration that takes so long hangs.
const PATIENCE: Duration = Duration::from_secs(1);
/// The maximum time for a cell, however many faults hang.
const LONGEST: Duration = Duration::from_secs(120);
/// The maximum number of faults with one name that a check of a case found and that are injected again without it.
const TRIES: usize = 3;

/// A cell that allows injected faults.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) implementation: String,
    pub(crate) property: String,
    pub(crate) world: String,
    /// How many faults have already been injected.
    pub(crate) skip: u64,
}

/// A fault that was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) case: String,
    pub(crate) lie: Lie,
    /// The checks that failed; none where the world itself found it.
    pub(crate) by: BTreeSet<String>,
    /// Those without which it is not found.
    pub(crate) needed: BTreeSet<String>,
}

/// A line from the process of a cell.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Line {
    /// How many faults will have been injected.
    Begins(u64),
    Found(Found),
    /// A model that fails without a fault.
    Fails(String),
    Done,
}

/// The worlds in which faults are injected. A case gets them in the first one that has it: channels where threads interleave in
/// many ways, and where an endless spin is ended; kinds that keep time where time is exact; real threads last.
pub(crate) fn worlds_for(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Channel => &["shuttle", "sim", "std"],
        _ => &["sim", "std"],
    }
}

/// Sweeps a cell in processes of its own.
///
/// # Errors
/// When a model fails without a fault.
pub(crate) fn sweep(cell: &Question) -> Result<Vec<Found>, String> {
    let (mut all, mut skip, mut fails) = (Vec::new(), 0, None);
    let began = Instant::now();
    while began.elapsed() < LONGEST {
        let question = Question {
            skip,
            ..cell.clone()
        };
        let left = LONGEST.saturating_sub(began.elapsed());
        let end = process::listen(&Request::Sweep(question), left, |line| {
            match line {
                Line::Begins(number) => skip = number,
                Line::Found(found) => all.push(found),
                Line::Fails(why) => fails = Some(why),
                Line::Done => return true,
            }
            false
        });
        if let End::Enough = end {
            break;
        }
    }
    match fails {
        Some(why) => Err(format!(
            "{}, though no fault is injected: {why}",
            cell.property
        )),
        None => Ok(all),
    }
}

/// The process of a cell.
pub(crate) fn serve(worlds: &Worlds, question: Question) -> Line {
    let same = "the process that asks is the same program";
    let prover = worlds.prover_of_lies(&question.world).expect(same);
    let cell = prover.cell(&question.implementation, &question.property);
    let explorations = Arc::new(AtomicU64::new(0));
    end_with_a_hang(&explorations);
    let mut process = Process {
        prover,
        skip: question.skip,
        telling: 0,
        explorations,
        needed: BTreeSet::new(),
    };
    let cell = cell.expect(same);
    let before = worlds_for(cell.property.kind());
    let before = before.iter().take_while(|world| **world != question.world);
    let mut known = BTreeSet::new();
    for other in before.filter_map(|world| worlds.prover_of_lies(world)) {
        let same = other.cell(&question.implementation, &question.property);
        known.extend(
            same.into_iter()
                .flat_map(|cell| cell.cases)
                .map(|case| case.name),
        );
    }
    for case in cell.cases {
        // Programs that are generated get theirs where executions are quick.
        let is_left = question.world != Std::NAME || !case.is_generated();
        if is_left && !known.contains(&case.name) {
            process.sweep(&case);
        }
    }
    Line::Done
}

/// Ends this process when one exploration takes too long.
fn end_with_a_hang(explorations: &Arc<AtomicU64>) {
    let explorations = Arc::clone(explorations);
    thread::spawn(move || {
        let mut last = (0, Instant::now());
        loop {
            thread::sleep(PATIENCE / 8);
            let now = explorations.load(Ordering::Relaxed);
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > PATIENCE {
                std::process::exit(0);
            }
        }
    });
}

struct Process<'a> {
    prover: &'a dyn Prover,
    skip: u64,
    /// The number of the current fault.
    telling: u64,
    /// How many explorations have begun.
    explorations: Arc<AtomicU64>,
    /// Checks that were found to be needed.
    needed: BTreeSet<String>,
}

impl Process<'_> {
    fn sweep(&mut self, case: &Case) {
        if let Some(failure) = self.explore(case, None).failure {
            say(&Line::Fails(format!("{}: {failure}", case.name)));
            return;
        }
        let mut tries = BTreeMap::<(String, &str), usize>::new();
        for (name, count) in occasions() {
            for nth in numbers(count, self.prover.world() == Std::NAME) {
                self.telling += 1;
                if self.telling <= self.skip {
                    continue;
                }
                say(&Line::Begins(self.telling));
                let lie = Lie {
                    name: name.to_owned(),
                    nth,
                };
                if self.explore(case, Some(&lie)).failure.is_none() {
                    continue;
                }
                let by: BTreeSet<String> = watch::spoken().into_iter().collect();
                let mut needed = BTreeSet::new();
                for check in &by {
                    let tries = tries.entry((check.clone(), name)).or_default();
                    if self.needed.contains(check) || *tries == TRIES {
                        continue;
                    }
                    *tries += 1;
                    watch::switch_off(Some(check));
                    if self.explore(case, Some(&lie)).failure.is_none() {
                        self.needed.insert(check.clone());
                        needed.insert(check.clone());
                    }
                    watch::switch_off(None);
                }
                say(&Line::Found(Found {
                    case: case.name.clone(),
                    lie,
                    by,
                    needed,
                }));
            }
        }
    }

    /// One exploration, on a thread of its own: a failing one may leave it counted as panicking.
    fn explore(&self, case: &Case, lie: Option<&Lie>) -> Explored {
        self.explorations.fetch_add(1, Ordering::Relaxed);
        tell(lie.cloned());
        watch::spoken();
        let plan = Exploration {
            executions: match (self.prover.world(), case.is_generated()) {
                // Several programs: not each of them reaches the fault.
                (Shuttle::NAME, true) => 160,
                (_, true) => 64,
                // Enough for the choices of models and for the interleavings of threads.
                (Shuttle::NAME, false) => 16,
                // All are alike.
                (_, false) => 1,
            },
            time: PATIENCE / 2,
            // The same with a check and without it, and another for the next fault.
            seed: Exploration::default().seed + self.telling,
            // Only whether it fails matters.
            shrinking: Duration::ZERO,
            ..Exploration::default()
        };
        thread::scope(|scope| {
            let explored = scope.spawn(|| self.prover.explore_case(case, &plan)).join();
            explored.unwrap_or_else(|panic| resume_unwind(panic))
        })
    }
}

/// The occasions at which a fault is injected: fewer for real threads, where a hang takes time.
fn numbers(count: u32, seldom: bool) -> BTreeSet<u32> {
    let last = [count, count.saturating_sub(1)];
    let first = if seldom { 1 } else { FIRST };
    (0..=count.min(first)).chain(last).collect()
}

fn say(line: &Line) {
    println!(
        "{}",
        serde_json::to_string(line).expect("lines are plain data")
    );
}
