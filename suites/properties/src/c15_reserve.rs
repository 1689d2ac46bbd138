//! C15 (permits): a permit holds room for one value, is filled without waiting, and gives its room back when dropped.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! thread 1, fixed(1)        thread 2
//! try_reserve -> permit
//!                           offer 1 -> done: it took the permit's room
//!
//! drops the permit
//!                           offer 1 -> would wait: the room did not come back
//! ```

use std::num::NonZeroUsize;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Buffer, Message, Offered, Polled, ReserveError};
use flowmeter_harness::check::{Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::turns;
use super::form::Way;
use super::scripted::{Log, Script, Scripted, unasked};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Permit, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c15-reserve",
    statement: "A permit holds room for one value and gives it back; no value that it accepts is lost.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

fn reserve<T: Message>(way: Way, tx: &Tx<T>) -> Result<Permit<'_, T>, ReserveError> {
    match way {
        Way::Blocking => tx.reserve(),
        Way::Async => world::block_on(tx.reserve_async()),
    }
}

const ONE: Buffer = Buffer::fixed(1);

/// No room can be reserved in these.
const WITHOUT_ROOM: [Buffer; 3] = [
    Buffer::Rendezvous,
    Buffer::Dropping(NonZeroUsize::MIN),
    Buffer::Sliding(NonZeroUsize::MIN),
];

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let mut cases = Vec::new();
    if channels.blocks_for_room() || channels.awaits_room() {
        cases.extend(cases_without_waiting(channels));
    }
    if channels.blocks_for_room() {
        cases.extend(cases_by(Way::Blocking, channels));
    }
    if channels.awaits_room() {
        cases.extend(cases_by(Way::Async, channels));
        cases.extend(dropped_cases(channels));
    }
    cases
}

fn cases_without_waiting(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in channels.having(&WITHOUT_ROOM) {
        cases.push(Case::new(
            format!("nothing to reserve, {buffer}"),
            move || {
                let opened = channels.open::<u32>(buffer).expect("asked before");
                nothing_to_reserve(channels, opened);
            },
        ));
    }
    if channels.promises() {
        cases.push(Case::new("nothing to reserve, a promise", move || {
            nothing_to_reserve(channels, channels.open_promise::<u32>());
        }));
    }
    if channels.transforms() {
        cases.push(Case::new("nothing to reserve, transformed", move || {
            let transform = Scripted::new(Script::PLAIN, &Log::default());
            let opened = channels.open_transformed(ONE, transform, unasked);
            let opened = opened.unwrap_or_else(|why| violated!("B2: no channel with {ONE}: {why}"));
            nothing_to_reserve(channels, opened);
        }));
    }
    if channels.having(&[ONE]).next().is_some() {
        cases.push(Case::new("room is held", move || room_is_held(channels)));
        cases.push(Case::new("no consumer while a permit is out", move || {
            no_consumer(channels)
        }));
    }
    cases
}

fn cases_by(way: Way, channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    if channels.having(&[ONE]).next().is_none() {
        return cases;
    }
    let mut case = |name: &str, model: fn(Channels, Way)| {
        cases.push(Case::new(format!("{way}, {name}"), move || {
            model(channels, way)
        }));
    };
    case("room comes back to a put", |channels, way| {
        comes_back(channels, way, false)
    });
    case("room comes back to a put that waits", |channels, way| {
        comes_back(channels, way, true)
    });
    case("a reservation waits for room", waits_for_room);
    case("a permit serves a take and a put", serves_a_take_and_a_put);
    if is_shut(channels) {
        case("a close while a permit is out", close_while_out);
    }
    case("a close while a reservation waits", close_while_waiting);
    cases
}

/// Reservations that are dropped: futures polled by hand.
fn dropped_cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    if channels.having(&[ONE]).next().is_some() {
        cases.push(Case::new(
            "a reservation dropped before it is served",
            move || dropped(channels, false),
        ));
        cases.push(Case::new(
            "a reservation dropped after it is served",
            move || dropped(channels, true),
        ));
        cases.push(Case::new(
            "a reservation dropped as it is served",
            move || (0..turns()).for_each(|_| dropped_meanwhile(channels)),
        ));
    }
    cases
}

