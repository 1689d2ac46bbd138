//! C4 (`WaiterFifo`): waiting puts and waiting takes are each served first come, first served. Futures
//! polled by hand make the order of waiting certain, in every world.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Async, Buffer, Offered, Polled};

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c4-waiter-fifo",
    statement: "Waiting puts, and waiting takes, are served in the order in which they began to wait.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Async>() -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in [Buffer::Rendezvous, Buffer::fixed(1)] {
        let Some((tx, rx)) = C::open::<u32>(buffer) else {
            continue;
        };
        if C::another_rx(&rx).is_some() {
            let model = move || takes::<C>(buffer);
            cases.push(Case::new(format!("takes, {buffer}"), model));
        }
        if C::another_tx(&tx).is_some() {
            let model = move || puts::<C>(buffer);
            cases.push(Case::new(format!("puts, {buffer}"), model));
        }
    }
    cases
}

fn takes<C: Async>(buffer: Buffer) {
    let (mut tx, mut first) = C::open::<u32>(buffer).expect("asked before");
    let mut second = C::another_rx(&first).expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    let mut first = pin!(C::take_async(&mut first));
    let mut second = pin!(C::take_async(&mut second));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    holds_eq!(
        C::offer(&mut tx, 1),
        Offered::Done,
        "C5: two takes wait, and an offer found none"
    );
    holds_eq!(
        C::offer(&mut tx, 2),
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

fn puts<C: Async>(buffer: Buffer) {
    let (mut first, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut second = C::another_tx(&first).expect("asked before");
    if buffer != Buffer::Rendezvous {
        assert_eq!(C::offer(&mut first, 0), Offered::Done);
    }
    let mut context = Context::from_waker(Waker::noop());
    let mut first = pin!(C::put_async(&mut first, 1));
    let mut second = pin!(C::put_async(&mut second, 2));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    // Some hand the room to the future that waits longest, which puts when it is polled: it is asked last.
    let mut took = Vec::new();
    let (mut is_first_done, mut is_second_done) = (false, false);
    for _ in 0..8 {
        match C::poll(&mut rx) {
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
