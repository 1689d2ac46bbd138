//! M3: a merge delivers all values of all its sources, those of each in order, and closes after the last source.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! a: 1, closed        b: open, 11 comes later
//! delivers 1, then closes: b has not ended
//!
//! a: 1, 2, closed
//! delivers 2, 1: not in the order of a
//! ```

use flowmeter_harness::channel::Polled;

use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, busy_and_other, chooses_by_chance,
    ended_source, goes_on, open, other_had_its_turn, put, room, take, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m3-merge",
    statement: "Everything of all sources arrives, each in its order; the output closes when the last has ended.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("two sources", move || two(f)),
        Case::new("no sources", move || none(f)),
        Case::new("a source that ends before the other", move || one_ends(f)),
        Case::new("an output that is closed", move || {
            let accepted = goes_on(f, |go, from| f.merge(go, vec![from], room(1)));
            holds_eq!(
                accepted,
                [true; 3],
                "M3: a merge stopped taking where its output was closed"
            );
        }),
    ];
    if chooses_by_chance() {
        cases.push(Case::new("beside a source that never waits", move || {
            beside_a_busy_one(f);
        }));
    }
    cases
}

/// Two sources have values, one of them many.
fn beside_a_busy_one(f: Combinators) {
    let seen = with_executor(f, |go| all(f.merge(go, busy_and_other(f), room(1))));
    holds!(
        other_had_its_turn(&seen),
        "M3: a source waits for another that always has a value"
    );
}

fn two(f: Combinators) {
    let seen = with_executor(f, |go| {
        let sources = [&[1, 2], &[11, 12]].map(|values| ended_source(f, values));
        all(f.merge(go, sources.into(), room(1)))
    });
    let (first, second): (Vec<u32>, Vec<u32>) = seen.into_iter().partition(|value| *value < 10);
    holds_eq!(
        (first, second),
        (vec![1, 2], vec![11, 12]),
        "M3: not all of both sources, each in its order"
    );
}

/// An output that stays open is a deadlock here.
fn none(f: Combinators) {
    with_executor(f, |go| drop(all(f.merge::<u32>(go, Vec::new(), room(1)))));
}

/// A source that has ended is dropped, and the output stays open for the other.
fn one_ends(f: Combinators) {
    let (accepted, seen, open, rest) = with_executor(f, |go| {
        let (mut tx, goes_on) = open::<u32>(f, room(1));
        let sources = vec![ended_source(f, &[1]), goes_on];
        let mut merged = f.merge(go, sources, room(1));
        let first = take(&mut merged);
        let accepted = put(&mut tx, 11);
        let seen = [first, take(&mut merged)];
        let open = merged.poll();
        tx.close();
        (accepted, seen, open, all(merged))
    });
    holds_eq!(
        (accepted, seen, open, rest),
        (true, [Ok(1), Ok(11)], Polled::WouldWait, Vec::new()),
        "M3: not all of a source that goes on where another has ended, and the end with it"
    );
}
