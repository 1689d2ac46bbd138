//! M4: every tap accepts an item before any tap gets the next. A tap that leaves is not waited for.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! mult                 quick tap         slow tap
//! gets 0, then 1
//!                      take -> 0
//!                      take -> 1         has not accepted 0 yet
//!
//! puts 0 to both       take -> 0         leaves without taking
//! waits for ever: the 1 never comes
//! ```

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use flowmeter_harness::channel::{Buffer, Polled};
use flowmeter_harness::pipeline::AtEnd;

use super::{
    Case, Cases, Combinators, Design, Part, Property, Reliance, Tx, all, all_until, come_to_rest,
    end, ended_source, fault, has_panics, is_roomy, lying, open, put, refusing, room, take,
    with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m4-mult",
    statement: "Every tap accepts an item before any gets the next, and closes with the source; a tap that leaves holds up no other.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("a tap that leaves with an item on its way", move || {
            leaves(f, |mult, tap| f.untap(mult, tap));
        }),
        Case::new("a tap that is closed with an item on its way", move || {
            closes(f)
        }),
        Case::new("a tap that stays open", move || stays_open(f)),
        Case::new("a tap after the end", move || late(f)),
        Case::new("the end of a late tap uses the mult", move || {
            late_and_used(f)
        }),
    ];
    if is_roomy() {
        cases.extend([
            Case::new("two taps", move || two(f)),
            Case::new("a tap after one that has left", move || after_one(f)),
            Case::new("a slow tap", move || slow(f)),
            Case::new("no taps", move || none(f)),
            Case::new("a tap that is closed before", move || closed_before(f)),
            Case::new("all taps leave with an item on its way", move || {
                leaves(f, |mult, _| f.untap_all(mult));
            }),
        ]);
    }
    if has_panics() {
        cases.push(Case::new("an item that panics", move || panicking(f)));
    }
    cases
}

fn tap(f: Combinators, mult: &Part, to: Tx<u32>) -> Part {
    f.tap(mult, to, AtEnd::Close)
}

fn two(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let mult = f.mult(go, from);
        let [(to, first), (also_to, second)] = [(); 2].map(|()| open::<u32>(f, room(2)));
        tap(f, &mult, to);
        tap(f, &mult, also_to);
        put(&mut tx, 0);
        put(&mut tx, 1);
        tx.close();
        [first, second].map(all)
    });
    holds_eq!(
        seen,
        [[0, 1], [0, 1]],
        "M4: not all items for both taps, in their order"
    );
}

/// A new tap is none of those that are there, though one has left before.
fn after_one(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let mult = f.mult(go, from);
        let [(to, _gone), (also_to, first), (last_to, second)] =
            [(); 3].map(|()| open::<u32>(f, room(2)));
        let gone = tap(f, &mult, to);
        tap(f, &mult, also_to);
        f.untap(&mult, &gone);
        tap(f, &mult, last_to);
        put(&mut tx, 0);
        put(&mut tx, 1);
        tx.close();
        [first, second].map(all)
    });
    holds_eq!(
        seen,
        [[0, 1], [0, 1]],
        "M4: not all items for both taps that are left"
    );
}

/// One tap has room for all items, the other for none until it takes.
fn slow(f: Combinators) {
    let (first, early, late, second) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(2));
        let mult = f.mult(go, from);
        let (to, mut quick) = open::<u32>(f, room(2));
        let (also_to, mut slow) = open::<u32>(f, Buffer::Rendezvous);
        tap(f, &mult, to);
        tap(f, &mult, also_to);
        put(&mut tx, 0);
        put(&mut tx, 1);
        let first = take(&mut quick);
        come_to_rest(f, go);
        let early = quick.poll();
        let late = [(); 2].map(|()| take(&mut slow));
        (first, early, late, take(&mut quick))
    });
    holds_eq!(
        (first, early, late, second),
        (Ok(0), Polled::WouldWait, [Ok(0), Ok(1)], Ok(1)),
        "M4: not all items for both taps, or one before every tap had accepted the one before"
    );
}

/// Items without a tap are dropped, and the next tap begins with the next item.
fn none(f: Combinators) {
    let (accepted, seen) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, Buffer::Rendezvous);
        let mult = f.mult(go, from);
        // The second one is accepted when the first is dropped.
        let accepted = [0, 1].map(|item| put(&mut tx, item));
        let (to, tapped) = open::<u32>(f, room(2));
        tap(f, &mult, to);
        let accepted = (accepted, put(&mut tx, 2));
        tx.close();
        (accepted, all(tapped))
    });
    let judged = (accepted, seen.contains(&0), seen.last());
    holds_eq!(
        judged,
        (([true; 2], true), false, Some(&2)),
        "M4: what a tap got that came before the last of three items: {seen:?}"
    );
}

