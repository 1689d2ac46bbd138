//! M11: the fold gets the output of a transform over the channel, including its completion.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! a holds 1; the transform doubles each value, and completes with 0
//! result 11: the completion is missing
//! result 10: the transform's second value is missing
//! ```

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_harness::channel::{Emit, Polled, Transform};
use flowmeter_harness::sync::world;

use super::m10_reduce::append;
use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, all_in_time, another, ended_source,
    fault, has_panics, is_roomy, lying, source, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m11-transduce",
    statement: "The values that a transform emits are folded, those of its completion too; transform or fold may end early.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("some values", move || folds(f, &[1, 2], 911_220)),
        Case::new("no values", move || folds(f, &[], 90)),
        Case::new("a transform that ends early", move || transform_ends(f)),
        Case::new("a fold that ends early", move || fold_ends(f)),
    ];
    if has_panics() {
        cases.push(Case::new("a transform that panics", move || panicking(f)));
    }
    cases
}

/// Emits each value twice, and a 0 at the end. A 7 ends it, and at an 8 it panics.
struct Twice;

impl Transform<u32> for Twice {
    fn step(&mut self, value: u32, emit: Emit<'_, u32>) -> ControlFlow<()> {
        match value {
            7 => return Break(()),
            8 => fault(),
            _ => {}
        }
        emit(value)?;
        emit(value)
    }

    fn complete(&mut self, emit: Emit<'_, u32>) {
        let _ = emit(0);
    }
}

fn folds(f: Combinators, values: &'static [u32], expected: u32) {
    let seen = with_executor(f, |go| {
        let from = ended_source(f, values);
        let folded = f.transduce(go, from, Twice, 9, |digits, digit| {
            Continue(append(digits, digit))
        });
        all(folded)
    });
    holds_eq!(seen, [expected], "M11: not the one result");
}

/// A transform that ends early is completed too.
fn transform_ends(f: Combinators) {
    let (seen, (left, rest)) = with_executor(f, |go| {
        let (_open, from) = source(f, &[1, 7, 3]);
        let mut left = another(&from);
        let folded = f.transduce(go, from, Twice, 9, |digits, digit| {
            Continue(append(digits, digit))
        });
        (all(folded), lying(&mut left))
    });
    holds_eq!(
        (seen, left, rest),
        (vec![9110], vec![3], Polled::WouldWait),
        "M11: the result of a transform that ended early, and what is left behind it"
    );
}

/// A fold ends at any value that the transform emits, the last of a step among them. Then it is not called again, and
/// nothing more is taken, though the source is open.
fn fold_ends(f: Combinators) {
    const VALUES: [u32; 3] = [1, 2, 3];
    let ends_at = if is_roomy() {
        1 + world::choose(2 * VALUES.len())
    } else {
        1
    };
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let (seen, (left, rest)) = with_executor(f, |go| {
        let (_open, from) = source(f, &VALUES);
        let mut left = another(&from);
        let folded = f.transduce(go, from, Twice, 9, move |digits, digit| {
            let call = 1 + counted.fetch_add(1, Ordering::SeqCst);
            let digits = append(digits, digit);
            match call >= ends_at {
                true => Break(digits),
                false => Continue(digits),
            }
        });
        (all(folded), lying(&mut left))
    });
    let (taken, others) = VALUES.split_at(ends_at.div_ceil(2));
    let emitted = taken.iter().flat_map(|value| [*value; 2]).take(ends_at);
    holds_eq!(
        (seen, &*left, rest),
        (vec![emitted.fold(9, append)], others, Polled::WouldWait),
        "M11: the result of a fold that ended early, and what is left behind it"
    );
    holds_eq!(
        calls.load(Ordering::SeqCst),
        ends_at,
        "M11: calls of a fold that ended early"
    );
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let from = ended_source(f, &[1, 8]);
        let folded = f.transduce(go, from, Twice, 9, |digits, digit| {
            Continue(append(digits, digit))
        });
        all_in_time(folded)
    });
    holds_eq!(
        (seen, panics),
        (Some(Vec::new()), 1),
        "M11: what comes of a panic, which ends it and is counted"
    );
}
