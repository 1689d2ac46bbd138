//! M14: no value passes twice in a row.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! a: 0, 0, 1, 0, closed
//! passes 0, 0, 1, 0: the second 0 equals the one before
//! passes 0, 1: the last 0 does not equal the one before
//! ```

use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, ended_source, first_of_one, goes_on,
    room, taken_ahead, took_ahead, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m14-unique",
    statement: "Values that equal the one before are dropped; all others pass in order.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    vec![
        Case::new("some alike", move || {
            passes(f, &[0, 0, 1, 1, 0], &[0, 1, 0])
        }),
        Case::new("no values", move || passes(f, &[], &[])),
        Case::new("a value that none follows yet", move || {
            let first = first_of_one(f, |go, from| f.unique(go, from, room(1)));
            holds_eq!(first, Ok(7), "M14: the first value, before another came");
        }),
        Case::new("an output without takes", move || {
            let taken = taken_ahead(f, |go, from| f.unique(go, from, room(1)));
            holds!(
                took_ahead(taken, 2),
                "M14: {taken} values were taken where there is room for one"
            );
        }),
        Case::new("an output that is closed", move || {
            let accepted = goes_on(f, |go, from| f.unique(go, from, room(1)));
            holds_eq!(
                accepted,
                [true; 3],
                "M14: it stopped taking where its output was closed"
            );
        }),
    ]
}

fn passes(f: Combinators, values: &'static [u32], expected: &[u32]) {
    let seen = with_executor(f, |go| {
        let from = ended_source(f, values);
        all(f.unique(go, from, room(1)))
    });
    holds_eq!(
        seen,
        expected,
        "M14: not each but those like the one before"
    );
}
