//! M12: a map joins the first values of all its sources, then the second ones, until one of them has ended.

use flowmeter_harness::channel::Channels;
use flowmeter_harness::combinator::Combinators;

use super::{
    Case, NOTHING, Property, Reliance, Stage, all, all_in_time, ended_source, fault, first_of_one,
    goes_on, open, put, room, taken_ahead, took_ahead, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m12-map",
    statement: "One value of each source makes one result, in order; the output closes once a source has ended.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("three sources", three::<S>),
        Case::new("sources that go on", go_on::<S>),
        Case::new("no sources", none::<S>),
        Case::new("a source that ends beside an idle one", one_ends::<S>),
        Case::new("a value that none follows yet", || {
            let first =
                first_of_one::<S, u32>(|go, from| S::F::map(go, vec![from], room(1), joined));
            holds_eq!(
                first,
                Ok(7),
                "M12: the first result, before another value came"
            );
        }),
        Case::new("an output that nobody takes from", || {
            let taken =
                taken_ahead::<S, u32>(|go, from| S::F::map(go, vec![from], room(1), joined));
            holds!(
                took_ahead::<S>(taken, 2),
                "M12: {taken} values were taken where there is room for one"
            );
        }),
        Case::new("an output that is closed", || {
            let accepted = goes_on::<S, u32>(|go, from| S::F::map(go, vec![from], room(1), joined));
            holds_eq!(
                accepted,
                [true; 3],
                "M12: a map stopped taking where its output was closed"
            );
        }),
    ];
    if S::has_panics() {
        cases.push(Case::new("a function that panics", panicking::<S>));
    }
    cases
}

/// The values as digits, so that their order is seen.
fn joined(values: Vec<u32>) -> u32 {
    values
        .into_iter()
        .fold(0, |digits, digit| digits * 10 + digit)
}

fn three<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let sources: [&[u32]; 3] = [&[1, 2, 3], &[4, 5], &[6, 7, 8]];
        let sources = sources.map(|values| ended_source::<S>(values));
        all::<S, u32>(S::F::map(go, sources.into(), room(1), joined))
    });
    holds_eq!(
        seen,
        [146, 257],
        "M12: not a result of each first, each second value"
    );
}

/// The second source has something before the first.
fn go_on<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let (mut first, from) = open::<S, u32>(room(1));
        let (mut second, also_from) = open::<S, u32>(room(1));
        let results = S::F::map(go, vec![from, also_from], room(1), joined);
        put::<S>(&mut second, 4);
        put::<S>(&mut first, 1);
        S::C::close(&first);
        all::<S, u32>(results)
    });
    holds_eq!(seen, [14], "M12: not a result of each first value");
}

fn none<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let results = S::F::map::<u32, u32>(go, Vec::new(), room(1), joined);
        all::<S, u32>(results)
    });
    holds_eq!(seen, NOTHING, "M12: a result of nothing");
}

/// A take that waits is called off, and leaves its source as it was.
fn one_ends<S: Stage>() {
    let (seen, refused) = with_executor::<S, _>(|go| {
        let (mut idle, waits) = open::<S, u32>(room(1));
        let sources = vec![waits, ended_source::<S>(&[])];
        let seen = all::<S, u32>(S::F::map(go, sources, room(1), joined));
        // It may be on its way out, with the source still in its hands: one has room then.
        let refused = !put::<S>(&mut idle, 0) || !put::<S>(&mut idle, 1);
        (seen, refused)
    });
    holds_eq!(
        (seen, refused),
        (Vec::new(), true),
        "M12: a map that has ended made something, or took from a source"
    );
}

fn panicking<S: Stage>() {
    let (seen, panics) = with_a_panic::<S, _>(|go| {
        let sources = vec![ended_source::<S>(&[1])];
        let results = S::F::map::<u32, u32>(go, sources, room(1), |_| fault());
        all_in_time::<S, u32>(results)
    });
    holds_eq!(
        (seen, panics),
        (Some(Vec::new()), 1),
        "M12: what comes of a panic, which ends it and is counted"
    );
}
