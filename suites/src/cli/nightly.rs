//! `check --hours`: the same cells again, with other seeds, until the time is over.

use std::time::Instant;

use flowmeter_records::{Proof, Verdict};

use super::verdicts::Judged;
use crate::descriptions::Owed;

/// Repeats the cells that may still fail, one seed after the other. `prove` is given a cell and how far its seed is from
/// the first one. `tell` is given each cell after a repetition, and whether its verdict is another one now.
pub(super) fn repeat(
    judged: &mut [Judged],
    until: Instant,
    prove: impl Fn(&Owed, u64) -> Proof,
    mut tell: impl FnMut(&Proof, u64, bool),
) {
    for round in 1.. {
        let mut repeated = false;
        for (cell, proof) in judged.iter_mut().filter(|(_, proof)| may_fail(proof)) {
            if Instant::now() >= until {
                return;
            }
            let before = proof.verdict;
            join(proof, prove(cell, round));
            tell(proof, round, proof.verdict != before);
            repeated = true;
        }
        if !repeated {
            return;
        }
    }
}

/// Whether other executions could find something: not if there are none.
fn may_fail(proof: &Proof) -> bool {
    let is_open = matches!(
        proof.verdict,
        Verdict::Pass | Verdict::Inconclusive | Verdict::NotPromisedUnbroken
    );
    is_open && proof.executions > 0 && !proof.complete
}

/// Adds a repetition. The worse verdict stays, with all that belongs to it, unless the repetition exhausted the space.
fn join(proof: &mut Proof, again: Proof) {
    let (executions, seconds) = (proof.executions, proof.seconds);
    let bound = proof.bound.take();
    let is_worse = !matches!(again.verdict, Verdict::Pass | Verdict::NotPromisedUnbroken);
    if (is_worse || again.complete) && proof.verdict != again.verdict {
        *proof = Proof {
            bound: None,
            ..again.clone()
        };
    }
    proof.executions = executions + again.executions;
    proof.seconds = seconds + again.seconds;
    proof.complete |= again.complete;
    proof.bound = match (bound, again.bound) {
        (Some(mut bound), Some(again)) => {
            bound.fewest += again.fewest;
            bound.executions = bound.executions.zip(again.executions).map(|(a, b)| a + b);
            bound.seeds += again.seeds;
            Some(bound)
        }
        (one, other) => one.or(other),
    };
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flowmeter_records::Bound;

    use super::*;
    use crate::descriptions::Due;
    use crate::properties::PROPERTIES;

    fn proof(verdict: Verdict, seed: u64) -> Proof {
        Proof {
            implementation: "one".to_owned(),
            property: PROPERTIES[0].name.to_owned(),
            world: "shuttle".to_owned(),
            verdict,
            complete: false,
            executions: 20,
            seconds: 0.5,
            counterexample: None,
            detail: (verdict != Verdict::Pass).then(|| format!("seen with seed {seed}")),
            replay: None,
            bound: Some(Bound {
                cases: 2,
                fewest: 10,
                executions: Some(10),
                preemptions: None,
                seed,
                seeds: 1,
            }),
        }
    }

    /// A cell whose verdicts are those, one a seed, and the last one for ever.
    fn repeated(verdicts: &[Verdict]) -> (Proof, u64) {
        let cell = Owed {
            implementation: "one",
            property: PROPERTIES[0],
            world: "shuttle",
            due: Due::Owed,
        };
        let mut judged = [(cell, proof(verdicts[0], 0))];
        let mut rounds = 0;
        let until = Instant::now() + Duration::from_secs(3_600);
        let prove = |_: &Owed, round: u64| {
            let verdict = verdicts.get(round as usize).copied();
            proof(verdict.unwrap_or(Verdict::Fail), round)
        };
        repeat(&mut judged, until, prove, |_, _, _| rounds += 1);
        let [(_, proof)] = judged;
        (proof, rounds)
    }

    #[test]
    fn cells_are_repeated_until_they_fail() {
        let (proof, rounds) = repeated(&[Verdict::Pass, Verdict::Pass, Verdict::Fail]);
        assert_eq!((proof.verdict, rounds), (Verdict::Fail, 2));
        assert_eq!(proof.detail.as_deref(), Some("seen with seed 2"));
        assert_eq!((proof.executions, proof.seconds), (60, 1.5));
        let bound = proof.bound.expect("all seeds had one");
        assert_eq!((bound.fewest, bound.seed, bound.seeds), (30, 0, 3));
    }

    #[test]
    fn what_one_seed_left_undecided_does_not_pass() {
        let verdicts = [Verdict::Pass, Verdict::Inconclusive, Verdict::Pass];
        let mut proof_of_two = proof(verdicts[0], 0);
        join(&mut proof_of_two, proof(verdicts[1], 1));
        join(&mut proof_of_two, proof(verdicts[2], 2));
        assert_eq!(proof_of_two.verdict, Verdict::Inconclusive);
        assert_eq!(proof_of_two.detail.as_deref(), Some("seen with seed 1"));
    }

    #[test]
    fn what_cannot_fail_is_not_repeated() {
        for verdict in [Verdict::Unclaimed, Verdict::Fail, Verdict::Hung] {
            assert_eq!(repeated(&[verdict]).1, 0, "{verdict:?}");
        }
    }

    #[test]
    fn a_space_that_was_exhausted_is_not_repeated() {
        assert!(may_fail(&proof(Verdict::Pass, 0)));
        let complete = Proof {
            complete: true,
            ..proof(Verdict::Pass, 0)
        };
        assert!(!may_fail(&complete));
        let mut open_before = proof(Verdict::Inconclusive, 0);
        join(&mut open_before, complete);
        assert_eq!(open_before.verdict, Verdict::Pass);
        assert!(open_before.complete);
    }

    #[test]
    fn the_time_ends_it() {
        let cell = Owed {
            implementation: "one",
            property: PROPERTIES[0],
            world: "shuttle",
            due: Due::Owed,
        };
        let mut judged = [(cell, proof(Verdict::Pass, 0))];
        let never = |_: &Owed, _| unreachable!("there is no time");
        repeat(&mut judged, Instant::now(), never, |_, _, _| ());
        assert_eq!(judged[0].1.executions, 20);
    }
}
