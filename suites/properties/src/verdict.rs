//! Reduces the cases of a cell to one verdict.

use std::time::{Duration, Instant};

use flowmeter_harness::check::watch;
use flowmeter_harness::sync::{Exploration, Explored, Failure, World};
use flowmeter_records::{Bound, Proof, Verdict};
use serde::{Deserialize, Serialize};

use super::conditions::{Condition, Outcome};
use super::{Case, Cell, Explorer, conditions};

/// A verdict and, of a failure, its evidence.
#[derive(Debug, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict, as records have it.
    pub proof: Proof,
    /// Which case failed, if one did.
    pub failing: Option<FailingCase>,
    /// The checks that failed in that execution: none where the world itself found the failure.
    pub spoke: Vec<String>,
    /// Whether it is undecided for one reason only: executions ran out before spaces of loom did.
    pub cut_short: bool,
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

/// Explores the cases of a cell in turn, each with its share of the budget, until one fails. In the std world each runs
/// twice at least, for some time after the budget is used up, and once in any case. What is undecided is never a pass:
/// then the verdict is [`Verdict::Inconclusive`], and says how much was undecided. Loom proves by exhausting a space, so
/// a case with a larger space than the budget is undecided.
pub fn judge<W: World>(cell: &Cell, budget: &Exploration) -> Proof {
    judge_closely(&Explorer::of::<W>(), cell, budget).proof
}

/// How long cases of the std world may run after the budget, so that each runs twice. It is less than the grace of a
/// cell.
const AFTER_THE_BUDGET: Duration = Duration::from_secs(5);

/// As [`judge`]; a failure with all that is known of it.
pub fn judge_closely(explorer: &Explorer, cell: &Cell, budget: &Exploration) -> Judgement {
    let began = Instant::now();
    let mut proof = Proof {
        implementation: cell.implementation.name.to_owned(),
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
        bound: None,
    };
    let mut failing = None;
    let mut open: Vec<String> = Vec::new();
    let mut cut_short = true;
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
        if explorer.world == "std" {
            run_twice(explorer, budget, case, began, &mut outcome);
        }
        let explored = outcome.explored;
        proof.executions += explored.executions;
        proof.complete &= explored.complete;
        extend(&mut proof.bound, explorer, budget, explored.executions);
        if let Some(failure) = explored.failure.clone().filter(|failure| !failure.limit) {
            proof.verdict = Verdict::Fail;
            proof.detail = Some(format!("{}{}: {failure}", case.name, outcome.condition));
            failing = Some(FailingCase {
                case: case.name.clone(),
                condition: outcome.condition,
                failure,
            });
            break;
        }
        proof.detail = proof.detail.or(outcome.missed);
        if let Some(why) = undecided(explorer, budget, &explored) {
            open.push(format!("{}: {why}", case.name));
            cut_short &= ran_out(explorer, budget, &explored);
        }
    }
    if proof.verdict == Verdict::Pass && !open.is_empty() {
        proof.verdict = Verdict::Inconclusive;
        proof.detail = Some(match open.len() {
            1 => open.swap_remove(0),
            some => format!(
                "{some} of {} cases are undecided; {}",
                cell.cases.len(),
                open[0]
            ),
        });
    }
    proof.complete &= proof.verdict == Verdict::Pass;
    proof.seconds = began.elapsed().as_secs_f64();
    Judgement {
        cut_short: cut_short && proof.verdict == Verdict::Inconclusive,
        proof,
        failing,
        spoke: watch::spoken(),
    }
}

/// Repeats a case that ran less than twice because of time. One execution is cheap on real threads. Where schedules are
/// explored it would say nothing.
fn run_twice(
    explorer: &Explorer,
    budget: &Exploration,
    case: &Case,
    began: Instant,
    outcome: &mut Outcome,
) {
    loop {
        let executions = outcome.explored.executions;
        let is_late = began.elapsed() >= budget.time.saturating_add(AFTER_THE_BUDGET);
        let enough = if is_late { 1 } else { 2 };
        if executions >= enough.min(budget.executions) || outcome.explored.failure.is_some() {
            return;
        }
        let once = Exploration {
            executions: 1,
            time: Duration::MAX,
            seed: budget.seed.wrapping_add(executions),
            ..budget.clone()
        };
        let more = conditions::explore(explorer, &once, case);
        if more.explored.executions == 0 {
            return;
        }
        let before = std::mem::replace(outcome, more);
        outcome.explored.executions += before.explored.executions;
        outcome.explored.undecided += before.explored.undecided;
        outcome.missed = before.missed.or(outcome.missed.take());
    }
}

/// Why a case that did not fail is undecided, if it is.
fn undecided(explorer: &Explorer, budget: &Exploration, explored: &Explored) -> Option<String> {
    let executions = explored.executions;
    if let Some(limit) = &explored.failure {
        return Some(format!("the explorer's own limit: {limit}"));
    }
    match explored.undecided {
        0 => {}
        1 => return Some("1 history was too much for the search".to_owned()),
        some => return Some(format!("{some} histories were too much for the search")),
    }
    match explorer.world {
        _ if executions == 0 => Some("the budget ended before the first execution".to_owned()),
        "loom" if !explored.complete => Some(format!(
            "the budget ended before the space, after {executions} executions"
        )),
        "std" if executions == 1 && budget.executions > 1 => {
            Some("it ran only once, since the budget ended".to_owned())
        }
        _ => None,
    }
}

/// Whether a case that is undecided only needs more executions to exhaust its space.
fn ran_out(explorer: &Explorer, budget: &Exploration, explored: &Explored) -> bool {
    explorer.world == "loom"
        && explored.failure.is_none()
        && explored.undecided == 0
        && explored.executions >= budget.executions
}

