//! M7: a collection is put value by value, each asked for when the one before was accepted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_harness::channel::{Channels, Polled};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::pipeline::AtEnd;

use super::{
    Case, Property, Reliance, Stage, all, all_in_time, fault, lying, open, refusing, room, take,
    with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m7-onto-chan",
    statement: "A collection is put in order, no further than it is taken; its channel closes unless asked not to.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("all values", all_values::<S>),
        Case::new("a channel that stays open", stays_open::<S>),
        Case::new("a channel that is closed", refused::<S>),
        Case::new("values without end", endless::<S>),
    ];
    if S::has_panics() {
        cases.push(Case::new("a collection that panics", panicking::<S>));
    }
    cases
}

/// `0, 1, …`, and how many of them were asked for. It has no world: counting adds no step to a model.
pub(super) fn counted() -> (impl Iterator<Item = u32> + Send + 'static, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let values = (0..).inspect(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    (values, asked)
}

/// The channel has room for fewer.
fn all_values<S: Stage>() {
    let (seen, end) = with_executor::<S, _>(|go| {
        let (to, values) = open::<S, u32>(room(1));
        let end = S::F::onto_chan::<u32>(go, to, [0, 1, 2], AtEnd::Close);
        (all::<S, u32>(values), all::<S, ()>(end))
    });
    holds_eq!(
        (seen, end),
        (vec![0, 1, 2], Vec::new()),
        "M7: not all values in their order, and an end with nothing"
    );
}

fn stays_open<S: Stage>() {
    let (seen, rest) = with_executor::<S, _>(|go| {
        let (to, mut values) = open::<S, u32>(room(1));
        let _stays = S::C::another_tx(&to);
        let end = S::F::onto_chan::<u32>(go, to, [0], AtEnd::LeaveOpen);
        all::<S, ()>(end);
        lying::<S>(&mut values)
    });
    holds_eq!(
        (seen, rest),
        (vec![0], Polled::WouldWait),
        "M7: what a channel has that was to stay open"
    );
}

fn refused<S: Stage>() {
    let (values, asked) = counted();
    with_executor::<S, _>(|go| {
        let end = S::F::onto_chan::<u32>(go, refusing::<S>(), values, AtEnd::Close);
        all::<S, ()>(end);
    });
    let asked = asked.load(Ordering::SeqCst);
    holds_eq!(
        asked,
        1,
        "M7: so many values were asked for, of which the first was refused"
    );
}

/// Two are taken, one lies in the channel, and one waits.
fn endless<S: Stage>() {
    let (values, asked) = counted();
    let seen = with_executor::<S, _>(|go| {
        let (to, mut taken) = open::<S, u32>(room(1));
        let end = S::F::onto_chan::<u32>(go, to, values, AtEnd::Close);
        let seen = [(); 2].map(|()| take::<S, u32>(&mut taken));
        drop(taken);
        all::<S, ()>(end);
        seen
    });
    let asked = asked.load(Ordering::SeqCst);
    holds_eq!(seen, [Ok(0), Ok(1)], "M7: not all values in their order");
    holds!(
        asked <= 4,
        "M7: {asked} values were asked for, of which 2 were taken"
    );
}

fn panicking<S: Stage>() {
    let (seen, panics) = with_a_panic::<S, _>(|go| {
        let (to, values) = open::<S, u32>(room(2));
        let faulty = (0..2).map(|value| if value == 1 { fault() } else { value });
        S::F::onto_chan::<u32>(go, to, faulty, AtEnd::Close);
        all_in_time::<S, u32>(values)
    });
    holds_eq!(
        (seen, panics),
        (Some(vec![0]), 1),
        "M7: what comes of a panic, which ends it and is counted"
    );
}
