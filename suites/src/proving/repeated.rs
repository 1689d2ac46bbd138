//! A cell without an answer is repeated alone, twice, before it counts as hung, which is a failure: on a busy machine a
//! correct implementation may take longer than the time limit.

use std::iter;

use flowmeter_records::Verdict;

use crate::properties::Judgement;

/// How often a cell is repeated.
const REPETITIONS: usize = 2;

/// The result of a cell with that first attempt. `alone` attempts it once more, with no other cell beside it.
///
/// A failure that a repetition finds decides, and so does one that breaks off. A cell that hangs both times has hung.
/// If it hangs one of the two times it is undecided. A cell that passes both times passes, with a note that it hung
/// once.
pub(super) fn decided(first: Judgement, alone: impl FnMut() -> Judgement) -> Judgement {
    if first.proof.verdict != Verdict::Hung {
        return first;
    }
    let mut attempts = vec![first];
    for attempt in iter::repeat_with(alone).take(REPETITIONS) {
        let decides = matches!(attempt.proof.verdict, Verdict::Fail | Verdict::Error);
        attempts.push(attempt);
        if decides {
            break;
        }
    }
    let executions = attempts.iter().map(|it| it.proof.executions).sum();
    let seconds = attempts.iter().map(|it| it.proof.seconds).sum();
    let mut decided = weighed(attempts);
    decided.proof.executions = executions;
    decided.proof.seconds = seconds;
    decided
}

/// One verdict from all attempts, of which the first hung.
fn weighed(mut attempts: Vec<Judgement>) -> Judgement {
    let made = attempts.len();
    let verdicts = || attempts.iter().map(|it| it.proof.verdict);
    let hung = verdicts().filter(|it| *it == Verdict::Hung).count();
    let complete = attempts[1..].iter().all(|it| it.proof.complete);
    let undecided = verdicts().position(|it| it == Verdict::Inconclusive);
    let hang = detail(&attempts[0]);
    let last = attempts.pop().expect("there was one at least");
    match (last.proof.verdict, hung) {
        (Verdict::Fail | Verdict::Error, _) => {
            let detail = detail(&last);
            said(
                last,
                format!("{detail}\n    when it was repeated alone; before that: {hang}"),
            )
        }
        (_, 2..) => {
            let mut first = attempts.swap_remove(0);
            let how_often = if hung == made {
                "three times, twice of these alone"
            } else {
                first.proof.verdict = Verdict::Inconclusive;
                "twice in three attempts, once of these alone"
            };
            said(first, format!("{hang}, {how_often}"))
        }
        _ => {
            // The last of the unfinished ones, or the last of those that passed.
            let mut answered = match undecided {
                Some(index) if index < attempts.len() => attempts.swap_remove(index),
                _ => last,
            };
            answered.proof.complete = complete;
            let more = answered.proof.detail.iter();
            let more: String = more.map(|why| format!("; {why}")).collect();
            let held = match answered.proof.verdict {
                Verdict::Pass => "it held twice when it was repeated alone",
                _ => "it answered when it was repeated alone",
            };
            said(answered, format!("{hang}, once; {held}{more}"))
        }
    }
}

fn detail(judgement: &Judgement) -> String {
    judgement.proof.detail.clone().unwrap_or_default()
}

