//! M15: values in groups, of one size or of neighbours with one key, and the last with what is left.

use std::num::NonZeroUsize;

use flowmeter_harness::combinator::Combinators;

use super::{
    Case, Property, Reliance, Stage, all, all_in_time, ended_source, fault, goes_on, open, put,
    room, take, taken_ahead, took_ahead, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m15-partition",
    statement: "All values pass in order, in groups of a size or of a key; the source's end completes the last.",
    relied_on_by: Reliance::Nobody,
};

/// The size of groups.
const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("by size", || {
            by_size::<S>(&[1, 2, 3], &[&[1, 2], &[3]]);
        }),
        Case::new("by size, without a rest", || {
            by_size::<S>(&[1, 2], &[&[1, 2]]);
        }),
        Case::new("by size, no values", || by_size::<S>(&[], &[])),
        Case::new("by size, a source that goes on", complete::<S>),
        Case::new("by key", || {
            by_key::<S>(&[1, 3, 2, 5], &[&[1, 3], &[2], &[5]]);
        }),
        Case::new("by key, no values", || by_key::<S>(&[], &[])),
        Case::new("an output that nobody takes from, by size", || {
            let one = NonZeroUsize::MIN;
            let taken = taken_ahead::<S, _>(|go, from| S::F::partition(go, one, from, room(1)));
            holds!(
                took_ahead::<S>(taken, 2),
                "M15: {taken} values were taken where there is room for one"
            );
        }),
        Case::new("an output that nobody takes from, by key", || {
            let taken = taken_ahead::<S, _>(|go, from| {
                S::F::partition_by(go, |value| *value, from, room(1))
            });
            // The one behind a group tells that it is whole.
            holds!(
                took_ahead::<S>(taken, 3),
                "M15: {taken} values were taken where there is room for one group"
            );
        }),
        Case::new("an output that is closed, by size", || {
            going_on::<S>(|go, from| S::F::partition(go, NonZeroUsize::MIN, from, room(1)));
        }),
        Case::new("an output that is closed, by key", || {
            going_on::<S>(|go, from| S::F::partition_by(go, |value| *value, from, room(1)));
        }),
    ];
    if S::has_panics() {
        cases.push(Case::new("a key that panics", panicking::<S>));
    }
    cases
}

fn by_size<S: Stage>(values: &'static [u32], expected: &[&[u32]]) {
    let seen = with_executor::<S, _>(|go| {
        let from = ended_source::<S>(values);
        all::<S, Vec<u32>>(S::F::partition(go, TWO, from, room(1)))
    });
    holds_eq!(seen, expected, "M15: not all values in groups of two");
}

fn by_key<S: Stage>(values: &'static [u32], expected: &[&[u32]]) {
    let seen = with_executor::<S, _>(|go| {
        let from = ended_source::<S>(values);
        let groups = S::F::partition_by::<u32, u32>(go, |value| value % 2, from, room(1));
        all::<S, Vec<u32>>(groups)
    });
    holds_eq!(seen, expected, "M15: not all values in groups of one key");
}

/// A group does not wait for the value after it.
fn complete<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let mut groups = S::F::partition::<u32>(go, TWO, from, room(1));
        put::<S>(&mut tx, 1);
        put::<S>(&mut tx, 2);
        take::<S, Vec<u32>>(&mut groups)
    });
    holds_eq!(seen, Ok(vec![1, 2]), "M15: not the first group of two");
}

fn going_on<S: Stage>(
    groups: impl FnOnce(&super::Spawner<S>, super::Rx<S, u32>) -> super::Rx<S, Vec<u32>>,
) {
    let accepted = goes_on::<S, Vec<u32>>(groups);
    holds_eq!(
        accepted,
        [true; 3],
        "M15: it stopped taking where its output was closed"
    );
}

fn panicking<S: Stage>() {
    let (seen, panics) = with_a_panic::<S, _>(|go| {
        let from = ended_source::<S>(&[1]);
        let groups = S::F::partition_by::<u32, u32>(go, |_| fault(), from, room(1));
        all_in_time::<S, Vec<u32>>(groups)
    });
    holds_eq!(
        (seen, panics),
        (Some(Vec::new()), 1),
        "M15: what comes of a panic, which ends it and is counted"
    );
}
