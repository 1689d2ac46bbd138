//! Proving cells in the std world, each in a process of its own under a time limit: a hang or an abort is
//! one failed cell.

use std::time::{Duration, Instant};

use flowmeter_harness::record::{Proof, Verdict};
use flowmeter_harness::registry::Registry;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Exploration, World, panic_text};
use serde::{Deserialize, Serialize};

use crate::process;
use crate::properties::{Checks, judge};
use crate::roster::Owed;

/// How much to look at in each cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Executions of each case at most.
    pub executions: u64,
    /// Time for all cases of a cell together.
    pub time: Duration,
    /// Seed of what is random.
    pub seed: u64,
}

impl Effort {
    /// What `check` does unless told otherwise.
    pub const CHECK: Effort = Effort {
        executions: 2_000,
        time: Duration::from_secs(2),
        seed: 0x666c_6f77,
    };
    /// What must pass before anything is timed.
    pub const QUICK: Effort = Effort {
        executions: 200,
        time: Duration::from_millis(300),
        ..Effort::CHECK
    };

    /// Patience beyond the time that a cell is given: one execution on a busy machine.
    const GRACE: Duration = Duration::from_secs(10);
}

/// What the process of a cell is told.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    implementation: String,
    property: String,
    executions: u64,
    millis: u64,
    seed: u64,
}

/// Proves a cell in a process of its own.
pub fn prove(cell: &Owed, effort: Effort) -> Proof {
    let began = Instant::now();
    let (implementation, property) = (cell.implementation, cell.property.name);
    let without = |verdict, detail| {
        let seconds = began.elapsed().as_secs_f64();
        proof(implementation, property, verdict, detail, seconds)
    };
    let task = Task {
        implementation: implementation.to_owned(),
        property: property.to_owned(),
        executions: effort.executions,
        millis: effort.time.as_millis() as u64,
        seed: effort.seed,
    };
    let mut answer = match &cell.claim {
        Ok(false) => return without(Verdict::Unclaimed, None),
        Ok(true) => process::ask(process::CELL, &task, effort.time + Effort::GRACE)
            .unwrap_or_else(|why| without(Verdict::Error, Some(why))),
        Err(why) => without(Verdict::Error, Some(why.clone())),
    };
    if !matches!(answer.verdict, Verdict::Pass | Verdict::Unclaimed) {
        answer.replay = Some(format!(
            "cargo flowmeter check -i '^{implementation}$' -p '^{property}$' --seed {}",
            effort.seed
        ));
    }
    answer
}

fn proof(
    implementation: &str,
    property: &str,
    verdict: Verdict,
    detail: Option<String>,
    seconds: f64,
) -> Proof {
    Proof {
        implementation: implementation.to_owned(),
        property: property.to_owned(),
        world: Std::NAME.to_owned(),
        verdict,
        complete: false,
        executions: 0,
        seconds,
        counterexample: None,
        detail,
        replay: None,
    }
}

/// What a model panics with is its verdict, and nobody reads the standard error. Where a thread beside the
/// main one panics, the main one may wait for it for ever: so that panic is told at once, and ends the process.
/// Panics that a model makes on purpose are resumed, which calls no hook.
fn tell_of_panics(task: &Task) {
    let main = std::thread::current().id();
    let fail = proof(
        &task.implementation,
        &task.property,
        Verdict::Fail,
        None,
        0.0,
    );
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() != main {
            let detail = Some(panic_text(panic.payload()));
            if let Ok(line) = serde_json::to_string(&Proof {
                detail,
                ..fail.clone()
            }) {
                println!("{line}");
            }
            std::process::exit(0);
        }
    }));
}

/// The process of one cell: its verdict.
pub(crate) fn serve(registry: impl Registry, task: Task) -> Proof {
    tell_of_panics(&task);
    let checks = Checks::<Std>::of_one(registry, &task.implementation);
    let mut cells = checks.cells();
    let cell = cells
        .find(|cell| cell.who.name == task.implementation && cell.property.name == task.property)
        .expect("the process that asks is the same program");
    let plan = Exploration {
        executions: task.executions,
        time: Duration::from_millis(task.millis),
        seed: task.seed,
        ..Exploration::default()
    };
    judge::<Std>(&cell, &plan)
}
