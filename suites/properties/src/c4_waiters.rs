//! C4 (`WaiterFifo`): waiting puts are served first come, first served, and so are waiting takes. Futures polled by
//! hand fix the order of waiting in every world.
//!
//! The smallest history that violates it:
//!
//! ```text
//! take 1           take 2           producer
//! waits
//!                  waits
//!                                   offer 1 -> done
//!                                   offer 2 -> done
//! -> 2             -> 1: the later take was served first
//!
//! takes 1 to 3 wait, and take 1 is dropped
//! offer 1, which answers take 3 and not take 2
//! ```

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Polled};

use super::{Case, Cases, Property, Reliance};
use crate::design::Channels;
use crate::design::channels::Design;

pub(super) const PROPERTY: Property = Property {
    name: "c4-waiter-fifo",
    statement: "Waiting puts, and waiting takes, are served in the order in which they began to wait.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    if !channels.awaits() || !design.claims(Claim::WaiterFifo) {
        return Vec::new();
    }
    let mut cases = Vec::new();
    for buffer in [Buffer::Rendezvous, Buffer::fixed(1)] {
        let Some((tx, rx)) = channels.open::<u32>(buffer) else {
            continue;
        };
        if rx.another().is_some() {
            let model = move || takes(channels, buffer);
            cases.push(Case::new(format!("takes, {buffer}"), model));
            let name = format!("takes of {LINE} of which some leave, {buffer}");
            cases.push(Case::new(name, move || {
                all_but_two().for_each(|stays| takes_beside_leavers(channels, buffer, stays));
            }));
        }
        let keeps_puts = design.claims(Claim::PendingPutsSurvive);
        if keeps_puts && buffer != Buffer::Rendezvous && channels.awaits_room() {
            let name = format!("puts among reservations that a close refuses, {buffer}");
            cases.push(Case::new(name, move || {
                all_but_two().for_each(|puts| beside_refused(channels, buffer, puts));
            }));
        }
        if tx.another().is_some() {
            let model = move || puts(channels, buffer);
            cases.push(Case::new(format!("puts, {buffer}"), model));
            let name = format!("puts of {LINE} of which some leave, {buffer}");
            cases.push(Case::new(name, move || {
                all_but_two().for_each(|stays| puts_beside_leavers(channels, buffer, stays));
            }));
        }
    }
    cases
}

/// How many wait.
const LINE: usize = 5;

/// Each choice of all of them but one or two.
fn all_but_two() -> impl Iterator<Item = [bool; LINE]> {
    let pairs = (0..LINE).flat_map(|one| (one..LINE).map(move |other| (one, other)));
    pairs.map(|(one, other)| std::array::from_fn(|nth| nth != one && nth != other))
}

fn takes_beside_leavers(channels: Channels, buffer: Buffer, stays: [bool; LINE]) {
    let (mut tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut rxs: Vec<_> = (0..LINE)
        .map(|_| rx.another().expect("asked before"))
        .collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut takes: Vec<_> = rxs.iter_mut().map(|rx| Box::pin(rx.take_async())).collect();
    for take in &mut takes {
        assert!(take.as_mut().poll(&mut context).is_pending());
    }
    let mut stay = stays.iter();
    takes.retain(|_| *stay.next().expect("one for each"));
    let rest = u32::try_from(takes.len()).expect("few");
    for value in 0..rest {
        holds_eq!(
            tx.offer(value),
            Offered::Done,
            "C9: a take waits behind some that left, and an offer found none"
        );
    }
    // The last is polled first: one that takes what comes while it is polled would get the first value.
    for (take, value) in takes.iter_mut().zip(0..rest).rev() {
        holds_eq!(
            take.as_mut().poll(&mut context),
            Poll::Ready(Ok(value)),
            "C4: takes were served in another order, where {stays:?} stay"
        );
    }
}

fn puts_beside_leavers(channels: Channels, buffer: Buffer, stays: [bool; LINE]) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let held = buffer != Buffer::Rendezvous;
    if held {
        assert_eq!(tx.offer(99), Offered::Done);
    }
    let mut txs: Vec<_> = (0..LINE)
        .map(|_| tx.another().expect("asked before"))
        .collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut puts: Vec<_> = (0..)
        .zip(&mut txs)
        .map(|(nth, tx)| Box::pin(tx.put_async(nth)))
        .collect();
    for put in &mut puts {
        assert!(put.as_mut().poll(&mut context).is_pending());
    }
    let mut stay = stays.iter();
    puts.retain(|_| *stay.next().expect("one for each"));
    let mut is_done = vec![false; puts.len()];
    let mut took = Vec::new();
    // As in `puts`: some puts are made only as they are polled.
    for _ in 0..4 * LINE {
        match rx.poll() {
            Polled::Done(value) => took.push(value),
            Polled::WouldWait => {
                for (put, is_done) in puts.iter_mut().zip(&mut is_done).rev() {
                    *is_done = *is_done || put.as_mut().poll(&mut context).is_ready();
                }
            }
            Polled::Closed => violated!("C2: an open channel was closed"),
        }
    }
    let rest = (0..)
        .zip(stays)
        .filter_map(|(nth, stays)| stays.then_some(nth));
    let expected: Vec<u32> = held.then_some(99).into_iter().chain(rest).collect();
    holds_eq!(
        took,
        expected,
        "C4: puts were served in another order, where {stays:?} stay"
    );
    holds!(
        is_done.iter().all(|is_done| *is_done),
        "C1: a put was not told that it was taken"
    );
}

