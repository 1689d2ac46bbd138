//! C8: a deadline ends the waiting, and not early. At its edge no value is lost or doubled.
//!
//! The smallest history that violates it:
//!
//! ```text
//! consumer                     producer
//! take_until(50 µs) waits
//!                              put 0 -> true, at 50 µs
//! -> timed out
//! take waits for ever: the 0 was lost to the deadline
//! ```

use std::time::Duration;

use flowmeter_harness::channel::{Buffer, PutError, PutUntilError, TakeError, TakeUntilError};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::{Deadline, world};

use super::acts::{edge_after, fill, is_empty, put, room, take, turns};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c8-deadlines",
    statement: "Timed out means not before the deadline and without effect; at the edge nothing is lost or doubled.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(2),
    Buffer::Unbounded,
];

/// Long enough for a clock to tick, short enough for a race.
const SOON: Duration = Duration::from_micros(50);

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let mut cases = Vec::new();
    if channels.puts_until() {
        cases.extend(put_cases(channels));
    }
    if channels.takes_until() {
        cases.extend(take_cases(channels));
    }
    cases
}

fn take_cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in channels.having(&BUFFERS) {
        cases.push(Case::new(format!("take, {buffer}"), move || {
            take_alone(channels, buffer)
        }));
        if buffer != Buffer::Rendezvous {
            cases.push(Case::new(
                format!("take of what is there, {buffer}"),
                move || take_at_once(channels, buffer),
            ));
        }
        if channels.is_closable(buffer) {
            cases.push(Case::new(format!("take, closed, {buffer}"), move || {
                take_closed(channels, buffer)
            }));
        }
        cases.push(Case::new(format!("take never, {buffer}"), move || {
            take_never(channels, buffer)
        }));
        if buffer != Buffer::Unbounded {
            cases.push(Case::new(
                format!("take that ends a put's wait, {buffer}"),
                move || take_wakes(channels, buffer),
            ));
        }
        cases.push(Case::new(
            format!("take at the edge, {buffer}"),
            move || take_edge(channels, buffer),
        ));
        let is_shared = |(_tx, rx): (Tx<u32>, Rx<u32>)| rx.another().is_some();
        if !is_endless(buffer) && channels.open::<u32>(buffer).is_some_and(is_shared) {
            cases.push(Case::new(
                format!("take at the edge beside another, {buffer}"),
                move || take_edge_beside_another(channels, buffer),
            ));
        }
    }
    cases
}

/// Two of one side retry while one of the other has claimed its place and is not done; loom may switch between the two
/// for ever. The other worlds are fair.
fn is_endless(buffer: Buffer) -> bool {
    world::name() == "loom" && (buffer == Buffer::Unbounded || room(buffer) > 1)
}

fn put_cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in channels.having(&BUFFERS) {
        cases.push(Case::new(
            format!("put that ends a take's wait, {buffer}"),
            move || put_wakes(channels, buffer),
        ));
        if buffer != Buffer::Rendezvous {
            cases.push(Case::new(
                format!("put where there is room, {buffer}"),
                move || put_at_once(channels, buffer),
            ));
        }
        if channels.is_closable(buffer) {
            cases.push(Case::new(format!("put, closed, {buffer}"), move || {
                put_closed(channels, buffer)
            }));
        }
    }
    for buffer in channels.having(&[Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(2)]) {
        cases.push(Case::new(format!("put, {buffer}"), move || {
            put_alone(channels, buffer)
        }));
        cases.push(Case::new(format!("put at the edge, {buffer}"), move || {
            put_edge(channels, buffer)
        }));
        let is_shared = |(tx, _rx): (Tx<u32>, Rx<u32>)| tx.another().is_some();
        if !is_endless(buffer) && channels.open::<u32>(buffer).is_some_and(is_shared) {
            cases.push(Case::new(
                format!("put at the edge beside another, {buffer}"),
                move || put_edge_beside_another(channels, buffer),
            ));
        }
    }
    cases
}

fn soon() -> Deadline {
    Deadline::after(world::now_nanos(), SOON)
}

/// A deadline that may pass just as the other side arrives.
fn edge() -> Deadline {
    Deadline::after(world::now_nanos(), edge_after())
}

fn is_due(deadline: Deadline) {
    let early = deadline.as_nanos().saturating_sub(world::now_nanos());
    holds_eq!(early, 0, "C8: timed out before the deadline");
}

