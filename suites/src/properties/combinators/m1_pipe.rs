//! M1: a pipe moves everything, in order, and takes nothing more once its output has refused a value.

use flowmeter_harness::channel::{Channels, Polled};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::pipeline::AtEnd;

use super::{
    Case, Property, Reliance, Stage, all, another, ended_source, lying, open, put, refusing, room,
    source, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m1-pipe",
    statement: "A pipe moves everything in order, closes its output unless asked not to, and ends where that refuses.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    vec![
        Case::new("everything", everything::<S>),
        Case::new("a source that goes on", goes_on::<S>),
        Case::new("an output that stays open", stays_open::<S>),
        Case::new("an output that is closed", refused::<S>),
    ]
}

/// The output has room for less than there is.
fn everything<S: Stage>() {
    let (moved, end) = with_executor::<S, _>(|go| {
        let (to, results) = open::<S, u32>(room(1));
        let from = ended_source::<S>(&[0, 1, 2]);
        let end = S::F::pipe::<u32>(go, from, to, AtEnd::Close);
        (all::<S, u32>(results), all::<S, ()>(end))
    });
    holds_eq!(
        (moved, end),
        (vec![0, 1, 2], Vec::new()),
        "M1: not all that came in, in its order, and an end with nothing"
    );
}

/// The source is empty again and again.
fn goes_on<S: Stage>() {
    let (accepted, moved) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let (to, results) = open::<S, u32>(room(2));
        S::F::pipe::<u32>(go, from, to, AtEnd::Close);
        let accepted = put::<S>(&mut tx, 0) && put::<S>(&mut tx, 1);
        S::C::close(&tx);
        (accepted, all::<S, u32>(results))
    });
    holds_eq!(
        (accepted, moved),
        (true, vec![0, 1]),
        "M1: not all that came in, in its order"
    );
}

fn stays_open<S: Stage>() {
    let (moved, rest) = with_executor::<S, _>(|go| {
        let (to, mut results) = open::<S, u32>(room(1));
        let _stays = S::C::another_tx(&to);
        let from = ended_source::<S>(&[0]);
        let end = S::F::pipe::<u32>(go, from, to, AtEnd::LeaveOpen);
        all::<S, ()>(end);
        lying::<S>(&mut results)
    });
    holds_eq!(
        (moved, rest),
        (vec![0], Polled::WouldWait),
        "M1: what an output has that was to stay open"
    );
}

/// One value is lost, and the others stay for whoever takes them.
fn refused<S: Stage>() {
    let (left, rest) = with_executor::<S, _>(|go| {
        let (_open, from) = source::<S>(&[0, 1, 2]);
        let mut left = another::<S>(&from);
        let end = S::F::pipe::<u32>(go, from, refusing::<S>(), AtEnd::Close);
        all::<S, ()>(end);
        lying::<S>(&mut left)
    });
    holds_eq!(
        (left, rest),
        (vec![1, 2], Polled::WouldWait),
        "M1: what is left behind an output that was closed"
    );
}
