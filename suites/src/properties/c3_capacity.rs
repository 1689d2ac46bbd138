//! C3: a full buffer makes a put wait, an empty one a take; it is full exactly at its capacity.

use std::iter;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Async, Blocking, Buffer, Channels, Offered, Polled};
use flowmeter_harness::sync::World;

use super::acts::{fill, having, is_empty, put, room, take};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c3-capacity",
    statement: "A buffer admits exactly as many values as its capacity, and then a put would wait.",
    relied_on_by: Reliance::Everybody,
};

pub(super) fn cases<C: Channels>() -> Vec<Case> {
    [1usize, 2, 3, 64]
        .into_iter()
        .filter(|capacity| C::open::<u64>(Buffer::fixed(*capacity)).is_some())
        .map(|capacity| {
            Case::new(format!("fixed({capacity})"), move || {
                fill_and_drain::<C>(capacity)
            })
        })
        .collect()
}

fn fill_and_drain<C: Channels>(capacity: usize) {
    let (mut tx, mut rx) = C::open::<usize>(Buffer::fixed(capacity)).expect("asked before");
    // Three times round, so that an index that wraps is seen wrapping.
    for round in 0..3 {
        holds_eq!(
            C::poll(&mut rx),
            Polled::WouldWait,
            "C3: an empty channel had a value"
        );
        for value in 0..capacity {
            let offered = C::offer(&mut tx, round * capacity + value);
            holds_eq!(
                offered,
                Offered::Done,
                "C3: value {value} of {capacity} found no room"
            );
        }
        let offered = C::offer(&mut tx, usize::MAX);
        holds_eq!(
            offered,
            Offered::WouldWait(usize::MAX),
            "C3: room for more than {capacity}"
        );
        for value in 0..capacity {
            holds_eq!(
                C::poll(&mut rx),
                Polled::Done(round * capacity + value),
                "C2: out of order"
            );
        }
    }
}

/// Cases of threads that are right to wait, for worlds that know when everybody does.
pub(super) fn quiescent_cases<C: Blocking, W: World>() -> Vec<Case> {
    let shared = |(tx, rx): (C::Tx<u32>, C::Rx<u32>)| {
        C::another_tx(&tx).is_some() && C::another_rx(&rx).is_some()
    };
    [Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(2)]
        .into_iter()
        .filter(|buffer| W::name() != "std" && C::open::<u32>(*buffer).is_some_and(shared))
        .flat_map(|buffer| {
            let mut cases = vec![
                Case::new(format!("a put waits for a take, {buffer}"), move || {
                    a_put_waits::<C, W>(buffer)
                }),
                Case::new(format!("a take waits for an offer, {buffer}"), move || {
                    a_take_waits::<C, W>(buffer)
                }),
                Case::new(format!("one value for two takes, {buffer}"), move || {
                    one_of_two_takes::<C, W>(buffer)
                }),
            ];
            if buffer != Buffer::Rendezvous {
                cases.push(Case::new(
                    format!("one place for two puts, {buffer}"),
                    move || one_of_two_puts::<C, W>(buffer),
                ));
            }
            cases
        })
        .collect()
}

/// With everybody waiting, the put waits too and the buffer is full; the take that then comes ends it.
fn a_put_waits<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let room = fill::<C>(&mut tx, buffer);
    let mut other = C::another_rx(&rx).expect("asked before");
    let waited = Arc::new(AtomicBool::new(false));
    let came = Arc::clone(&waited);
    W::on_quiescence(move || {
        came.store(true, Relaxed);
        holds_eq!(C::poll(&mut other), Polled::Done(0), "C2: out of order");
    });
    put::<C, W, _>(&mut tx, room);
    holds!(waited.load(Relaxed), "C3: a put without room did not wait");
    for value in 1..=room {
        holds_eq!(C::poll(&mut rx), Polled::Done(value), "C2: out of order");
    }
    is_empty::<C, _>(&mut rx, "C2: a put that had waited was taken twice");
}

