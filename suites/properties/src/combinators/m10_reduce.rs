//! M10: a channel is folded in order to one result, early where the fold says so.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! a holds 1, 2, 3; the fold ends at 2
//! result 12, and a is empty: the 3 was taken
//! result 21: not in order
//! ```

use std::ops::ControlFlow::{Break, Continue};

use flowmeter_harness::channel::Polled;

use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, all_in_time, another, ended_source,
    fault, has_panics, lying, source, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m10-reduce",
    statement: "A channel is folded in order to one result; where the fold ends early nothing further is taken.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("some values", move || folds(f, &[1, 2, 3], 9123)),
        Case::new("no values", move || folds(f, &[], 9)),
        Case::new("a fold that ends early", move || ends_early(f)),
    ];
    if has_panics() {
        cases.push(Case::new("a fold that panics", move || panicking(f)));
    }
    cases
}

/// Appends a digit, so that a digit in the wrong place shows.
pub(super) fn append(digits: u32, digit: u32) -> u32 {
    digits * 10 + digit
}

fn folds(f: Combinators, values: &'static [u32], expected: u32) {
    let seen = with_executor(f, |go| {
        let from = ended_source(f, values);
        let folded = f.reduce(go, from, 9, |digits, digit| Continue(append(digits, digit)));
        all(folded)
    });
    holds_eq!(seen, [expected], "M10: not the one result");
}

fn ends_early(f: Combinators) {
    let (seen, (left, rest)) = with_executor(f, |go| {
        let (_open, from) = source(f, &[1, 2, 3]);
        let mut left = another(&from);
        let folded = f.reduce(go, from, 9, |digits, digit| match digit {
            2 => Break(append(digits, digit)),
            _ => Continue(append(digits, digit)),
        });
        (all(folded), lying(&mut left))
    });
    holds_eq!(
        (seen, left, rest),
        (vec![912], vec![3], Polled::WouldWait),
        "M10: the result of a fold that ended early, and what is left behind it"
    );
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let from = ended_source(f, &[1]);
        all_in_time(f.reduce(go, from, 9, |_, _| fault()))
    });
    holds_eq!(
        (seen, panics),
        (Some(Vec::new()), 1),
        "M10: what comes of a panic, which ends it and is counted"
    );
}