fn producers(channels: Channels) -> (Tx<u32>, Tx<u32>, Rx<u32>) {
    let (tx, rx) = channels.open::<u32>(ONE).expect("asked before");
    let further = tx.another().expect("permits are for many producers");
    (tx, further, rx)
}

/// Every way to reserve is refused at once, also once a value was put, and holds no room.
fn nothing_to_reserve(channels: Channels, (mut tx, mut rx): (Tx<u32>, Rx<u32>)) {
    let refused = Some(ReserveError::NothingToReserve);
    let mut put = Offered::WouldWait(0);
    for value in 0..2 {
        holds_eq!(
            tx.try_reserve().err(),
            refused,
            "C15: a channel without room to reserve"
        );
        if channels.blocks_for_room() {
            holds_eq!(tx.reserve().err(), refused, "C15: one that may block");
        }
        if channels.awaits_room() {
            let answer = world::block_on(tx.reserve_async()).err();
            holds_eq!(answer, refused, "C15: an awaited one");
        }
        if value == 0 {
            put = tx.offer(value);
        }
    }
    if put == Offered::Done {
        let polled = rx.poll();
        holds_eq!(
            polled,
            Polled::Done(0),
            "C15: a refused reservation took the room"
        );
    }
}

fn room_is_held(channels: Channels) {
    let (tx, mut further, mut rx) = producers(channels);
    let permit = tx
        .try_reserve()
        .unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    holds_eq!(
        further.offer(1),
        Offered::WouldWait(1),
        "C15: another put took the room of a permit"
    );
    holds_eq!(
        further.try_reserve().err(),
        Some(ReserveError::WouldWait),
        "C15: two permits for one place"
    );
    holds_eq!(rx.poll(), Polled::WouldWait, "C15: a permit is no value");
    holds_eq!(permit.fill(7), Ok(()), "C15: a permit is filled");
    holds_eq!(
        further.offer(1),
        Offered::WouldWait(1),
        "C3: a value takes room"
    );
    holds_eq!(rx.poll(), Polled::Done(7), "C15: a permit was filled");
    holds_eq!(further.offer(1), Offered::Done, "C15: room is left");
}

/// With `waits`, a put waits while a permit is out, and is served once the permit is dropped.
fn comes_back(channels: Channels, way: Way, waits: bool) {
    let (tx, mut further, mut rx) = producers(channels);
    let permit =
        reserve(way, &tx).unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    if !waits {
        drop(permit);
        holds_eq!(
            further.offer(1),
            Offered::Done,
            "C15: a permit's room was not given back"
        );
        return;
    }
    let putter = world::spawn(move || {
        world::perturb();
        (way.put(&mut further, 1), further)
    });
    world::perturb();
    drop(permit);
    let (put, _further) = world::join(putter);
    holds_eq!(put, Ok(()), "C15: a put that waited for a permit's room");
    holds_eq!(rx.poll(), Polled::Done(1), "C15: it was put");
}

fn waits_for_room(channels: Channels, way: Way) {
    let (mut tx, further, mut rx) = producers(channels);
    assert_eq!(tx.offer(1), Offered::Done);
    let reserving = world::spawn(move || {
        world::perturb();
        let filled = match reserve(way, &further) {
            Ok(permit) => permit.fill(2),
            Err(why) => violated!("C15: {why:?} of an open channel"),
        };
        (filled, further)
    });
    world::perturb();
    assert_eq!(way.take(&mut rx), Ok(1));
    holds_eq!(way.take(&mut rx), Ok(2), "C15: a permit was filled");
    let (filled, _further) = world::join(reserving);
    holds_eq!(filled, Ok(()), "C15: a permit of an open channel");
}

/// A permit's value goes to a waiting take; the room that it leaves goes to a waiting put.
fn serves_a_take_and_a_put(channels: Channels, way: Way) {
    let (tx, mut further, mut rx) = producers(channels);
    let permit =
        reserve(way, &tx).unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    let taker = world::spawn(move || {
        world::perturb();
        let mut taken = [way.take(&mut rx), way.take(&mut rx)].map(Result::ok);
        taken.sort_unstable();
        (taken, rx)
    });
    let putter = world::spawn(move || {
        world::perturb();
        (way.put(&mut further, 2), further)
    });
    world::perturb();
    holds_eq!(permit.fill(1), Ok(()), "C15: a permit of an open channel");
    let (put, _further) = world::join(putter);
    holds_eq!(put, Ok(()), "C15: a put that waited for a permit's room");
    let (taken, _rx) = world::join(taker);
    holds_eq!(taken, [Some(1), Some(2)], "C15: both were put");
}

