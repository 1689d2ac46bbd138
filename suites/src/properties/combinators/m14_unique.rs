//! M14: no value passes twice in a row.

use flowmeter_harness::combinator::Combinators;

use super::{
    Case, Property, Reliance, Stage, all, ended_source, first_of_one, goes_on, room, taken_ahead,
    took_ahead, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m14-unique",
    statement: "Values that equal the one before are dropped; all others pass in order.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    vec![
        Case::new("some alike", || passes::<S>(&[0, 0, 1, 1, 0], &[0, 1, 0])),
        Case::new("no values", || passes::<S>(&[], &[])),
        Case::new("a value that none follows yet", || {
            let first = first_of_one::<S, u32>(|go, from| S::F::unique(go, from, room(1)));
            holds_eq!(first, Ok(7), "M14: the first value, before another came");
        }),
        Case::new("an output that nobody takes from", || {
            let taken = taken_ahead::<S, u32>(|go, from| S::F::unique(go, from, room(1)));
            holds!(
                took_ahead::<S>(taken, 2),
                "M14: {taken} values were taken where there is room for one"
            );
        }),
        Case::new("an output that is closed", || {
            let accepted = goes_on::<S, u32>(|go, from| S::F::unique(go, from, room(1)));
            holds_eq!(
                accepted,
                [true; 3],
                "M14: it stopped taking where its output was closed"
            );
        }),
    ]
}

fn passes<S: Stage>(values: &'static [u32], expected: &[u32]) {
    let seen = with_executor::<S, _>(|go| {
        let from = ended_source::<S>(values);
        all::<S, u32>(S::F::unique(go, from, room(1)))
    });
    holds_eq!(
        seen,
        expected,
        "M14: not each but those like the one before"
    );
}
