//! The search on random executions of the specification and on corruptions of them.

use super::brute::enumerate;
use crate::check::dual::generate::{Dice, corrupt, execute};
use crate::check::dual::search::{Found, Search};
use crate::check::dual::{Verdict, judge};
use crate::history::History;
use crate::spec::Rules;

const BUDGET: u64 = 2_000_000;

/// How many small histories are compared.
const SMALL: u64 = 1_500;

#[test]
fn executions_of_the_specification_are_legal() {
    for rules in [Rules::STRICT, Rules::WEAK] {
        for seed in 0..300 {
            let mut dice = Dice::new(seed);
            let count = 1 + dice.below(24);
            let history = execute(&mut dice, count, rules);
            match judge(&history, rules, BUDGET) {
                Verdict::Legal => {}
                Verdict::Illegal(counterexample) => {
                    panic!("seed {seed} {rules:?}\n{counterexample}")
                }
                Verdict::Inconclusive(why) => panic!("seed {seed} {rules:?}: {why}"),
            }
        }
    }
}

#[test]
fn the_search_equals_enumeration_on_executions_and_corruptions_of_them() {
    let mut legal = 0;
    for seed in 0..SMALL {
        let mut dice = Dice::new(seed | 1 << 57);
        let rules = dice.pick(&[Rules::STRICT, Rules::WEAK]);
        let count = 2 + dice.below(4);
        let mut history = execute(&mut dice, count, rules);
        for _ in 0..dice.below(3) {
            corrupt(&mut dice, &mut history);
        }
        history.quiescent &= dice.below(2) == 0;
        let expected = enumerate(&history, rules);
        let found = Search::new(&history, rules, BUDGET).run();
        let text = crate::history::columns(&history);
        assert_eq!(
            found == Found::Explained,
            expected,
            "seed {seed} {rules:?}\n{text}"
        );
        legal += u64::from(expected);
    }
    println!("{legal} legal of {SMALL}");
    assert!((SMALL / 10..SMALL * 9 / 10).contains(&legal), "{legal}");
}

#[test]
fn most_corruptions_of_one_answer_are_found() {
    let (mut found, mut tried, mut unknown) = (0, 0, 0);
    for seed in 0..2_000 {
        let mut dice = Dice::new(seed | 1 << 60);
        let count = 4 + dice.below(12);
        let mut history = execute(&mut dice, count, Rules::STRICT);
        if !corrupt(&mut dice, &mut history) {
            continue;
        }
        tried += 1;
        match judge(&history, Rules::STRICT, BUDGET) {
            Verdict::Legal => {}
            Verdict::Illegal(_) => found += 1,
            Verdict::Inconclusive(_) => unknown += 1,
        }
    }
    println!("{found} of {tried} corrupted histories are illegal, {unknown} not decided");
    assert!(tried > 300 && found * 10 > tried * 7, "{found} of {tried}");
}

/// Asserts what no other test does: histories of 40 operations of any kind, legal or not, are decided within the
/// budget.
#[test]
fn histories_of_forty_operations_are_decided() {
    for seed in 0..100 {
        let mut dice = Dice::new(seed | 1 << 59);
        let mut history = execute(&mut dice, 40, Rules::STRICT);
        let verdict = |history: &History| judge(history, Rules::STRICT, BUDGET);
        let legal = verdict(&history);
        assert!(matches!(legal, Verdict::Legal), "seed {seed}: {legal:?}");
        corrupt(&mut dice, &mut history);
        if let Verdict::Inconclusive(why) = verdict(&history) {
            panic!("seed {seed}, corrupted: {why}");
        }
    }
}
