//! C8: a deadline ends the waiting, not before its time, and at its edge nothing is lost or doubled.

use std::time::Duration;

use flowmeter_harness::channel::{
    Buffer, PutDeadline, PutError, PutUntilError, TakeDeadline, TakeError, TakeUntilError,
};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::{Deadline, World};

use super::acts::{edge_after, fill, having, is_closable, put, room, take, turns};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c8-deadlines",
    statement: "Timed out means not before the deadline and without effect; at the edge nothing is lost or doubled.",
    relied_on_by: Reliance::Nobody,
};

const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(2),
    Buffer::Unbounded,
];

/// Long enough for a clock to tick, short enough to be met by a race.
const SOON: Duration = Duration::from_micros(50);

pub(super) fn take_cases<C: TakeDeadline, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in having::<C>(&BUFFERS) {
        cases.push(Case::new(format!("take, {buffer}"), move || {
            take_alone::<C, W>(buffer)
        }));
        if buffer != Buffer::Rendezvous {
            cases.push(Case::new(
                format!("take of what is there, {buffer}"),
                move || take_at_once::<C, W>(buffer),
            ));
        }
        if is_closable::<C>(buffer) {
            cases.push(Case::new(format!("take, closed, {buffer}"), move || {
                take_closed::<C, W>(buffer)
            }));
        }
        cases.push(Case::new(format!("take never, {buffer}"), move || {
            take_never::<C, W>(buffer)
        }));
        if buffer != Buffer::Unbounded {
            cases.push(Case::new(
                format!("take that ends a put's wait, {buffer}"),
                move || take_wakes::<C, W>(buffer),
            ));
        }
        cases.push(Case::new(
            format!("take at the edge, {buffer}"),
            move || take_edge::<C, W>(buffer),
        ));
        // Two takes look again for a put that has its place and is not done: loom may give way from the one to the other
        // for ever. The other worlds are fair.
        let is_endless = W::name() == "loom" && (buffer == Buffer::Unbounded || room(buffer) > 1);
        let is_shared = |(_tx, rx): (C::Tx<u32>, C::Rx<u32>)| C::another_rx(&rx).is_some();
        if !is_endless && C::open::<u32>(buffer).is_some_and(is_shared) {
            cases.push(Case::new(
                format!("take at the edge beside another, {buffer}"),
                move || take_edge_beside_another::<C, W>(buffer),
            ));
        }
    }
    cases
}

pub(super) fn put_cases<C: PutDeadline, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in having::<C>(&BUFFERS) {
        cases.push(Case::new(
            format!("put that ends a take's wait, {buffer}"),
            move || put_wakes::<C, W>(buffer),
        ));
        if buffer != Buffer::Rendezvous {
            cases.push(Case::new(
                format!("put where there is room, {buffer}"),
                move || put_at_once::<C, W>(buffer),
            ));
        }
        if is_closable::<C>(buffer) {
            cases.push(Case::new(format!("put, closed, {buffer}"), move || {
                put_closed::<C, W>(buffer)
            }));
        }
    }
    for buffer in having::<C>(&[Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(2)]) {
        cases.push(Case::new(format!("put, {buffer}"), move || {
            put_alone::<C, W>(buffer)
        }));
        cases.push(Case::new(format!("put at the edge, {buffer}"), move || {
            put_edge::<C, W>(buffer)
        }));
    }
    cases
}

fn soon<W: World>() -> Deadline {
    Deadline::after(W::now_nanos(), SOON)
}

/// A deadline that may pass just when the other side comes.
fn edge<W: World>() -> Deadline {
    Deadline::after(W::now_nanos(), edge_after::<W>())
}

fn is_due<W: World>(deadline: Deadline) {
    let early = deadline.as_nanos().saturating_sub(W::now_nanos());
    holds_eq!(early, 0, "C8: timed out before the deadline");
}

fn take_alone<C: TakeDeadline, W: World>(buffer: Buffer) {
    let (_tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    for deadline in [Deadline::from_nanos(0), soon::<W>()] {
        holds_eq!(
            C::take_until(&mut rx, deadline),
            Err(TakeUntilError::TimedOut),
            "C8: take of nothing"
        );
        is_due::<W>(deadline);
    }
}

/// A deadline in the past tries once: what is there is taken.
fn take_at_once<C: TakeDeadline, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    for deadline in [Deadline::from_nanos(0), soon::<W>()] {
        holds!(
            C::put(&mut tx, 4).is_ok(),
            "C1: a put on an open channel was refused"
        );
        holds_eq!(
            C::take_until(&mut rx, deadline),
            Ok(4),
            "C8: a value was there, and the deadline does not matter"
        );
    }
}

fn take_closed<C: TakeDeadline, W: World>(buffer: Buffer) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    C::close(&tx);
    for deadline in [Deadline::from_nanos(0), soon::<W>(), Deadline::NEVER] {
        holds_eq!(
            C::take_until(&mut rx, deadline),
            Err(TakeUntilError::Take(TakeError::Closed)),
            "C8: a take from a closed channel does not wait"
        );
    }
}

fn take_never<C: TakeDeadline, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let taker = W::spawn(move || {
        W::perturb();
        C::take_until(&mut rx, Deadline::after(W::now_nanos(), Duration::MAX))
    });
    put::<C, W, _>(&mut tx, 3);
    holds_eq!(W::join(taker), Ok(3), "C8: Duration::MAX is for ever");
}

/// A put that waits without a deadline goes on once a take with one has made room, or has met it.
fn take_wakes<C: TakeDeadline, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let last = fill::<C>(&mut tx, buffer);
    let putter = W::spawn(move || {
        put::<C, W, _>(&mut tx, last);
        tx
    });
    W::perturb();
    holds!(
        C::take_until(&mut rx, Deadline::NEVER).is_ok(),
        "C8: a take that waits for ever"
    );
    W::join(putter);
}