/// One tap never takes and leaves. The other still gets the next item, and the item not accepted is not put later.
fn leaves(f: Combinators, leave: impl FnOnce(&Part, &Part)) {
    let (accepted, nothing) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, Buffer::Rendezvous);
        let mult = f.mult(go, from);
        let (to, mut other) = open::<u32>(f, room(1));
        tap(f, &mult, to);
        let (also_to, mut never) = open::<u32>(f, Buffer::Rendezvous);
        let stays = also_to.another();
        let never_taken = tap(f, &mult, also_to);
        let accepted = put(&mut tx, 0) && take(&mut other) == Ok(0);
        leave(&mult, &never_taken);
        // The block is done with the first item when it takes the next one.
        let accepted = accepted && put(&mut tx, 1);
        let nothing = never.poll();
        drop(stays);
        (accepted, nothing)
    });
    holds_eq!(
        (accepted, nothing),
        (true, Polled::WouldWait),
        "M4: an item was not accepted, or a tap that has left got one or was closed"
    );
}

/// The consumer of one tap is dropped, and the other tap gets the next item.
fn closes(f: Combinators) {
    let seen = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let mult = f.mult(go, from);
        let (to, mut other) = open::<u32>(f, room(1));
        tap(f, &mult, to);
        let (also_to, never) = open::<u32>(f, Buffer::Rendezvous);
        tap(f, &mult, also_to);
        put(&mut tx, 0);
        let first = take(&mut other);
        drop(never);
        put(&mut tx, 1);
        [first, take(&mut other)]
    });
    holds_eq!(seen, [Ok(0), Ok(1)], "M4: a tap beside one that was closed");
}

fn closed_before(f: Combinators) {
    let (accepted, seen) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, Buffer::Rendezvous);
        let mult = f.mult(go, from);
        let (to, other) = open::<u32>(f, room(2));
        tap(f, &mult, refusing(f));
        tap(f, &mult, to);
        let accepted = [0, 1].map(|item| put(&mut tx, item));
        tx.close();
        (accepted, all(other))
    });
    holds_eq!(
        (accepted, seen),
        ([true; 2], vec![0, 1]),
        "M4: not all items for a tap beside one that is closed"
    );
}

fn stays_open(f: Combinators) {
    let (seen, rest) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let mult = f.mult(go, from);
        let (to, mut left_open) = open::<u32>(f, room(1));
        let _stays = to.another();
        f.tap(&mult, to, AtEnd::LeaveOpen);
        let (also_to, closed) = open::<u32>(f, room(1));
        tap(f, &mult, also_to);
        put(&mut tx, 0);
        tx.close();
        all(closed);
        lying(&mut left_open)
    });
    holds_eq!(
        (seen, rest),
        (vec![0], Polled::WouldWait),
        "M4: what a tap that was to stay open has"
    );
}

/// A late tap is closed at once, or it was in time and is closed with the others. One that stays open is a deadlock
/// here.
fn late(f: Combinators) {
    with_executor(f, |go| {
        let mult = f.mult(go, ended_source(f, &[]));
        let (to, tapped) = open::<u32>(f, room(1));
        tap(f, &mult, to);
        drop(all(tapped));
    });
}

/// Removes all taps of a mult as it is woken.
struct Untaps(Combinators, Arc<Part>);

impl Wake for Untaps {
    fn wake(self: Arc<Self>) {
        self.0.untap_all(&self.1);
    }
}

/// A late tap is closed with no lock held: what the close wakes may use the mult.
fn late_and_used(f: Combinators) {
    with_executor(f, |go| {
        let mult = Arc::new(f.mult(go, ended_source(f, &[])));
        come_to_rest(f, go);
        let (to, mut tapped) = open::<u32>(f, room(1));
        let waker = Waker::from(Arc::new(Untaps(f, Arc::clone(&mult))));
        let mut take = Box::pin(tapped.take_async());
        let polled = take.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending(), "nothing is in it");
        // A lock that is held then is a deadlock here.
        tap(f, &mult, to);
    });
}

/// An item that panics when it is cloned.
#[derive(PartialEq)]
struct Faulty;

impl Clone for Faulty {
    fn clone(&self) -> Self {
        fault()
    }
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let (mut tx, from) = open::<Faulty>(f, room(1));
        let mult = f.mult(go, from);
        let taps = [(); 2].map(|()| {
            let (to, tapped) = open::<Faulty>(f, room(1));
            f.tap(&mult, to, AtEnd::Close);
            tapped
        });
        let _accepted = tx.offer(Faulty);
        let end = end();
        taps.map(|tapped| all_until(end, tapped).map(|items| items.len()))
    });
    holds_eq!(
        (seen, panics),
        ([Some(0); 2], 1),
        "M4: what comes of a panic, which ends it and is counted"
    );
}
