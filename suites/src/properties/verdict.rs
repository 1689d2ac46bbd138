//! From the cases of a cell to one verdict.

use std::time::Instant;

use flowmeter_harness::record::{Proof, Verdict};
use flowmeter_harness::sync::{Exploration, World};

use super::Cell;

/// Explores the cases of a cell in turn, each with its share of the budget, until one fails.
pub fn judge<W: World>(cell: &Cell, budget: &Exploration) -> Proof {
    let began = Instant::now();
    let mut proof = Proof {
        implementation: cell.who.name.to_owned(),
        property: cell.property.name.to_owned(),
        world: W::NAME.to_owned(),
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
    for (index, case) in cell.cases.iter().enumerate() {
        let left = budget.time.saturating_sub(began.elapsed());
        let plan = Exploration {
            time: left / (cell.cases.len() - index) as u32,
            ..budget.clone()
        };
        let model = case.model.clone();
        let explored = W::explore(&plan, move || model());
        proof.executions += explored.executions;
        proof.complete &= explored.complete;
        if let Some(failure) = explored.failure {
            proof.verdict = Verdict::Fail;
            proof.complete = false;
            proof.detail = Some(format!("{}: {failure}", case.name));
            break;
        }
        if explored.executions == 0 {
            proof.verdict = Verdict::Inconclusive;
            proof.detail = Some(format!(
                "{}: the budget ended before the first execution",
                case.name
            ));
        }
    }
    proof.seconds = began.elapsed().as_secs_f64();
    proof
}
