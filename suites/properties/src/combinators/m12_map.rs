//! M12: a map joins the first values of all its sources, then the second ones, until one source has ended.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! a: 1, 2, closed      b: 3, closed
//! results 13 and 2: the 2 has no partner
//! results 31: the values are not in the order of the sources
//! ```

use super::{
    Case, Cases, Combinators, Design, NOTHING, Property, Reliance, all, all_in_time, ended_source,
    fault, first_of_one, goes_on, has_panics, open, put, room, taken_ahead, took_ahead,
    with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m12-map",
    statement: "One value of each source makes one result, in order; the output closes once a source has ended.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("three sources", move || three(f)),
        Case::new("sources that go on", move || go_on(f)),
        Case::new("no sources", move || none(f)),
        Case::new("a source that ends beside an idle one", move || one_ends(f)),
        Case::new("a value that none follows yet", move || {
            let first = first_of_one(f, |go, from| f.map(go, vec![from], room(1), joined));
            holds_eq!(
                first,
                Ok(7),
                "M12: the first result, before another value came"
            );
        }),
        Case::new("an output without takes", move || {
            let taken = taken_ahead(f, |go, from| f.map(go, vec![from], room(1), joined));
            holds!(
                took_ahead(taken, 2),
                "M12: {taken} values were taken where there is room for one"
            );
        }),
        Case::new("an output that is closed", move || {
            let accepted = goes_on(f, |go, from| f.map(go, vec![from], room(1), joined));
            holds_eq!(
                accepted,
                [true; 3],
                "M12: a map stopped taking where its output was closed"
            );
        }),
    ];
    if has_panics() {
        cases.push(Case::new("a function that panics", move || panicking(f)));
    }
    cases
}

/// The values as digits, so that their order shows.
fn joined(values: Vec<u32>) -> u32 {
    values
        .into_iter()
        .fold(0, |digits, digit| digits * 10 + digit)
}

fn three(f: Combinators) {
    let seen = with_executor(f, |go| {
        let sources: [&[u32]; 3] = [&[1, 2, 3], &[4, 5], &[6, 7, 8]];
        let sources = sources.map(|values| ended_source(f, values));
        all(f.map(go, sources.into(), room(1), joined))
    });
    holds_eq!(
        seen,
        [146, 257],
        "M12: not a result of each first, each second value"
    );
}

/// The second source has a value before the first.
fn go_on(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (mut first, from) = open::<u32>(f, room(1));
        let (mut second, also_from) = open::<u32>(f, room(1));
        let results = f.map(go, vec![from, also_from], room(1), joined);
        put(&mut second, 4);
        put(&mut first, 1);
        first.close();
        all(results)
    });
    holds_eq!(seen, [14], "M12: not a result of each first value");
}

fn none(f: Combinators) {
    let seen = with_executor(f, |go| {
        let results = f.map(go, Vec::new(), room(1), joined);
        all(results)
    });
    holds_eq!(seen, NOTHING, "M12: a result of nothing");
}

/// A waiting take is cancelled, and leaves its source unchanged.
fn one_ends(f: Combinators) {
    let (seen, refused) = with_executor(f, |go| {
        let (mut idle, waits) = open::<u32>(f, room(1));
        let sources = vec![waits, ended_source(f, &[])];
        let seen = all(f.map(go, sources, room(1), joined));
        // The map may just be ending, with the source still in use: then one value has room.
        let refused = !put(&mut idle, 0) || !put(&mut idle, 1);
        (seen, refused)
    });
    holds_eq!(
        (seen, refused),
        (Vec::new(), true),
        "M12: a map that has ended made something, or took from a source"
    );
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let sources = vec![ended_source(f, &[1])];
        let results = f.map(go, sources, room(1), |_| fault());
        all_in_time(results)
    });
    holds_eq!(
        (seen, panics),
        (Some(Vec::new()), 1),
        "M12: what comes of a panic, which ends it and is counted"
    );
}
