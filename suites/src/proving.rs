//! Proving cells in the std world, each in a process of its own under a time limit: a hang or an abort is
//! one failed cell.

use std::io::{BufRead, BufReader};
use std::process::{ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use flowmeter_harness::record::{Proof, Verdict};
use flowmeter_harness::registry::Registry;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Exploration, World, panic_text};
use serde::{Deserialize, Serialize};

use crate::process;
use crate::properties::{Cell, Checks, judge};

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
struct Task {
    implementation: String,
    property: String,
    executions: u64,
    millis: u64,
    seed: u64,
}

/// Proves a cell in a process of its own.
pub fn prove(cell: &Cell, effort: Effort) -> Proof {
    let began = Instant::now();
    if cell.cases.is_empty() {
        return proof(cell, Verdict::Unclaimed, None, began);
    }
    let task = Task {
        implementation: cell.who.name.to_owned(),
        property: cell.property.name.to_owned(),
        executions: effort.executions,
        millis: effort.time.as_millis() as u64,
        seed: effort.seed,
    };
    let mut answer = run(&task, effort.time + Effort::GRACE)
        .unwrap_or_else(|why| proof(cell, Verdict::Error, Some(why), began));
    if !matches!(answer.verdict, Verdict::Pass | Verdict::Unclaimed) {
        answer.replay = Some(format!(
            "cargo flowmeter check -i '^{}$' -p '^{}$' --seed {}",
            cell.who.name, cell.property.name, effort.seed
        ));
    }
    answer
}

fn proof(cell: &Cell, verdict: Verdict, detail: Option<String>, began: Instant) -> Proof {
    Proof {
        implementation: cell.who.name.to_owned(),
        property: cell.property.name.to_owned(),
        world: Std::NAME.to_owned(),
        verdict,
        complete: false,
        executions: 0,
        seconds: began.elapsed().as_secs_f64(),
        counterexample: None,
        detail,
        replay: None,
    }
}

/// Starts the process and waits for its one line.
fn run(task: &Task, limit: Duration) -> Result<Proof, String> {
    let task = serde_json::to_string(task).map_err(|why| why.to_string())?;
    let mut child = process::cell(&task)
        .and_then(|mut command| {
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
        })
        .map_err(|why| format!("the process of the check cannot be started: {why}"))?;
    let output = child.stdout.take().expect("its output is piped");
    let (lines, read) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Contestants may print too; the verdict is the line that is one.
            if let Ok(proof) = serde_json::from_str::<Proof>(&line) {
                let _ = lines.send(proof);
            }
        }
    });
    // Its end of this pipe tells the process that nobody waits for it any more: no kill leaves an orphan.
    let lifeline = child.stdin.take();
    let answer = read.recv_timeout(limit);
    // Harmless where it has ended already.
    let _ = child.kill();
    let status = child.wait();
    drop(lifeline);
    let _ = reader.join();
    answer.map_err(|why| match (why, status) {
        (mpsc::RecvTimeoutError::Timeout, _) => {
            format!(
                "no answer within {:.0} s: somebody waits for ever",
                limit.as_secs_f64()
            )
        }
        (_, Ok(status)) => format!("the process ended without a verdict ({status})"),
        (_, Err(why)) => format!("the process ended without a verdict ({why})"),
    })
}

/// What a model panics with is its verdict, and nobody reads the standard error. Where a thread beside the
/// main one panics, the main one may wait for it for ever: so that panic is told at once, and ends the process.
/// Panics that a model makes on purpose are resumed, which calls no hook.
fn tell_of_panics(cell: &Cell) {
    let main = std::thread::current().id();
    let fail = proof(cell, Verdict::Fail, None, Instant::now());
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

/// The process of one cell: prints its verdict as a line of JSON.
pub(crate) fn serve(registry: impl Registry, task: &str) -> ExitCode {
    let Ok(task) = serde_json::from_str::<Task>(task) else {
        eprintln!("this argument is for a copy of this program, not for you");
        return ExitCode::from(2);
    };
    // Nothing is ever written to it: it ends with the process that asked.
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(2)
    });
    let checks = Checks::<Std>::of(registry);
    let mut cells = checks.cells();
    let Some(cell) = cells
        .find(|cell| cell.who.name == task.implementation && cell.property.name == task.property)
    else {
        return ExitCode::from(2);
    };
    tell_of_panics(&cell);
    let plan = Exploration {
        executions: task.executions,
        time: Duration::from_millis(task.millis),
        seed: task.seed,
        ..Exploration::default()
    };
    let proof = judge::<Std>(&cell, &plan);
    match serde_json::to_string(&proof) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::from(2),
    }
}