/// Room comes for a reservation as that is dropped. Either way the room is free afterwards.
fn dropped_meanwhile(channels: Channels) {
    let (mut tx, further, mut rx) = producers(channels);
    assert_eq!(tx.offer(1), Offered::Done);
    let mut reservation = Box::pin(further.reserve_async());
    let mut context = Context::from_waker(Waker::noop());
    let waits = reservation.as_mut().poll(&mut context).is_pending();
    assert!(waits, "there is no room");
    let taker = world::spawn(move || {
        world::perturb();
        (rx.poll(), rx)
    });
    world::perturb();
    drop(reservation);
    let (taken, _rx) = world::join(taker);
    assert_eq!(taken, Polled::Done(1));
    holds_eq!(
        tx.offer(2),
        Offered::Done,
        "C15: room that came to a reservation as it was dropped is held for ever"
    );
}

fn shut(tx: &Tx<u32>, rx: &mut Rx<u32>) -> bool {
    tx.close() || rx.close()
}

/// Whether one half or the other can close the channel.
fn is_shut(channels: Channels) -> bool {
    let (tx, mut rx) = channels.open::<u32>(ONE).expect("asked before");
    shut(&tx, &mut rx)
}

/// A permit's value at a close is accepted and can be taken, or it is given back.
fn close_while_out(channels: Channels, way: Way) {
    let (tx, further, mut rx) = producers(channels);
    let permit =
        reserve(way, &tx).unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    let closer = world::spawn(move || {
        world::perturb();
        assert!(shut(&further, &mut rx), "asked before");
        (further, rx)
    });
    world::perturb();
    let filled = permit.fill(2);
    let (_further, mut rx) = world::join(closer);
    let polled = rx.poll();
    holds!(
        matches!(
            (filled, &polled),
            (Ok(()), Polled::Done(2)) | (Err(2), Polled::Closed)
        ),
        "C15: a permit's value at a close was answered {filled:?}, and a take {polled:?}"
    );
    holds_eq!(rx.poll(), Polled::Closed, "C6: the channel is closed");
}

fn close_while_waiting(channels: Channels, way: Way) {
    let (mut tx, further, mut rx) = producers(channels);
    assert_eq!(tx.offer(1), Offered::Done);
    let reserving = world::spawn(move || {
        world::perturb();
        let refused = reserve(way, &further).err();
        (refused, further)
    });
    world::perturb();
    if !shut(&tx, &mut rx) {
        drop(rx);
    }
    let (refused, _further) = world::join(reserving);
    holds_eq!(
        refused,
        Some(ReserveError::Closed),
        "C15: a reservation outlived its channel"
    );
}

/// A value that is filled in without a consumer is dropped once, by the channel or by the caller.
fn no_consumer(channels: Channels) {
    let mint = Mint::new(1);
    let (tx, rx) = channels.open::<Token>(ONE).expect("asked before");
    let permit = tx
        .try_reserve()
        .unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"));
    drop(rx);
    drop(permit.fill(mint.token(0)));
    drop(tx);
    holds_eq!(mint.drops(0), 1, "C10: drops of a value without consumers");
}

/// A dropped reservation holds no room, whether or not it had been served.
fn dropped(channels: Channels, served: bool) {
    let (mut tx, further, mut rx) = producers(channels);
    assert_eq!(tx.offer(1), Offered::Done);
    {
        let mut reserving = pin!(further.reserve_async());
        let mut context = Context::from_waker(Waker::noop());
        holds!(
            matches!(reserving.as_mut().poll(&mut context), Poll::Pending),
            "C15: a reservation without room"
        );
        if served {
            assert_eq!(rx.poll(), Polled::Done(1));
            holds_eq!(
                tx.offer(2),
                Offered::WouldWait(2),
                "C15: a reservation that waits is served in turn"
            );
        }
    }
    if !served {
        assert_eq!(rx.poll(), Polled::Done(1));
    }
    holds_eq!(
        tx.offer(2),
        Offered::Done,
        "C15: a reservation that was dropped holds room"
    );
    assert_eq!(rx.poll(), Polled::Done(2));
}
