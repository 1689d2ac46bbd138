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
//! ```

use std::pin::pin;
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
        }
        if tx.another().is_some() {
            let model = move || puts(channels, buffer);
            cases.push(Case::new(format!("puts, {buffer}"), model));
        }
    }
    cases
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
