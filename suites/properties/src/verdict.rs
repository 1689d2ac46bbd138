//! Reduces the cases of a cell to one verdict.

use std::time::{Duration, Instant};

use flowmeter_harness::check::watch;
use flowmeter_harness::record::{Proof, Verdict};
use flowmeter_harness::sync::{Exploration, Failure, World};
use serde::{Deserialize, Serialize};

use super::conditions::Condition;
use super::programs::undecided;
use super::{Cell, Explorer, conditions};

/// A verdict and, of a failure, its evidence.
#[derive(Debug, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict, as records have it.
    pub proof: Proof,
    /// Which case failed, if one did.
    pub failing: Option<FailingCase>,
    /// The checks that failed in that execution: none where the world itself found the failure.
    pub spoke: Vec<String>,
}

/// Which of a cell's cases failed, and how.
#[derive(Debug, Serialize, Deserialize)]
pub struct FailingCase {
    /// The name of the case.
    pub case: String,
    /// How its threads shared the machine.
    pub condition: Condition,
    /// What failed, and its schedule.
    pub failure: Failure,
}

/// Explores the cases of a cell in turn, each with its share of the budget, until one fails. In the std
/// world each runs once at least, even when the budget is used up. Loom proves by exhausting a space: where
/// the budget ends before the space does, the verdict is [`Verdict::Inconclusive`].
pub fn judge<W: World>(cell: &Cell, budget: &Exploration) -> Proof {
    judge_closely(&Explorer::of::<W>(), cell, budget).proof
}

/// As [`judge`]; a failure with all that is known of it.
pub fn judge_closely(explorer: &Explorer, cell: &Cell, budget: &Exploration) -> Judgement {
    let began = Instant::now();
    let mut proof = Proof {
        implementation: cell.who.name.to_owned(),
        property: cell.property.name.to_owned(),
        world: explorer.world.to_owned(),
        verdict: if cell.cases.is_empty() {
            Verdict::Unclaimed
        } else {
            Verdict::Pass
        },
        complete: !cell.cases.is_empty(),
        executions: 0,
        seconds: 0.0,
        counterexample: None,
        detail: None,
        replay: None,
    };
    let mut failing = None;
    for (index, case) in cell.cases.iter().enumerate() {
        let left = budget.time.saturating_sub(began.elapsed());
        // A space that is not exhausted proves nothing, so no case is cut short for the next.
        let share = match explorer.world {
            "loom" => left,
            _ => left / (cell.cases.len() - index) as u32,
        };
        let plan = Exploration {
            time: share,
            ..budget.clone()
        };
        let mut outcome = conditions::explore(explorer, &plan, case);
        if outcome.explored.executions == 0 && budget.executions > 0 && explorer.world == "std" {
            // Earlier cases have used up the time. One execution is cheap here, and says more than none. Where
            // schedules are explored it would say nothing.
            let once = Exploration {
                executions: 1,
                time: Duration::MAX,
                ..budget.clone()
            };
            outcome = conditions::explore(explorer, &once, case);
        }
        let explored = outcome.explored;
        proof.executions += explored.executions;
        proof.complete &= explored.complete;
        if let Some(limit) = explored.failure.as_ref().filter(|failure| failure.limit) {
            proof.verdict = Verdict::Inconclusive;
            proof.complete = false;
            proof.detail = Some(format!("{}: the explorer's own limit: {limit}", case.name));
            continue;
        }
        if let Some(failure) = explored.failure {
            proof.verdict = Verdict::Fail;
            proof.complete = false;
            proof.detail = Some(format!("{}{}: {failure}", case.name, outcome.condition));
            failing = Some(FailingCase {
                case: case.name.clone(),
                condition: outcome.condition,
                failure,
            });
            break;
        }
        proof.detail = proof.detail.or(outcome.missed);
        let open = if explored.executions == 0 {
            Some("the budget ended before the first execution".to_owned())
        } else if explorer.world == "loom" && !explored.complete {
            let executions = explored.executions;
            Some(format!(
                "the budget ended before the space, after {executions} executions"
            ))
        } else {
            None
        };
        if let Some(why) = open {
            proof.verdict = Verdict::Inconclusive;
            proof.detail = Some(format!("{}: {why}", case.name));
        }
    }
    let open = undecided();
    if open > 0 && proof.verdict == Verdict::Pass {
        proof.complete = false;
        proof.detail = Some(format!("{open} histories were too much for the search"));
        if explorer.world == "loom" {
            proof.verdict = Verdict::Inconclusive;
        }
    }
    proof.seconds = began.elapsed().as_secs_f64();
    Judgement {
        proof,
        failing,
        spoke: watch::spoken(),
    }
}
