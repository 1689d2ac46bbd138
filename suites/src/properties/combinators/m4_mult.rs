//! M4: every tap accepts an item before any gets the next; who leaves is not waited for.

use flowmeter_harness::channel::{Buffer, Channels, Polled};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::pipeline::AtEnd;

use super::{
    Case, Property, Reliance, Stage, Tx, all, all_in_time, come_to_rest, ended_source, fault,
    lying, open, put, refusing, room, take, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m4-mult",
    statement: "Every tap accepts an item before any gets the next, and closes with the source; who leaves holds up nobody.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("a tap that leaves with an item on its way", || {
            leaves::<S>(S::F::untap::<u32>);
        }),
        Case::new("a tap that is closed with an item on its way", closes::<S>),
        Case::new("a tap that stays open", stays_open::<S>),
        Case::new("a tap after the end", late::<S>),
    ];
    if S::is_roomy() {
        cases.extend([
            Case::new("two taps", two::<S>),
            Case::new("a slow tap", slow::<S>),
            Case::new("no taps", none::<S>),
            Case::new("a tap that is closed before", closed_before::<S>),
            Case::new("all taps leave with an item on its way", || {
                leaves::<S>(|mult, _| S::F::untap_all::<u32>(mult));
            }),
        ]);
    }
    if S::has_panics() {
        cases.push(Case::new("an item that panics", panicking::<S>));
    }
    cases
}

type Mult<S, T> = <<S as Stage>::F as Combinators<<S as Stage>::C>>::Mult<T>;
type Tap<S> = <<S as Stage>::F as Combinators<<S as Stage>::C>>::Tap;

fn tap<S: Stage>(mult: &Mult<S, u32>, to: Tx<S, u32>) -> Tap<S> {
    S::F::tap::<u32>(mult, to, AtEnd::Close)
}

fn two<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let mult = S::F::mult::<u32>(go, from);
        let [(to, first), (also_to, second)] = [(); 2].map(|()| open::<S, u32>(room(2)));
        tap::<S>(&mult, to);
        tap::<S>(&mult, also_to);
        put::<S>(&mut tx, 0);
        put::<S>(&mut tx, 1);
        S::C::close(&tx);
        [first, second].map(|tapped| all::<S, u32>(tapped))
    });
    holds_eq!(
        seen,
        [[0, 1], [0, 1]],
        "M4: not all items for both taps, in their order"
    );
}

/// One has room for everything, and the other for nothing until it takes.
fn slow<S: Stage>() {
    let (first, early, late, second) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(2));
        let mult = S::F::mult::<u32>(go, from);
        let (to, mut quick) = open::<S, u32>(room(2));
        let (also_to, mut slow) = open::<S, u32>(Buffer::Rendezvous);
        tap::<S>(&mult, to);
        tap::<S>(&mult, also_to);
        put::<S>(&mut tx, 0);
        put::<S>(&mut tx, 1);
        let first = take::<S, u32>(&mut quick);
        come_to_rest::<S>(go);
        let early = S::C::poll(&mut quick);
        let late = [(); 2].map(|()| take::<S, u32>(&mut slow));
        (first, early, late, take::<S, u32>(&mut quick))
    });
    holds_eq!(
        (first, early, late, second),
        (Ok(0), Polled::WouldWait, [Ok(0), Ok(1)], Ok(1)),
        "M4: not all items for both taps, or one before every tap had accepted the one before"
    );
}

/// What nobody taps is gone, and the next tap begins with the next item.
fn none<S: Stage>() {
    let (accepted, seen) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(Buffer::Rendezvous);
        let mult = S::F::mult::<u32>(go, from);
        // The second one is accepted when the first is gone.
        let accepted = [0, 1].map(|item| put::<S>(&mut tx, item));
        let (to, tapped) = open::<S, u32>(room(2));
        tap::<S>(&mult, to);
        let accepted = (accepted, put::<S>(&mut tx, 2));
        S::C::close(&tx);
        (accepted, all::<S, u32>(tapped))
    });
    let judged = (accepted, seen.contains(&0), seen.last());
    holds_eq!(
        judged,
        (([true; 2], true), false, Some(&2)),
        "M4: what a tap got that came before the last of three items: {seen:?}"
    );
}

