//! C3: a full buffer makes a put wait, an empty one a take. It is full exactly at its capacity.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer, fixed(1)          consumer
//! offer 0 -> done
//! offer 1 -> done             two values in one place
//!
//! put 2 waits, full
//!                             poll -> 0
//! waits for ever: there is room
//! ```

use std::iter;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Buffer, Offered, Polled};
use flowmeter_harness::sync::world;

use super::acts::{fill, is_empty, put, room, take};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c3-capacity",
    statement: "A buffer admits exactly as many values as its capacity, and then a put would wait.",
    relied_on_by: Reliance::All,
    cases: Cases::Channels(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let mut cases = offered_cases(channels);
    if channels.blocks() {
        cases.extend(quiescent_cases(channels));
    }
    if channels.awaits() {
        cases.extend(waiting_cases(channels));
    }
    cases
}

fn offered_cases(channels: Channels) -> Vec<Case> {
    [1usize, 2, 3, 64]
        .into_iter()
        .filter(|capacity| channels.open::<u64>(Buffer::fixed(*capacity)).is_some())
        .map(|capacity| {
            Case::new(format!("fixed({capacity})"), move || {
                fill_and_drain(channels, capacity)
            })
        })
        .collect()
}

fn fill_and_drain(channels: Channels, capacity: usize) {
    let (mut tx, mut rx) = channels
        .open::<usize>(Buffer::fixed(capacity))
        .expect("asked before");
    // Three rounds, so that an index wraps.
    for round in 0..3 {
        holds_eq!(
            rx.poll(),
            Polled::WouldWait,
            "C3: an empty channel had a value"
        );
        for value in 0..capacity {
            let offered = tx.offer(round * capacity + value);
            holds_eq!(
                offered,
                Offered::Done,
                "C3: value {value} of {capacity} found no room"
            );
        }
        let offered = tx.offer(usize::MAX);
        holds_eq!(
            offered,
            Offered::WouldWait(usize::MAX),
            "C3: room for more than {capacity}"
        );
        for value in 0..capacity {
            holds_eq!(
                rx.poll(),
                Polled::Done(round * capacity + value),
                "C2: out of order"
            );
        }
    }
}

/// Threads that have to wait, for worlds that detect when all threads do.
fn quiescent_cases(channels: Channels) -> Vec<Case> {
    let shared = |(tx, rx): (Tx<u32>, Rx<u32>)| tx.another().is_some() && rx.another().is_some();
    [Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(2)]
        .into_iter()
        .filter(|buffer| {
            world::name() != "std" && channels.open::<u32>(*buffer).is_some_and(shared)
        })
        .flat_map(|buffer| {
            let mut cases = vec![
                Case::new(format!("a put waits for a take, {buffer}"), move || {
                    a_put_waits(channels, buffer)
                }),
                Case::new(format!("a take waits for an offer, {buffer}"), move || {
                    a_take_waits(channels, buffer)
                }),
                Case::new(format!("one value for two takes, {buffer}"), move || {
                    one_of_two_takes(channels, buffer)
                }),
            ];
            if buffer != Buffer::Rendezvous {
                cases.push(Case::new(
                    format!("one place for two puts, {buffer}"),
                    move || one_of_two_puts(channels, buffer),
                ));
            }
            cases
        })
        .collect()
}

/// When all threads wait, the put waits and the buffer is full. The poll that then comes ends its wait.
fn a_put_waits(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let room = fill(&mut tx, buffer);
    let mut other = rx.another().expect("asked before");
    let waited = Arc::new(AtomicBool::new(false));
    let came = Arc::clone(&waited);
    world::on_quiescence(move || {
        came.store(true, Relaxed);
        holds_eq!(other.poll(), Polled::Done(0), "C2: out of order");
    });
    put(&mut tx, room);
    holds!(waited.load(Relaxed), "C3: a put without room did not wait");
    for value in 1..=room {
        holds_eq!(rx.poll(), Polled::Done(value), "C2: out of order");
    }
    is_empty(&mut rx, "C2: a put that had waited was taken twice");
}