/// Adds a case that was explored in so many executions.
fn extend(bound: &mut Option<Bound>, explorer: &Explorer, budget: &Exploration, executions: u64) {
    let bound = bound.get_or_insert_with(|| Bound {
        cases: 0,
        fewest: u64::MAX,
        executions: (budget.executions < u64::MAX).then_some(budget.executions),
        preemptions: budget
            .preemptions
            .filter(|_| explorer.world == "loom")
            .map(|n| n as u64),
        seed: budget.seed,
        seeds: 1,
    });
    bound.cases += 1;
    bound.fewest = bound.fewest.min(executions);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use flowmeter_harness::caps::{Capabilities, Kind, Origin};
    use flowmeter_harness::registry::Registered;
    use flowmeter_harness::sync::loom::Loom;
    use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
    use flowmeter_harness::sync::std::Std;

    use super::*;
    use crate::PROPERTIES;

    /// A cell of those cases.
    pub(crate) fn cell(cases: Vec<Case>) -> Cell {
        Cell {
            implementation: Registered {
                name: "one",
                kind: Kind::Channel,
                origin: Origin::Own,
                version: String::new(),
                capabilities: Capabilities::default(),
                reference: false,
                family: "",
            },
            property: PROPERTIES[0],
            cases,
            not_promised: Vec::new(),
        }
    }

    fn plan() -> Exploration {
        Exploration {
            executions: 20,
            ..Exploration::default()
        }
    }

    fn an_undecidable_history_is_no_pass<W: World>() {
        let sound = || Case::new("sound", || {});
        let proof = judge::<W>(&cell(vec![sound()]), &plan());
        assert_eq!(proof.verdict, Verdict::Pass, "{}: {proof:?}", W::NAME);
        let cases = vec![crate::programs::undecidable(W::NAME), sound()];
        let proof = judge::<W>(&cell(cases), &plan());
        assert_eq!(
            proof.verdict,
            Verdict::Inconclusive,
            "{}: {proof:?}",
            W::NAME
        );
        assert!(!proof.complete, "{}", W::NAME);
        let detail = proof.detail.expect("it says how many");
        assert!(detail.contains("too much for the search"), "{detail}");
    }

    #[test]
    fn no_world_passes_a_history_that_its_judge_cannot_decide() {
        an_undecidable_history_is_no_pass::<Std>();
        an_undecidable_history_is_no_pass::<Shuttle>();
        an_undecidable_history_is_no_pass::<Loom>();
        an_undecidable_history_is_no_pass::<Sim>();
    }

    #[test]
    fn a_failure_counts_more_than_what_is_undecided() {
        let fails = Case::new("fails", || panic!("C1: lost"));
        let cases = vec![crate::programs::undecidable(Std::NAME), fails];
        let proof = judge::<Std>(&cell(cases), &plan());
        assert_eq!(proof.verdict, Verdict::Fail);
    }

    /// A model that uses up all time, and how often it ran.
    fn slow(time: Duration) -> (Case, Arc<AtomicU64>) {
        let runs = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&runs);
        let case = Case::new("slow", move || {
            counted.fetch_add(1, Ordering::Relaxed);
            let began = Instant::now();
            while began.elapsed() < time {
                thread::yield_now();
            }
        });
        (case, runs)
    }

    #[test]
    fn a_case_runs_twice_after_the_budget_has_ended() {
        let (case, runs) = slow(Duration::from_millis(2));
        let short = Exploration {
            time: Duration::from_millis(1),
            ..plan()
        };
        let proof = judge::<Std>(&cell(vec![case]), &short);
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        assert_eq!(proof.verdict, Verdict::Pass, "{proof:?}");
        let bound = proof.bound.expect("it was explored");
        assert_eq!((bound.cases, bound.fewest), (1, 2));
        assert_eq!(
            bound.to_string(),
            format!(
                "1 case, 2 executions of each at least and 20 at most, seed {}",
                short.seed
            )
        );
    }

    #[test]
    fn a_case_that_ran_once_because_of_time_is_undecided() {
        let once = Explored {
            executions: 1,
            complete: false,
            undecided: 0,
            failure: None,
        };
        let why = |plan: &Exploration| undecided(&Explorer::of::<Std>(), plan, &once);
        assert!(why(&plan()).is_some_and(|why| why.contains("only once")));
        let asked = Exploration {
            executions: 1,
            ..plan()
        };
        assert_eq!(why(&asked), None, "one was all that was asked");
    }

    #[test]
    fn only_a_space_that_is_larger_than_the_executions_is_cut_short() {
        let once = Exploration {
            executions: 1,
            ..plan()
        };
        let seen = |undecided, failure: Option<&str>| Explored {
            executions: 1,
            complete: false,
            undecided,
            failure: failure.map(|why| why.to_owned().into()),
        };
        let loom = Explorer::of::<Loom>();
        assert!(ran_out(&loom, &once, &seen(0, None)));
        assert!(!ran_out(&loom, &once, &seen(1, None)), "a hard history");
        assert!(!ran_out(&loom, &once, &seen(0, Some("too many branches"))));
        assert!(!ran_out(&loom, &plan(), &seen(0, None)), "the time ended");
        assert!(!ran_out(&Explorer::of::<Std>(), &once, &seen(0, None)));
    }

    #[test]
    fn a_space_under_loom_is_complete_within_its_preemptions() {
        let proof = judge::<Loom>(&cell(vec![Case::new("sound", || {})]), &plan());
        assert!(proof.complete, "{proof:?}");
        let bound = proof.bound.expect("it was explored").to_string();
        assert!(bound.contains("within 2 preemptions"), "{bound}");
    }
}
