//! M6: every subscriber gets the items of its topic. A slow one delays the others only once its topic's buffer is
//! full.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! publisher               slow subscriber of 1    subscriber of 2
//! put 1, put 11, put 2    takes nothing
//!                                                 take waits for ever: the buffer of topic 1 has room for one
//!
//! put 1                   leaves without taking
//! put 11, 21, 31          the puts wait for ever
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_harness::channel::{Buffer, Polled};
use flowmeter_harness::pipeline::AtEnd;

use super::{
    Case, Cases, Combinators, Design, Part, Property, Reliance, Rx, Spawner, Tx, all, all_in_time,
    ended_source, fault, has_panics, is_roomy, lying, open, put, room, take, with_a_panic,
    with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m6-publish",
    statement: "Every subscriber gets its topic's items in order; a slow one holds up others once its buffer is full.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new(
            "a subscriber that leaves with an item on its way",
            move || {
                leaves(f, |publication, mine| {
                    f.unsub(publication, mine);
                });
            },
        ),
        Case::new("a subscriber after the end", move || late(f)),
    ];
    if is_roomy() {
        cases.extend([
            Case::new("two topics, and one without subscribers", move || topics(f)),
            Case::new("a slow subscriber", move || slow(f)),
            Case::new("two subscribers of a topic", move || two(f)),
            Case::new("a subscriber that stays open", move || stays_open(f)),
            Case::new("all of a topic leave with an item on its way", move || {
                leaves(f, |publication, _| {
                    f.unsub_all(publication, Some(1));
                });
            }),
            Case::new("all leave", move || all_leave(f)),
        ]);
    }
    if has_panics() {
        cases.push(Case::new("a topic function that panics", move || {
            panicking(f)
        }));
    }
    cases
}

/// Topics by the last digit, each with a buffer for one.
fn publish(f: Combinators, go: &Spawner, from: Rx<u32>) -> Part {
    let topic_of = |item: &u32| item % 10;
    f.publish(go, from, topic_of, |_| room(1))
}

fn sub(f: Combinators, publication: &Part, topic: u32, to: Tx<u32>) -> Part {
    f.sub(publication, topic, to, AtEnd::Close)
}

fn topics(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let publication = publish(f, go, from);
        let [(to, ones), (also_to, twos)] = [(); 2].map(|()| open::<u32>(f, room(2)));
        sub(f, &publication, 1, to);
        sub(f, &publication, 2, also_to);
        for item in [1, 3, 2, 11] {
            put(&mut tx, item);
        }
        tx.close();
        (all(ones), all(twos))
    });
    holds_eq!(
        seen,
        (vec![1, 11], vec![2]),
        "M6: not the items of each topic, in their order"
    );
}

/// One item waits for the subscriber, one is in the topic's buffer, and another topic goes on.
fn slow(f: Combinators) {
    let (other, slow) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let publication = publish(f, go, from);
        let (to, slow) = open::<u32>(f, Buffer::Rendezvous);
        let (also_to, mut other) = open::<u32>(f, room(1));
        sub(f, &publication, 1, to);
        sub(f, &publication, 2, also_to);
        for item in [1, 11, 2] {
            put(&mut tx, item);
        }
        tx.close();
        (take(&mut other), all(slow))
    });
    holds_eq!(
        (other, slow),
        (Ok(2), vec![1, 11]),
        "M6: a slow subscriber held up another topic, or lost what lay in its buffer"
    );
}

/// Two subscribers of a topic share one buffer.
fn two(f: Combinators) {
    let buffers = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&buffers);
    let seen = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let buffer_of = move |_: &u32| {
            asked.fetch_add(1, Ordering::SeqCst);
            Buffer::Rendezvous
        };
        let publication = f.publish(go, from, |_| 1, buffer_of);
        let [(to, first), (also_to, second)] = [(); 2].map(|()| open::<u32>(f, room(1)));
        sub(f, &publication, 1, to);
        sub(f, &publication, 1, also_to);
        put(&mut tx, 1);
        tx.close();
        [first, second].map(all)
    });
    holds_eq!(
        (seen, buffers.load(Ordering::SeqCst)),
        ([[1], [1]].map(Vec::from), 1),
        "M6: not the items of their topic for both, over one buffer"
    );
}

/// A subscriber never takes and leaves. Further items are still accepted, and the item not accepted is not put later.
fn leaves(f: Combinators, leave: impl FnOnce(&Part, &Part)) {
    let (accepted, nothing) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let publication = publish(f, go, from);
        let (to, mut never) = open::<u32>(f, Buffer::Rendezvous);
        let _stays = to.another();
        let mine = sub(f, &publication, 1, to);
        put(&mut tx, 1);
        leave(&publication, &mine);
        // More than fit into the channel, the topic's buffer and two blocks.
        let accepted = [11, 21, 31, 41, 51].map(|item| put(&mut tx, item));
        (accepted, never.poll())
    });
    holds_eq!(
        (accepted, nothing),
        ([true; 5], Polled::WouldWait),
        "M6: an item was not accepted, or a subscriber that has left got one or was closed"
    );
}

/// The subscribers of all topics.
fn all_leave(f: Combinators) {
    let nothing = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, Buffer::Rendezvous);
        let publication = publish(f, go, from);
        let subscribed = [1, 2].map(|topic| {
            let (to, subscribed) = open::<u32>(f, room(1));
            let stays = to.another();
            sub(f, &publication, topic, to);
            (subscribed, stays)
        });
        f.unsub_all(&publication, None);
        for item in [1, 2, 1, 2] {
            put(&mut tx, item);
        }
        subscribed.map(|(mut subscribed, _stays)| subscribed.poll())
    });
    holds_eq!(
        nothing,
        [Polled::WouldWait, Polled::WouldWait],
        "M6: a subscriber that has left got an item, or was closed"
    );
}

fn stays_open(f: Combinators) {
    let (seen, rest) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let publication = publish(f, go, from);
        let (to, mut left_open) = open::<u32>(f, room(1));
        let _stays = to.another();
        f.sub(&publication, 1, to, AtEnd::LeaveOpen);
        let (also_to, closed) = open::<u32>(f, room(1));
        sub(f, &publication, 1, also_to);
        put(&mut tx, 1);
        tx.close();
        all(closed);
        lying(&mut left_open)
    });
    holds_eq!(
        (seen, rest),
        (vec![1], Polled::WouldWait),
        "M6: what a subscriber that was to stay open has"
    );
}

/// A late subscriber is closed at once, or it was in time and is closed with the others. One that stays open is a
/// deadlock here.
fn late(f: Combinators) {
    with_executor(f, |go| {
        let publication = publish(f, go, ended_source(f, &[]));
        let (to, subscribed) = open::<u32>(f, room(1));
        sub(f, &publication, 1, to);
        drop(all(subscribed));
    });
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(2));
        let topic_of = |item: &u32| if *item == 2 { fault() } else { *item };
        let publication = f.publish(go, from, topic_of, |_| room(1));
        let (to, subscribed) = open::<u32>(f, room(1));
        sub(f, &publication, 1, to);
        put(&mut tx, 1);
        put(&mut tx, 2);
        all_in_time(subscribed)
    });
    holds_eq!(
        (seen, panics),
        (Some(vec![1]), 1),
        "M6: what comes of a panic, which ends it behind what was delivered, and is counted"
    );
}