fn take_alone(channels: Channels, buffer: Buffer) {
    let (_tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    for deadline in [Deadline::from_nanos(0), soon()] {
        holds_eq!(
            rx.take_until(deadline),
            Err(TakeUntilError::TimedOut),
            "C8: take of nothing"
        );
        is_due(deadline);
    }
}

/// A deadline in the past tries once: a stored value is taken.
fn take_at_once(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    for deadline in [Deadline::from_nanos(0), soon()] {
        holds!(
            tx.put(4).is_ok(),
            "C1: a put on an open channel was refused"
        );
        holds_eq!(
            rx.take_until(deadline),
            Ok(4),
            "C8: a value was there, and the deadline does not matter"
        );
    }
}

fn take_closed(channels: Channels, buffer: Buffer) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    tx.close();
    for deadline in [Deadline::from_nanos(0), soon(), Deadline::NEVER] {
        holds_eq!(
            rx.take_until(deadline),
            Err(TakeUntilError::Take(TakeError::Closed)),
            "C8: a take from a closed channel does not wait"
        );
    }
}

fn take_never(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let taker = world::spawn(move || {
        world::perturb();
        rx.take_until(Deadline::after(world::now_nanos(), Duration::MAX))
    });
    put(&mut tx, 3);
    holds_eq!(world::join(taker), Ok(3), "C8: Duration::MAX is for ever");
}

/// A put without a deadline goes on once a take with one has made room, or has met it.
fn take_wakes(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let last = fill(&mut tx, buffer);
    let putter = world::spawn(move || {
        put(&mut tx, last);
        tx
    });
    world::perturb();
    holds!(
        rx.take_until(Deadline::NEVER).is_ok(),
        "C8: a take that waits for ever"
    );
    world::join(putter);
}

/// Values arrive just as the take gives up. Each is taken, or is still in the channel. In an explored world the puts
/// outnumber the takes by as many as there is room for, so each take has to make room.
fn take_edge(channels: Channels, buffer: Buffer) {
    let takes = turns();
    let left = match world::name() {
        "std" | "loom" => 0,
        _ => room(buffer),
    };
    let count = takes + left;
    let mint = Mint::new(count);
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    let tokens: Vec<Token> = (0..count).map(|id| mint.token(id)).collect();
    let putter = world::spawn(move || {
        for token in tokens {
            put(&mut tx, token);
        }
        tx
    });
    let mut ledger = Ledger::new(count);
    (0..count).for_each(|id| ledger.accepted(id));
    for _ in 0..takes {
        world::perturb();
        match rx.take_until(edge()) {
            Ok(token) => ledger.taken(token.id()),
            Err(TakeUntilError::TimedOut) => ledger.taken(take::<Token>(&mut rx).id()),
            Err(error) => violated!("C8: {error:?} on an open channel"),
        }
    }
    // A put that waits beside room is a deadlock here.
    let _tx = world::join(putter);
    for _ in 0..left {
        ledger.taken(take::<Token>(&mut rx).id());
    }
    drop(rx);
    ledger.close(&mint, "at a deadline");
}

/// A value arrives just as one of two takes gives up. Either that take gets it, or the other one, which has no
/// deadline.
fn take_edge_beside_another(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut patient = rx.another().expect("asked before");
    let deadline = edge();
    let other = world::spawn(move || (take(&mut patient), patient));
    let hurried = world::spawn(move || (rx.take_until(deadline), rx));
    put(&mut tx, 1);
    // Lets the deadline pass for a taker that was woken and has not yet run.
    let (_silent, mut nothing) = channels.open::<u32>(buffer).expect("asked before");
    let nobody = nothing.take_until(deadline);
    holds_eq!(nobody, Err(TakeUntilError::TimedOut), "C8: take of nothing");
    let (answer, _rx) = world::join(hurried);
    let left = match answer {
        Ok(1) => {
            put(&mut tx, 2);
            2
        }
        Err(TakeUntilError::TimedOut) => 1,
        other => violated!("C8: one value was put, and the take answered {other:?}"),
    };
    let (value, _patient) = world::join(other);
    holds_eq!(value, left, "C8: what the take beside a deadline took");
}

