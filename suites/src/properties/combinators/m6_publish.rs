//! M6: every subscriber gets the items of its topic, and a slow one holds up nobody else before its topic's buffer is full.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_harness::channel::{Buffer, Channels, Polled};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::pipeline::AtEnd;

use super::{
    Case, Property, Reliance, Spawner, Stage, Tx, all, all_in_time, ended_source, fault, lying,
    open, put, room, take, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m6-publish",
    statement: "Every subscriber gets its topic's items in order; a slow one holds up others once its buffer is full.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("a subscriber that leaves with an item on its way", || {
            leaves::<S>(|publication, mine| {
                S::F::unsub::<u32, u32, Spawner<S>>(publication, mine);
            });
        }),
        Case::new("a subscriber after the end", late::<S>),
    ];
    if S::is_roomy() {
        cases.extend([
            Case::new("two topics, and one of nobody", topics::<S>),
            Case::new("a slow subscriber", slow::<S>),
            Case::new("two subscribers of a topic", two::<S>),
            Case::new("a subscriber that stays open", stays_open::<S>),
            Case::new("all of a topic leave with an item on its way", || {
                leaves::<S>(|publication, _| {
                    S::F::unsub_all::<u32, u32, Spawner<S>>(publication, Some(&1));
                });
            }),
            Case::new("all leave", all_leave::<S>),
        ]);
    }
    if S::has_panics() {
        cases.push(Case::new("a topic function that panics", panicking::<S>));
    }
    cases
}

type Publication<S> =
    <<S as Stage>::F as Combinators<<S as Stage>::C>>::Publication<u32, u32, Spawner<S>>;
type Subscription<S> = <<S as Stage>::F as Combinators<<S as Stage>::C>>::Subscription<u32>;

/// By the last digit, with a buffer for one.
fn publish<S: Stage>(go: &Spawner<S>, from: super::Rx<S, u32>) -> Publication<S> {
    let topic_of = |item: &u32| item % 10;
    S::F::publish::<u32, u32, Spawner<S>>(go.clone(), from, topic_of, |_| room(1))
}

fn sub<S: Stage>(publication: &Publication<S>, topic: u32, to: Tx<S, u32>) -> Subscription<S> {
    S::F::sub::<u32, u32, Spawner<S>>(publication, topic, to, AtEnd::Close)
}

fn topics<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let publication = publish::<S>(go, from);
        let [(to, ones), (also_to, twos)] = [(); 2].map(|()| open::<S, u32>(room(2)));
        sub::<S>(&publication, 1, to);
        sub::<S>(&publication, 2, also_to);
        for item in [1, 3, 2, 11] {
            put::<S>(&mut tx, item);
        }
        S::C::close(&tx);
        (all::<S, u32>(ones), all::<S, u32>(twos))
    });
    holds_eq!(
        seen,
        (vec![1, 11], vec![2]),
        "M6: not the items of each topic, in their order"
    );
}

/// One item waits for the subscriber, one lies in the topic's buffer, and another topic goes on.
fn slow<S: Stage>() {
    let (other, slow) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let publication = publish::<S>(go, from);
        let (to, slow) = open::<S, u32>(Buffer::Rendezvous);
        let (also_to, mut other) = open::<S, u32>(room(1));
        sub::<S>(&publication, 1, to);
        sub::<S>(&publication, 2, also_to);
        for item in [1, 11, 2] {
            put::<S>(&mut tx, item);
        }
        S::C::close(&tx);
        (take::<S, u32>(&mut other), all::<S, u32>(slow))
    });
    holds_eq!(
        (other, slow),
        (Ok(2), vec![1, 11]),
        "M6: a slow subscriber held up another topic, or lost what lay in its buffer"
    );
}