/// Values arrive just as the take gives up: each is either taken, or still there.
fn take_edge<C: TakeDeadline, W: World>(buffer: Buffer) {
    let count = turns::<W>();
    let mint = Mint::new(count);
    let (mut tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    let tokens: Vec<Token> = (0..count).map(|id| mint.token(id)).collect();
    let putter = W::spawn(move || {
        for token in tokens {
            put::<C, W, _>(&mut tx, token);
        }
    });
    let mut ledger = Ledger::new(count);
    for id in 0..count {
        ledger.accepted(id);
        W::perturb();
        match C::take_until(&mut rx, edge::<W>()) {
            Ok(token) => ledger.taken(token.id()),
            Err(TakeUntilError::TimedOut) => ledger.taken(take::<C, W, Token>(&mut rx).id()),
            Err(error) => violated!("C8: {error:?} on an open channel"),
        }
    }
    W::join(putter);
    drop(rx);
    ledger.close(&mint, "at a deadline");
}

/// A value arrives just as one of two takes gives up: that one has it, or the other one, which waits for as
/// long as it takes.
fn take_edge_beside_another<C: TakeDeadline, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut patient = C::another_rx(&rx).expect("asked before");
    let deadline = edge::<W>();
    let other = W::spawn(move || (take::<C, W, _>(&mut patient), patient));
    let hurried = W::spawn(move || (C::take_until(&mut rx, deadline), rx));
    put::<C, W, _>(&mut tx, 1);
    // Lets the deadline pass for somebody who has been woken and has not looked yet.
    let (_silent, mut nothing) = C::open::<u32>(buffer).expect("asked before");
    let nobody = C::take_until(&mut nothing, deadline);
    holds_eq!(nobody, Err(TakeUntilError::TimedOut), "C8: take of nothing");
    let (answer, _rx) = W::join(hurried);
    let left = match answer {
        Ok(1) => {
            put::<C, W, _>(&mut tx, 2);
            2
        }
        Err(TakeUntilError::TimedOut) => 1,
        other => violated!("C8: one value was put, and the take answered {other:?}"),
    };
    let (value, _patient) = W::join(other);
    holds_eq!(value, left, "C8: what the take beside a deadline took");
}

fn put_alone<C: PutDeadline, W: World>(buffer: Buffer) {
    let (mut tx, _rx) = C::open::<u32>(buffer).expect("asked before");
    fill::<C>(&mut tx, buffer);
    for deadline in [Deadline::from_nanos(0), soon::<W>()] {
        let answer = C::put_until(&mut tx, 9, deadline);
        holds_eq!(
            answer,
            Err(PutUntilError::TimedOut(9)),
            "C8: a put without room or taker"
        );
        is_due::<W>(deadline);
    }
}

/// A take that waits without a deadline has the value that a put with one brings.
fn put_wakes<C: PutDeadline, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let taker = W::spawn(move || take::<C, W, u32>(&mut rx));
    W::perturb();
    holds_eq!(
        C::put_until(&mut tx, 6, Deadline::NEVER),
        Ok(()),
        "C8: a put that waits for ever"
    );
    holds_eq!(W::join(taker), 6, "C1: a put that was accepted");
}

/// A deadline in the past tries once: where there is room, the value is put.
fn put_at_once<C: PutDeadline, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    for deadline in [Deadline::from_nanos(0), soon::<W>()] {
        holds_eq!(
            C::put_until(&mut tx, 4, deadline),
            Ok(()),
            "C8: there was room, and the deadline does not matter"
        );
        holds_eq!(
            C::take(&mut rx),
            Ok(4),
            "C1: a put that was accepted has no effect"
        );
    }
}

fn put_closed<C: PutDeadline, W: World>(buffer: Buffer) {
    let (mut tx, _rx) = C::open::<u32>(buffer).expect("asked before");
    C::close(&tx);
    for deadline in [Deadline::from_nanos(0), soon::<W>(), Deadline::NEVER] {
        let answer = C::put_until(&mut tx, 9, deadline);
        holds!(
            matches!(
                answer,
                Err(PutUntilError::Put(PutError::Closed(Some(9) | None)))
            ),
            "C8: a put to a closed channel does not wait: {answer:?}"
        );
    }
}

/// A taker comes just as the put gives up: the value is either taken, or given back.
fn put_edge<C: PutDeadline, W: World>(buffer: Buffer) {
    let room = room(buffer);
    let mint = Mint::new(room + 2);
    let (mut tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    let mut ledger = Ledger::new(room + 2);
    for id in 0..room {
        assert!(C::put(&mut tx, mint.token(id)).is_ok());
        ledger.accepted(id);
    }
    let taker = W::spawn(move || {
        let first = take::<C, W, Token>(&mut rx).id();
        (rx, first)
    });
    let token = mint.token(room);
    W::perturb();
    match C::put_until(&mut tx, token, edge::<W>()) {
        Ok(()) => ledger.accepted(room),
        Err(PutUntilError::TimedOut(token)) => ledger.refused(token.id()),
        Err(error) => violated!("C8: {error:?} on an open channel"),
    }
    // Whatever became of it, this one comes last, and lets the taker end.
    let closer = mint.token(room + 1);
    let last = W::spawn(move || put::<C, W, _>(&mut tx, closer));
    ledger.accepted(room + 1);
    let (mut rx, first) = W::join(taker);
    ledger.taken(first);
    while ledger.takes() < ledger.accepted_puts() {
        ledger.taken(take::<C, W, Token>(&mut rx).id());
    }
    W::join(last);
    drop(rx);
    ledger.close(&mint, "at a deadline");
}