fn said(mut judgement: Judgement, detail: String) -> Judgement {
    judgement.proof.detail = Some(detail);
    judgement
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use flowmeter_records::Proof;

    use super::*;
    use crate::properties::{Condition, FailingCase};

    const HANG: &str = "fixed(2) on one core: no answer within 12 s";

    fn judgement(verdict: Verdict, detail: Option<&str>) -> Judgement {
        let failing = (verdict == Verdict::Fail).then(|| FailingCase {
            case: "fixed(2)".to_owned(),
            condition: Condition::Free,
            failure: "C1: a value was lost".to_owned().into(),
        });
        Judgement {
            proof: Proof {
                implementation: "mutex".to_owned(),
                property: "c1-conservation".to_owned(),
                world: "std".to_owned(),
                verdict,
                complete: verdict == Verdict::Pass,
                executions: 5,
                seconds: 2.0,
                counterexample: None,
                detail: detail.map(str::to_owned),
                replay: None,
                bound: None,
            },
            failing,
            spoke: Vec::new(),
            cut_short: false,
        }
    }

    fn hang() -> Judgement {
        judgement(Verdict::Hung, Some(HANG))
    }

    /// The result of a hang and these repetitions, and how many of them were needed.
    fn after_a_hang(repetitions: impl IntoIterator<Item = Judgement>) -> (Judgement, usize) {
        let mut left: VecDeque<Judgement> = repetitions.into_iter().collect();
        let all = left.len();
        let decided = decided(hang(), || left.pop_front().expect("twice at most"));
        (decided, all - left.len())
    }

    #[test]
    fn only_a_hang_is_repeated() {
        for verdict in [
            Verdict::Pass,
            Verdict::Fail,
            Verdict::Inconclusive,
            Verdict::Error,
        ] {
            let first = judgement(verdict, None);
            let decided = decided(first, || panic!("{verdict:?} was repeated"));
            assert_eq!(decided.proof.verdict, verdict);
        }
    }

    #[test]
    fn three_hangs_are_a_hang_and_it_says_where() {
        let (Judgement { proof, .. }, _) = after_a_hang([hang(), hang()]);
        assert_eq!(proof.verdict, Verdict::Hung);
        let told = format!("{HANG}, three times, twice of these alone");
        assert_eq!(proof.detail, Some(told));
        assert_eq!((proof.executions, proof.seconds), (15, 6.0));
    }

    #[test]
    fn one_more_hang_leaves_it_undecided() {
        let held = || judgement(Verdict::Pass, None);
        for repetitions in [[hang(), held()], [held(), hang()]] {
            let (Judgement { proof, .. }, _) = after_a_hang(repetitions);
            assert_eq!(proof.verdict, Verdict::Inconclusive);
            let told = format!("{HANG}, twice in three attempts, once of these alone");
            assert_eq!(proof.detail, Some(told));
        }
    }

    #[test]
    fn a_failure_decides_and_keeps_its_counterexample() {
        let fails = || judgement(Verdict::Fail, Some("fixed(2): C1: a value was lost"));
        let (first, repeated) = after_a_hang([fails(), hang()]);
        assert_eq!(repeated, 1, "nothing is left to decide");
        let (second, _) = after_a_hang([hang(), fails()]);
        for Judgement { proof, failing, .. } in [first, second] {
            assert_eq!(proof.verdict, Verdict::Fail);
            let failing = failing.expect("what failed is kept");
            assert_eq!(failing.failure.message, "C1: a value was lost");
            let detail = proof.detail.expect("it says what failed");
            assert!(
                detail.starts_with("fixed(2): C1: a value was lost\n"),
                "{detail}"
            );
            assert!(detail.contains(HANG), "{detail}");
        }
    }

    #[test]
    fn what_breaks_off_when_it_is_repeated_has_broken_off() {
        let aborts = judgement(Verdict::Error, Some("the process ended (signal: 6)"));
        let (Judgement { proof, .. }, _) = after_a_hang([hang(), aborts]);
        assert_eq!(proof.verdict, Verdict::Error);
        let detail = proof.detail.expect("it says how");
        assert!(detail.starts_with("the process ended (signal: 6)\n"));
        assert!(detail.contains(HANG), "{detail}");
    }

    #[test]
    fn what_holds_twice_alone_passes_and_says_that_it_hung() {
        let held = || judgement(Verdict::Pass, None);
        let (Judgement { proof, .. }, _) = after_a_hang([held(), held()]);
        assert_eq!((proof.verdict, proof.complete), (Verdict::Pass, true));
        let told = format!("{HANG}, once; it held twice when it was repeated alone");
        assert_eq!(proof.detail, Some(told));

        let missed = judgement(Verdict::Pass, Some("not on one core: refused"));
        let (Judgement { proof, .. }, _) = after_a_hang([held(), missed]);
        let detail = proof.detail.expect("it says so");
        assert!(detail.ends_with("; not on one core: refused"), "{detail}");
    }

    #[test]
    fn a_search_that_came_to_no_end_is_no_pass() {
        let open = || judgement(Verdict::Inconclusive, Some("the budget ended first"));
        let held = || judgement(Verdict::Pass, None);
        for repetitions in [[open(), held()], [held(), open()]] {
            let (Judgement { proof, .. }, _) = after_a_hang(repetitions);
            assert_eq!(proof.verdict, Verdict::Inconclusive);
            let detail = proof.detail.expect("it says why");
            assert!(detail.contains(HANG), "{detail}");
            assert!(detail.contains("the budget ended first"), "{detail}");
        }
    }
}