/// They share one buffer.
fn two<S: Stage>() {
    let buffers = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&buffers);
    let seen = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let buffer_of = move |_: &u32| {
            asked.fetch_add(1, Ordering::SeqCst);
            Buffer::Rendezvous
        };
        let publication = S::F::publish::<u32, u32, Spawner<S>>(go.clone(), from, |_| 1, buffer_of);
        let [(to, first), (also_to, second)] = [(); 2].map(|()| open::<S, u32>(room(1)));
        sub::<S>(&publication, 1, to);
        sub::<S>(&publication, 1, also_to);
        put::<S>(&mut tx, 1);
        S::C::close(&tx);
        [first, second].map(|subscribed| all::<S, u32>(subscribed))
    });
    holds_eq!(
        (seen, buffers.load(Ordering::SeqCst)),
        ([[1], [1]].map(Vec::from), 1),
        "M6: not the items of their topic for both, over one buffer"
    );
}

/// It never takes: the other topic gets its items all the same, and what was not accepted is not put later.
fn leaves<S: Stage>(leave: impl FnOnce(&Publication<S>, &Subscription<S>)) {
    let (accepted, nothing) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let publication = publish::<S>(go, from);
        let (to, mut never) = open::<S, u32>(Buffer::Rendezvous);
        let _stays = S::C::another_tx(&to);
        let mine = sub::<S>(&publication, 1, to);
        put::<S>(&mut tx, 1);
        leave(&publication, &mine);
        // More than lie in the channel, in the topic's buffer and in the hands of two blocks.
        let accepted = [11, 21, 31, 41, 51].map(|item| put::<S>(&mut tx, item));
        (accepted, S::C::poll(&mut never))
    });
    holds_eq!(
        (accepted, nothing),
        ([true; 5], Polled::WouldWait),
        "M6: an item was not accepted, or a subscriber that has left got one or was closed"
    );
}

/// Those of all topics.
fn all_leave<S: Stage>() {
    let nothing = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(Buffer::Rendezvous);
        let publication = publish::<S>(go, from);
        let subscribed = [1, 2].map(|topic| {
            let (to, subscribed) = open::<S, u32>(room(1));
            let stays = S::C::another_tx(&to);
            sub::<S>(&publication, topic, to);
            (subscribed, stays)
        });
        S::F::unsub_all::<u32, u32, Spawner<S>>(&publication, None);
        for item in [1, 2, 1, 2] {
            put::<S>(&mut tx, item);
        }
        subscribed.map(|(mut subscribed, _stays)| S::C::poll(&mut subscribed))
    });
    holds_eq!(
        nothing,
        [Polled::WouldWait, Polled::WouldWait],
        "M6: a subscriber that has left got an item, or was closed"
    );
}

fn stays_open<S: Stage>() {
    let (seen, rest) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let publication = publish::<S>(go, from);
        let (to, mut left_open) = open::<S, u32>(room(1));
        let _stays = S::C::another_tx(&to);
        S::F::sub::<u32, u32, Spawner<S>>(&publication, 1, to, AtEnd::LeaveOpen);
        let (also_to, closed) = open::<S, u32>(room(1));
        sub::<S>(&publication, 1, also_to);
        put::<S>(&mut tx, 1);
        S::C::close(&tx);
        all::<S, u32>(closed);
        lying::<S>(&mut left_open)
    });
    holds_eq!(
        (seen, rest),
        (vec![1], Polled::WouldWait),
        "M6: what a subscriber that was to stay open has"
    );
}

/// It is closed at once; or it was there in time, and is closed with the others. One that stays open is a deadlock here.
fn late<S: Stage>() {
    with_executor::<S, _>(|go| {
        let publication = publish::<S>(go, ended_source::<S>(&[]));
        let (to, subscribed) = open::<S, u32>(room(1));
        sub::<S>(&publication, 1, to);
        drop(all::<S, u32>(subscribed));
    });
}

fn panicking<S: Stage>() {
    let (seen, panics) = with_a_panic::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(2));
        let topic_of = |item: &u32| if *item == 2 { fault() } else { *item };
        let publication =
            S::F::publish::<u32, u32, Spawner<S>>(go.clone(), from, topic_of, |_| room(1));
        let (to, subscribed) = open::<S, u32>(room(1));
        sub::<S>(&publication, 1, to);
        put::<S>(&mut tx, 1);
        put::<S>(&mut tx, 2);
        all_in_time::<S, u32>(subscribed)
    });
    holds_eq!(
        (seen, panics),
        (Some(vec![1]), 1),
        "M6: what comes of a panic, which ends it behind what was delivered, and is counted"
    );
}
