//! M8: a collection as a channel, closed after its last value.

use std::sync::atomic::Ordering;

use flowmeter_harness::channel::Polled;
use flowmeter_harness::combinator::Combinators;

use super::super::gate::settle;
use super::m7_onto_chan::counted;
use super::{
    Case, PATIENCE, Property, Reliance, Stage, all, all_in_time, fault, lying, take, with_a_panic,
    with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m8-to-chan",
    statement: "The channel of a collection brings its values in order and closes; it has room for them.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("values", || brings::<S>(&[0, 1, 2])),
        Case::new("no values", || brings::<S>(&[])),
        Case::new("values without end", endless::<S>),
    ];
    if S::has_panics() {
        cases.push(Case::new("a collection that panics", panicking::<S>));
    } else {
        cases.push(Case::new("values that nobody takes yet", has_room::<S>));
    }
    cases
}

fn brings<S: Stage>(values: &'static [u32]) {
    let seen = with_executor::<S, _>(|go| all::<S, u32>(S::F::to_chan(go, values.iter().copied())));
    holds_eq!(seen, values, "M8: not all values in their order");
}

/// Of so many as nobody can count there is room for one.
fn endless<S: Stage>() {
    let (values, asked) = counted();
    let seen = with_executor::<S, _>(|go| {
        let mut taken = S::F::to_chan::<u32>(go, values.filter(|_| true));
        [(); 2].map(|()| take::<S, u32>(&mut taken))
    });
    let asked = asked.load(Ordering::SeqCst);
    holds_eq!(seen, [Ok(0), Ok(1)], "M8: not all values in their order");
    holds!(
        asked <= 4,
        "M8: {asked} values were asked for, of which 2 were taken"
    );
}

/// All of them lie in the channel, and it is closed, before anybody takes.
fn has_room<S: Stage>() {
    let (seen, rest) = with_executor::<S, _>(|go| {
        let mut values = S::F::to_chan::<u32>(go, [0, 1]);
        settle::<S::C, S::W>(PATIENCE, || false);
        lying::<S>(&mut values)
    });
    holds_eq!(
        (seen, rest),
        (vec![0, 1], Polled::Closed),
        "M8: no room for what is there, or no end behind it"
    );
}

fn panicking<S: Stage>() {
    let (seen, panics) = with_a_panic::<S, _>(|go| {
        let faulty = (0..2).map(|value| if value == 1 { fault() } else { value });
        all_in_time::<S, u32>(S::F::to_chan(go, faulty))
    });
    holds_eq!(
        (seen, panics),
        (Some(vec![0]), 1),
        "M8: what comes of a panic, which ends it and is counted"
    );
}