/// With everybody waiting, the take waits too; the offer that then comes ends it.
fn a_take_waits<C: Blocking, W: World>(buffer: Buffer) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut other = C::another_tx(&tx).expect("asked before");
    W::on_quiescence(move || offer_to_a_take::<C>(&mut other, 1));
    let taken = take::<C, W, _>(&mut rx);
    holds_eq!(taken, 1, "C3: a take of nothing was answered");
    is_empty::<C, _>(&mut rx, "C2: a value was taken twice");
}

fn offer_to_a_take<C: Channels>(tx: &mut C::Tx<u32>, value: u32) {
    holds_eq!(
        C::offer(tx, value),
        Offered::Done,
        "C5: a take waits, and an offer found none"
    );
}

/// One put satisfies one of two takes; the other waits until everybody does, and a second value comes.
fn one_of_two_takes<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut later = C::another_tx(&tx).expect("asked before");
    // Two takes look again for a put that has its place and is not done: loom may give way from the one to the other for
    // ever. Where there is more than one place the value is stored beforehand there.
    let is_stored = W::name() == "loom" && room(buffer) > 1;
    if is_stored {
        assert_eq!(C::offer(&mut tx, 1), Offered::Done);
    }
    let takers = [(); 2].map(|()| {
        let mut rx = C::another_rx(&rx).expect("asked before");
        W::spawn(move || take::<C, W, _>(&mut rx))
    });
    // If one value answers both there is no such moment, and if it answers none both wait on after it.
    W::on_quiescence(move || offer_to_a_take::<C>(&mut later, 2));
    if !is_stored {
        put::<C, W, _>(&mut tx, 1);
    }
    let mut took = takers.map(W::join);
    took.sort_unstable();
    holds_eq!(took, [1, 2], "C3: one value for each take");
    is_empty::<C, _>(&mut rx, "C2: a value was taken twice");
}

/// The last place is for one of two puts; the other waits until everybody does, and a poll makes room.
fn one_of_two_puts<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let room = room(buffer);
    for _ in 1..room {
        assert_eq!(C::offer(&mut tx, 0), Offered::Done);
    }
    let mut other = C::another_rx(&rx).expect("asked before");
    let waited = Arc::new(AtomicBool::new(false));
    let came = Arc::clone(&waited);
    W::on_quiescence(move || {
        came.store(true, Relaxed);
        assert!(matches!(C::poll(&mut other), Polled::Done(_)));
    });
    let putters = [(); 2].map(|()| {
        let mut tx = C::another_tx(&tx).expect("asked before");
        W::spawn(move || put::<C, W, _>(&mut tx, 0))
    });
    for putter in putters {
        W::join(putter);
    }
    let left = iter::from_fn(|| matches!(C::poll(&mut rx), Polled::Done(_)).then_some(()));
    holds_eq!(
        (waited.load(Relaxed), left.count()),
        (true, room),
        "C3: one place for each put, and one of two had to wait"
    );
}

/// Cases with a put that waits, polled by hand.
pub(super) fn waiting_cases<C: Async>() -> Vec<Case> {
    having::<C>(&[Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(2)])
        .map(|buffer| {
            Case::new(format!("a put waits, {buffer}"), move || {
                waits_for_room::<C>(buffer)
            })
        })
        .collect()
}

/// A put waits while there is no room and no longer: one take answers it.
fn waits_for_room<C: Async>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let filled = fill::<C>(&mut tx, buffer);
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut put = pin!(C::put_async(&mut tx, filled));
        for _ in 0..2 {
            holds!(
                put.as_mut().poll(&mut context).is_pending(),
                "C3: a put without room"
            );
        }
        holds_eq!(C::poll(&mut rx), Polled::Done(0), "C2: out of order");
        holds_eq!(
            put.as_mut().poll(&mut context),
            Poll::Ready(Ok(())),
            "C3: a take made room, and the put waits on"
        );
    }
    for value in 1..=filled {
        holds_eq!(C::poll(&mut rx), Polled::Done(value), "C2: out of order");
    }
    is_empty::<C, _>(&mut rx, "C2: a put that had waited was taken twice");
}