/// One never takes: the other gets the next item all the same, and what was not accepted is not put later.
fn leaves<S: Stage>(leave: impl FnOnce(&Mult<S, u32>, Tap<S>)) {
    let (accepted, nothing) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(Buffer::Rendezvous);
        let mult = S::F::mult::<u32>(go, from);
        let (to, mut other) = open::<S, u32>(room(1));
        tap::<S>(&mult, to);
        let (also_to, mut never) = open::<S, u32>(Buffer::Rendezvous);
        let stays = S::C::another_tx(&also_to);
        let never_taken = tap::<S>(&mult, also_to);
        let accepted = put::<S>(&mut tx, 0) && take::<S, u32>(&mut other) == Ok(0);
        leave(&mult, never_taken);
        // The block is done with the first item when it takes the next one.
        let accepted = accepted && put::<S>(&mut tx, 1);
        let nothing = S::C::poll(&mut never);
        drop(stays);
        (accepted, nothing)
    });
    holds_eq!(
        (accepted, nothing),
        (true, Polled::WouldWait),
        "M4: an item was not accepted, or a tap that has left got one or was closed"
    );
}

/// Its consumer goes, and the other gets the next item.
fn closes<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let mult = S::F::mult::<u32>(go, from);
        let (to, mut other) = open::<S, u32>(room(1));
        tap::<S>(&mult, to);
        let (also_to, never) = open::<S, u32>(Buffer::Rendezvous);
        tap::<S>(&mult, also_to);
        put::<S>(&mut tx, 0);
        let first = take::<S, u32>(&mut other);
        drop(never);
        put::<S>(&mut tx, 1);
        [first, take::<S, u32>(&mut other)]
    });
    holds_eq!(seen, [Ok(0), Ok(1)], "M4: a tap beside one that was closed");
}

fn closed_before<S: Stage>() {
    let (accepted, seen) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(Buffer::Rendezvous);
        let mult = S::F::mult::<u32>(go, from);
        let (to, other) = open::<S, u32>(room(2));
        tap::<S>(&mult, refusing::<S>());
        tap::<S>(&mult, to);
        let accepted = [0, 1].map(|item| put::<S>(&mut tx, item));
        S::C::close(&tx);
        (accepted, all::<S, u32>(other))
    });
    holds_eq!(
        (accepted, seen),
        ([true; 2], vec![0, 1]),
        "M4: not all items for a tap beside one that is closed"
    );
}

fn stays_open<S: Stage>() {
    let (seen, rest) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let mult = S::F::mult::<u32>(go, from);
        let (to, mut left_open) = open::<S, u32>(room(1));
        let _stays = S::C::another_tx(&to);
        S::F::tap::<u32>(&mult, to, AtEnd::LeaveOpen);
        let (also_to, closed) = open::<S, u32>(room(1));
        tap::<S>(&mult, also_to);
        put::<S>(&mut tx, 0);
        S::C::close(&tx);
        all::<S, u32>(closed);
        lying::<S>(&mut left_open)
    });
    holds_eq!(
        (seen, rest),
        (vec![0], Polled::WouldWait),
        "M4: what a tap that was to stay open has"
    );
}

/// It is closed at once; or it was there in time, and is closed with the others. One that stays open is a deadlock here.
fn late<S: Stage>() {
    with_executor::<S, _>(|go| {
        let mult = S::F::mult::<u32>(go, ended_source::<S>(&[]));
        let (to, tapped) = open::<S, u32>(room(1));
        tap::<S>(&mult, to);
        drop(all::<S, u32>(tapped));
    });
}

/// What cannot be copied.
struct Faulty;

impl Clone for Faulty {
    fn clone(&self) -> Self {
        fault()
    }
}

fn panicking<S: Stage>() {
    let (seen, panics) = with_a_panic::<S, _>(|go| {
        let (mut tx, from) = open::<S, Faulty>(room(1));
        let mult = S::F::mult::<Faulty>(go, from);
        let taps = [(); 2].map(|()| {
            let (to, tapped) = open::<S, Faulty>(room(1));
            S::F::tap::<Faulty>(&mult, to, AtEnd::Close);
            tapped
        });
        let _accepted = S::C::offer(&mut tx, Faulty);
        taps.map(|tapped| all_in_time::<S, Faulty>(tapped).map(|items| items.len()))
    });
    holds_eq!(
        (seen, panics),
        ([Some(0); 2], 1),
        "M4: what comes of a panic, which ends it and is counted"
    );
}