/// When all threads wait, the take waits. The offer that then comes ends its wait.
fn a_take_waits(channels: Channels, buffer: Buffer) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut other = tx.another().expect("asked before");
    world::on_quiescence(move || offer_to_a_take(&mut other, 1));
    let taken = take(&mut rx);
    holds_eq!(taken, 1, "C3: a take of nothing was answered");
    is_empty(&mut rx, "C2: a value was taken twice");
}

fn offer_to_a_take(tx: &mut Tx<u32>, value: u32) {
    holds_eq!(
        tx.offer(value),
        Offered::Done,
        "C5: a take waits, and an offer found none"
    );
}

/// One put satisfies one of two takes. The other waits until all threads do; then a second value comes.
fn one_of_two_takes(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut later = tx.another().expect("asked before");
    // Two takes retry while a put has claimed its place and is not done; loom may switch between the two for ever. So
    // with more than one place the value is stored beforehand under loom.
    let is_stored = world::name() == "loom" && room(buffer) > 1;
    if is_stored {
        assert_eq!(tx.offer(1), Offered::Done);
    }
    let takers = [(); 2].map(|()| {
        let mut rx = rx.another().expect("asked before");
        world::spawn(move || take(&mut rx))
    });
    // If one value answered both takes, that moment would never come. If it answered none, both would wait on after
    // it.
    world::on_quiescence(move || offer_to_a_take(&mut later, 2));
    if !is_stored {
        put(&mut tx, 1);
    }
    let mut took = takers.map(world::join);
    took.sort_unstable();
    holds_eq!(took, [1, 2], "C3: one value for each take");
    is_empty(&mut rx, "C2: a value was taken twice");
}

/// The last place is for one of two puts. The other waits until all threads do; then a poll makes room.
fn one_of_two_puts(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let room = room(buffer);
    for _ in 1..room {
        assert_eq!(tx.offer(0), Offered::Done);
    }
    let mut other = rx.another().expect("asked before");
    let waited = Arc::new(AtomicBool::new(false));
    let came = Arc::clone(&waited);
    world::on_quiescence(move || {
        came.store(true, Relaxed);
        assert!(matches!(other.poll(), Polled::Done(_)));
    });
    let putters = [(); 2].map(|()| {
        let mut tx = tx.another().expect("asked before");
        world::spawn(move || put(&mut tx, 0))
    });
    for putter in putters {
        world::join(putter);
    }
    let left = iter::from_fn(|| matches!(rx.poll(), Polled::Done(_)).then_some(()));
    holds_eq!(
        (waited.load(Relaxed), left.count()),
        (true, room),
        "C3: one place for each put, and one of two had to wait"
    );
}

/// A waiting put, polled by hand.
fn waiting_cases(channels: Channels) -> Vec<Case> {
    channels
        .having(&[Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(2)])
        .map(|buffer| {
            Case::new(format!("a put waits, {buffer}"), move || {
                waits_for_room(channels, buffer)
            })
        })
        .collect()
}

/// A put waits as long as there is no room: one take answers it.
fn waits_for_room(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let filled = fill(&mut tx, buffer);
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut put = pin!(tx.put_async(filled));
        for _ in 0..2 {
            holds!(
                put.as_mut().poll(&mut context).is_pending(),
                "C3: a put without room"
            );
        }
        holds_eq!(rx.poll(), Polled::Done(0), "C2: out of order");
        holds_eq!(
            put.as_mut().poll(&mut context),
            Poll::Ready(Ok(())),
            "C3: a take made room, and the put waits on"
        );
    }
    for value in 1..=filled {
        holds_eq!(rx.poll(), Polled::Done(value), "C2: out of order");
    }
    is_empty(&mut rx, "C2: a put that had waited was taken twice");
}
