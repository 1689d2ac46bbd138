//! M13: the first n values pass, and not one more is taken.

use flowmeter_harness::channel::Polled;
use flowmeter_harness::combinator::Combinators;

use super::{
    Case, Property, Reliance, Stage, all, another, ended_source, first_of_one, goes_on, lying,
    room, source, taken_ahead, took_ahead, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m13-take",
    statement: "The first n values pass in order, none further is taken, and the output closes behind them.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    vec![
        Case::new("fewer than there are", || first::<S>(2)),
        Case::new("none", || first::<S>(0)),
        Case::new("more than there are", more::<S>),
        Case::new("more than there are yet", || {
            let first = first_of_one::<S, u32>(|go, from| S::F::take(go, 2, from, room(1)));
            holds_eq!(first, Ok(7), "M13: the first of two, before the other came");
        }),
        Case::new("an output that nobody takes from", || {
            let taken = taken_ahead::<S, u32>(|go, from| S::F::take(go, 4, from, room(1)));
            holds!(
                took_ahead::<S>(taken, 2),
                "M13: {taken} values were taken where there is room for one"
            );
        }),
        Case::new("an output that is closed", || {
            let accepted = goes_on::<S, u32>(|go, from| S::F::take(go, 2, from, room(1)));
            holds_eq!(
                accepted,
                [true, true, false],
                "M13: which values were taken, of which two were asked for, where the output was closed"
            );
        }),
    ]
}

fn first<S: Stage>(count: usize) {
    const VALUES: [u32; 3] = [0, 1, 2];
    let (seen, (left, rest)) = with_executor::<S, _>(|go| {
        let (_open, from) = source::<S>(&VALUES);
        let mut left = another::<S>(&from);
        let taken = S::F::take::<u32>(go, count, from, room(1));
        (all::<S, u32>(taken), lying::<S>(&mut left))
    });
    let (passed, others) = VALUES.split_at(count);
    holds_eq!(
        (&*seen, &*left, rest),
        (passed, others, Polled::WouldWait),
        "M13: not the first values, with the others left"
    );
}

fn more<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let from = ended_source::<S>(&[0, 1]);
        all::<S, u32>(S::F::take(go, 3, from, room(1)))
    });
    holds_eq!(seen, [0, 1], "M13: not all that there was");
}
