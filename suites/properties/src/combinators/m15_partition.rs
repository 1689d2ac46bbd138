//! M15: values in groups, of one size or of consecutive values with one key. The last group has the rest.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! a: 1, 2, 3, closed; groups of two
//! passes [1, 2]: the rest is missing
//!
//! a: 1, 2, open; groups of two
//! passes nothing: the full group waits for the value after it
//! ```

use std::num::NonZeroUsize;

use super::{
    Case, Cases, Combinators, Design, Property, Reliance, Rx, Spawner, all, all_in_time,
    ended_source, fault, goes_on, has_panics, open, put, room, take, taken_ahead, took_ahead,
    with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m15-partition",
    statement: "All values pass in order, in groups of a size or of a key; the source's end completes the last.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

/// The size of groups.
const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("by size", move || {
            by_size(f, &[1, 2, 3], &[&[1, 2], &[3]]);
        }),
        Case::new("by size, without a rest", move || {
            by_size(f, &[1, 2], &[&[1, 2]]);
        }),
        Case::new("by size, no values", move || by_size(f, &[], &[])),
        Case::new("by size, a source that goes on", move || complete(f)),
        Case::new("by key", move || {
            by_key(f, &[1, 3, 2, 5], &[&[1, 3], &[2], &[5]]);
        }),
        Case::new("by key, no values", move || by_key(f, &[], &[])),
        Case::new("an output without takes, by size", move || {
            let one = NonZeroUsize::MIN;
            let taken = taken_ahead(f, |go, from| f.partition(go, one, from, room(1)));
            holds!(
                took_ahead(taken, 2),
                "M15: {taken} values were taken where there is room for one"
            );
        }),
        Case::new("an output without takes, by key", move || {
            let taken = taken_ahead(f, |go, from| {
                f.partition_by(go, |value| *value, from, room(1))
            });
            // The value after a group shows that the group is complete.
            holds!(
                took_ahead(taken, 3),
                "M15: {taken} values were taken where there is room for one group"
            );
        }),
        Case::new("an output that is closed, by size", move || {
            going_on(f, |go, from| {
                f.partition(go, NonZeroUsize::MIN, from, room(1))
            });
        }),
        Case::new("an output that is closed, by key", move || {
            going_on(f, |go, from| {
                f.partition_by(go, |value| *value, from, room(1))
            });
        }),
    ];
    if has_panics() {
        cases.push(Case::new("a key that panics", move || panicking(f)));
    }
    cases
}

fn by_size(f: Combinators, values: &'static [u32], expected: &[&[u32]]) {
    let seen = with_executor(f, |go| {
        let from = ended_source(f, values);
        all(f.partition(go, TWO, from, room(1)))
    });
    holds_eq!(seen, expected, "M15: not all values in groups of two");
}

fn by_key(f: Combinators, values: &'static [u32], expected: &[&[u32]]) {
    let seen = with_executor(f, |go| {
        let from = ended_source(f, values);
        let groups = f.partition_by(go, |value| value % 2, from, room(1));
        all(groups)
    });
    holds_eq!(seen, expected, "M15: not all values in groups of one key");
}

/// A full group does not wait for the value after it.
fn complete(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let mut groups = f.partition(go, TWO, from, room(1));
        put(&mut tx, 1);
        put(&mut tx, 2);
        take(&mut groups)
    });
    holds_eq!(seen, Ok(vec![1, 2]), "M15: not the first group of two");
}

fn going_on(f: Combinators, groups: impl FnOnce(&Spawner, Rx<u32>) -> Rx<Vec<u32>>) {
    let accepted = goes_on(f, groups);
    holds_eq!(
        accepted,
        [true; 3],
        "M15: it stopped taking where its output was closed"
    );
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let from = ended_source(f, &[1]);
        let groups = f.partition_by(go, |_| fault(), from, room(1));
        all_in_time(groups)
    });
    holds_eq!(
        (seen, panics),
        (Some(Vec::new()), 1),
        "M15: what comes of a panic, which ends it and is counted"
    );
}