/// Puts and reservations stand in one line. The close refuses the reservations and leaves the puts in their order.
fn beside_refused(channels: Channels, buffer: Buffer, is_put: [bool; LINE]) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    assert_eq!(tx.offer(99), Offered::Done);
    let mut txs: Vec<_> = (0..LINE)
        .map(|_| tx.another().expect("a family with reservations"))
        .collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting: Vec<Pin<Box<dyn Future<Output = ()> + Send + '_>>> = Vec::new();
    for ((nth, tx), is_put) in (0..).zip(&mut txs).zip(is_put) {
        waiting.push(match is_put {
            true => Box::pin(async move { drop(tx.put_async(nth).await) }),
            false => Box::pin(async move { drop(tx.reserve_async().await) }),
        });
    }
    for waits in &mut waiting {
        assert!(waits.as_mut().poll(&mut context).is_pending());
    }
    tx.close();
    let came = std::iter::from_fn(|| match rx.poll() {
        Polled::Done(value) => Some(value),
        Polled::WouldWait | Polled::Closed => None,
    });
    let puts = (0..)
        .zip(is_put)
        .filter_map(|(nth, is_put)| is_put.then_some(nth));
    holds_eq!(
        came.collect::<Vec<u32>>(),
        std::iter::once(99).chain(puts).collect::<Vec<u32>>(),
        "C4: puts that outlived a close were served in another order, where {is_put:?} were puts"
    );
}

fn takes(channels: Channels, buffer: Buffer) {
    let (mut tx, mut first) = channels.open::<u32>(buffer).expect("asked before");
    let mut second = first.another().expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    let mut first = pin!(first.take_async());
    let mut second = pin!(second.take_async());
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    holds_eq!(
        tx.offer(1),
        Offered::Done,
        "C5: two takes wait, and an offer found none"
    );
    holds_eq!(
        tx.offer(2),
        Offered::Done,
        "C5: a take waits, and an offer found none"
    );
    holds_eq!(
        second.as_mut().poll(&mut context),
        Poll::Ready(Ok(2)),
        "C4: the second take came first"
    );
    holds_eq!(
        first.as_mut().poll(&mut context),
        Poll::Ready(Ok(1)),
        "C4: the first take came second"
    );
}

fn puts(channels: Channels, buffer: Buffer) {
    let (mut first, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut second = first.another().expect("asked before");
    if buffer != Buffer::Rendezvous {
        assert_eq!(first.offer(0), Offered::Done);
    }
    let mut context = Context::from_waker(Waker::noop());
    let mut first = pin!(first.put_async(1));
    let mut second = pin!(second.put_async(2));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    // Some channels hand the room to the future that has waited longest, which puts when it is polled. So it is
    // polled last.
    let mut took = Vec::new();
    let (mut is_first_done, mut is_second_done) = (false, false);
    for _ in 0..8 {
        match rx.poll() {
            Polled::Done(value) => took.push(value),
            Polled::WouldWait => {
                is_second_done = is_second_done || second.as_mut().poll(&mut context).is_ready();
                is_first_done = is_first_done || first.as_mut().poll(&mut context).is_ready();
            }
            Polled::Closed => violated!("C2: an open channel was closed"),
        }
    }
    let expected: &[u32] = if buffer == Buffer::Rendezvous {
        &[1, 2]
    } else {
        &[0, 1, 2]
    };
    holds_eq!(
        took,
        expected,
        "C4: waiting puts were not served in their order"
    );
    holds!(
        is_first_done && is_second_done,
        "C1: a put was not told that it was taken"
    );
}
