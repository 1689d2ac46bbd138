//! M8: a collection becomes a channel, which closes after the last value.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! values 0, 1
//! take -> 1                        not in order
//! take -> 0, take -> 1, take waits for ever: it was not closed
//! ```

use std::sync::atomic::Ordering;

use flowmeter_harness::channel::Polled;

use super::m7_onto_chan::counted;
use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, all_in_time, come_to_rest, fault,
    has_panics, lying, take, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m8-to-chan",
    statement: "The channel of a collection delivers its values in order and closes; it has room for all of them.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("values", move || brings(f, &[0, 1, 2])),
        Case::new("no values", move || brings(f, &[])),
        Case::new("values without end", move || endless(f)),
    ];
    if has_panics() {
        cases.push(Case::new("a collection that panics", move || panicking(f)));
    } else {
        cases.push(Case::new("values before the first take", move || {
            has_room(f)
        }));
    }
    cases
}

fn brings(f: Combinators, values: &'static [u32]) {
    let seen = with_executor(f, |go| all(f.to_chan(go, values.iter().copied())));
    holds_eq!(seen, values, "M8: not all values in their order");
}

/// An iterator of unknown length gets room for one.
fn endless(f: Combinators) {
    let (values, asked) = counted();
    let seen = with_executor(f, |go| {
        let mut taken = f.to_chan(go, values.filter(|_| true));
        [(); 2].map(|()| take(&mut taken))
    });
    let asked = asked.load(Ordering::SeqCst);
    holds_eq!(seen, [Ok(0), Ok(1)], "M8: not all values in their order");
    holds!(
        asked <= 4,
        "M8: {asked} values were asked for, of which 2 were taken"
    );
}

/// All values are in the channel, and it is closed, before the first take.
fn has_room(f: Combinators) {
    let (seen, rest) = with_executor(f, |go| {
        let mut values = f.to_chan(go, [0, 1]);
        come_to_rest(f, go);
        lying(&mut values)
    });
    holds_eq!(
        (seen, rest),
        (vec![0, 1], Polled::Closed),
        "M8: no room for what is there, or no end behind it"
    );
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let faulty = (0..2).map(|value| if value == 1 { fault() } else { value });
        all_in_time(f.to_chan(go, faulty))
    });
    holds_eq!(
        (seen, panics),
        (Some(vec![0]), 1),
        "M8: what comes of a panic, which ends it and is counted"
    );
}