fn put_alone(channels: Channels, buffer: Buffer) {
    let (mut tx, _rx) = channels.open::<u32>(buffer).expect("asked before");
    fill(&mut tx, buffer);
    for deadline in [Deadline::from_nanos(0), soon()] {
        let answer = tx.put_until(9, deadline);
        holds_eq!(
            answer,
            Err(PutUntilError::TimedOut(9)),
            "C8: a put without room or taker"
        );
        is_due(deadline);
    }
}

/// A take without a deadline gets the value of a put with one.
fn put_wakes(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let taker = world::spawn(move || take::<u32>(&mut rx));
    world::perturb();
    holds_eq!(
        tx.put_until(6, Deadline::NEVER),
        Ok(()),
        "C8: a put that waits for ever"
    );
    holds_eq!(world::join(taker), 6, "C1: a put that was accepted");
}

/// A deadline in the past tries once: where there is room, the value is put.
fn put_at_once(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    for deadline in [Deadline::from_nanos(0), soon()] {
        holds_eq!(
            tx.put_until(4, deadline),
            Ok(()),
            "C8: there was room, and the deadline does not matter"
        );
        holds_eq!(
            rx.take(),
            Ok(4),
            "C1: a put that was accepted has no effect"
        );
    }
}

fn put_closed(channels: Channels, buffer: Buffer) {
    let (mut tx, _rx) = channels.open::<u32>(buffer).expect("asked before");
    tx.close();
    for deadline in [Deadline::from_nanos(0), soon(), Deadline::NEVER] {
        let answer = tx.put_until(9, deadline);
        holds!(
            matches!(
                answer,
                Err(PutUntilError::Put(PutError::Closed(Some(9) | None)))
            ),
            "C8: a put to a closed channel does not wait: {answer:?}"
        );
    }
}

/// A taker arrives just as the put gives up. The value is taken, or it is given back and put again. The taker takes it,
/// so it must not sleep beside a value.
fn put_edge(channels: Channels, buffer: Buffer) {
    let room = room(buffer);
    let mint = Mint::new(room + 1);
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    let mut ledger = Ledger::new(room + 1);
    for id in 0..room {
        assert!(tx.put(mint.token(id)).is_ok());
        ledger.accepted(id);
    }
    let taker = world::spawn(move || {
        let taken: Vec<usize> = (0..=room).map(|_| take::<Token>(&mut rx).id()).collect();
        (taken, rx)
    });
    let token = mint.token(room);
    world::perturb();
    match tx.put_until(token, edge()) {
        Ok(()) => {}
        Err(PutUntilError::TimedOut(token)) => put(&mut tx, token),
        Err(error) => violated!("C8: {error:?} on an open channel"),
    }
    ledger.accepted(room);
    let (taken, mut rx) = world::join(taker);
    taken.into_iter().for_each(|id| ledger.taken(id));
    is_empty(&mut rx, "C8: a put that timed out was delivered");
    drop((tx, rx));
    ledger.close(&mint, "at a deadline");
}

/// Room, or a taker, comes just as one of two puts gives up. Either that put has it, or the other one, which has no
/// deadline.
fn put_edge_beside_another(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    fill(&mut tx, buffer);
    let mut patient = tx.another().expect("asked before");
    let deadline = edge();
    let other = world::spawn(move || {
        put(&mut patient, 100);
        patient
    });
    let hurried = world::spawn(move || (tx.put_until(200, deadline), tx));
    let mut taken = vec![take(&mut rx)];
    // Lets the deadline pass for a put that was woken and has not yet run.
    let (mut full, _idle) = channels.open::<u32>(buffer).expect("asked before");
    let last = fill(&mut full, buffer);
    let nobody = full.put_until(last, deadline);
    holds_eq!(
        nobody,
        Err(PutUntilError::TimedOut(last)),
        "C8: a put without room or taker"
    );
    let (answer, _tx) = world::join(hurried);
    match answer {
        Ok(()) => taken.push(take(&mut rx)),
        Err(PutUntilError::TimedOut(200)) => {}
        other => violated!("C8: a put beside another answered {other:?}"),
    }
    // A put that waits beside room is a deadlock here.
    drop(world::join(other));
    let rest = 1 + room(buffer) + usize::from(answer.is_ok()) - taken.len();
    taken.extend((0..rest).map(|_| take(&mut rx)));
    holds_eq!(
        taken.contains(&200),
        answer.is_ok(),
        "C8: what was taken of a put beside another"
    );
}
