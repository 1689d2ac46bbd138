//! M13: the first n values pass, and no further one is taken.
//!
//! The smallest history that violates it:
//!
//! ```text
//! n = 2, a holds 0, 1, 2
//! passes 0 and 1, and a is empty: the 2 was taken
//! ```

use flowmeter_harness::channel::Polled;

use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, another, ended_source, first_of_one,
    goes_on, lying, room, source, taken_ahead, took_ahead, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m13-take",
    statement: "The first n values pass in order, none further is taken, and the output closes behind them.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    vec![
        Case::new("fewer than there are", move || first(f, 2)),
        Case::new("none", move || first(f, 0)),
        Case::new("more than there are", move || more(f)),
        Case::new("more than there are yet", move || {
            let first = first_of_one(f, |go, from| f.take(go, 2, from, room(1)));
            holds_eq!(first, Ok(7), "M13: the first of two, before the other came");
        }),
        Case::new("an output without takes", move || {
            let taken = taken_ahead(f, |go, from| f.take(go, 4, from, room(1)));
            holds!(
                took_ahead(taken, 2),
                "M13: {taken} values were taken where there is room for one"
            );
        }),
        Case::new("an output that is closed", move || {
            let accepted = goes_on(f, |go, from| f.take(go, 2, from, room(1)));
            holds_eq!(
                accepted,
                [true, true, false],
                "M13: which values were taken, of which two were asked for, where the output was closed"
            );
        }),
    ]
}

fn first(f: Combinators, count: usize) {
    const VALUES: [u32; 3] = [0, 1, 2];
    let (seen, (left, rest)) = with_executor(f, |go| {
        let (_open, from) = source(f, &VALUES);
        let mut left = another(&from);
        let taken = f.take(go, count, from, room(1));
        (all(taken), lying(&mut left))
    });
    let (passed, others) = VALUES.split_at(count);
    holds_eq!(
        (&*seen, &*left, rest),
        (passed, others, Polled::WouldWait),
        "M13: not the first values, with the others left"
    );
}

fn more(f: Combinators) {
    let seen = with_executor(f, |go| {
        let from = ended_source(f, &[0, 1]);
        all(f.take(go, 3, from, room(1)))
    });
    holds_eq!(seen, [0, 1], "M13: not all that there was");
}
