//! M10: a channel is folded in order to one result, sooner where the fold says so.

use std::ops::ControlFlow::{Break, Continue};

use flowmeter_harness::channel::Polled;
use flowmeter_harness::combinator::Combinators;

use super::{
    Case, Property, Reliance, Stage, all, all_in_time, another, ended_source, fault, lying, source,
    with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m10-reduce",
    statement: "A channel is folded in order to one result; where the fold ends early nothing further is taken.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("some values", || folds::<S>(&[1, 2, 3], 9123)),
        Case::new("no values", || folds::<S>(&[], 9)),
        Case::new("a fold that ends early", ends_early::<S>),
    ];
    if S::has_panics() {
        cases.push(Case::new("a fold that panics", panicking::<S>));
    }
    cases
}

/// The next digit: one that is out of its place is seen.
pub(super) fn append(digits: u32, digit: u32) -> u32 {
    digits * 10 + digit
}

fn folds<S: Stage>(values: &'static [u32], expected: u32) {
    let seen = with_executor::<S, _>(|go| {
        let from = ended_source::<S>(values);
        let folded =
            S::F::reduce::<u32, u32>(go, from, 9, |digits, digit| Continue(append(digits, digit)));
        all::<S, u32>(folded)
    });
    holds_eq!(seen, [expected], "M10: not the one result");
}

fn ends_early<S: Stage>() {
    let (seen, (left, rest)) = with_executor::<S, _>(|go| {
        let (_open, from) = source::<S>(&[1, 2, 3]);
        let mut left = another::<S>(&from);
        let folded = S::F::reduce::<u32, u32>(go, from, 9, |digits, digit| match digit {
            2 => Break(append(digits, digit)),
            _ => Continue(append(digits, digit)),
        });
        (all::<S, u32>(folded), lying::<S>(&mut left))
    });
    holds_eq!(
        (seen, left, rest),
        (vec![912], vec![3], Polled::WouldWait),
        "M10: the result of a fold that ended early, and what is left behind it"
    );
}

fn panicking<S: Stage>() {
    let (seen, panics) = with_a_panic::<S, _>(|go| {
        let from = ended_source::<S>(&[1]);
        all_in_time::<S, u32>(S::F::reduce::<u32, u32>(go, from, 9, |_, _| fault()))
    });
    holds_eq!(
        (seen, panics),
        (Some(Vec::new()), 1),
        "M10: what comes of a panic, which ends it and is counted"
    );
}
