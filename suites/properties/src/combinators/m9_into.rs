//! M9: all values of a channel are added to a collection, which is the one result.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! a: 1, 2, closed; the collection holds 0
//! result [1, 2, 0] or [0, 2, 1]    not in order behind what it held
//! results [0, 1], [0, 1, 2]        more than one
//! ```

use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, all_in_time, ended_source, fault,
    has_panics, open, put, room, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m9-into",
    statement: "A channel is collected in order, after what the collection held, and the result is given once.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("some values", move || collects(f, &[1, 2])),
        Case::new("no values", move || collects(f, &[])),
        Case::new("a source that goes on", move || goes_on(f)),
    ];
    if has_panics() {
        cases.push(Case::new("a collection that panics", move || panicking(f)));
    }
    cases
}

fn collects(f: Combinators, values: &'static [u32]) {
    let seen = with_executor(f, |go| {
        let from = ended_source(f, values);
        all(f.collect(go, vec![0], from))
    });
    let expected = [&[0], values].concat();
    holds_eq!(seen, [expected], "M9: not the one collection");
}

fn goes_on(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let collected = f.collect(go, Vec::new(), from);
        put(&mut tx, 0);
        put(&mut tx, 1);
        tx.close();
        all(collected)
    });
    holds_eq!(seen, [[0, 1]], "M9: not the one collection");
}

/// A collection that panics when it is extended.
struct Faulty;

impl Extend<u32> for Faulty {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, _values: I) {
        fault()
    }
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let from = ended_source(f, &[0]);
        let collected = all_in_time(f.collect(go, Faulty, from));
        collected.map(|collected| collected.len())
    });
    holds_eq!(
        (seen, panics),
        (Some(0), 1),
        "M9: what comes of a panic, which ends it and is counted"
    );
}
