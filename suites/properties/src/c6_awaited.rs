//! C6, P3: waiting for a close ends when the channel closes, and not before.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! closed().await        consumer
//! waits
//!                       close
//! waits for ever: the wake-up was lost
//!
//! returns, and the next offer is accepted: the channel was open
//! ```

use std::pin::pin;
use std::task::{Context, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered};
use flowmeter_harness::sync::world;

use super::acts::turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::Channels;
use crate::design::channels::Design;

pub(super) const PROPERTY: Property = Property {
    name: "c6-awaited-close",
    statement: "A wait for a channel to close ends when the channel closes, and not before.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    if !channels.awaits_close() {
        return Vec::new();
    }
    let mut cases = Vec::new();
    for buffer in channels.having(&[Buffer::Rendezvous, Buffer::fixed(1)]) {
        cases.push(Case::new(
            format!("closed meanwhile, {buffer}"),
            move || (0..turns()).for_each(|_| meanwhile(channels, buffer, 1)),
        ));
        cases.push(Case::new(format!("two wait, {buffer}"), move || {
            (0..turns()).for_each(|_| meanwhile(channels, buffer, 2))
        }));
        cases.push(Case::new(format!("closed before, {buffer}"), move || {
            closed_before(channels, buffer)
        }));
        if design.claims(Claim::Disconnect) {
            cases.push(Case::new(format!("no consumer, {buffer}"), move || {
                (0..turns()).for_each(|_| no_consumer(channels, buffer))
            }));
        }
    }
    cases
}

/// Several threads wait while another closes. One further waiter was polled once and dropped.
fn meanwhile(channels: Channels, buffer: Buffer, waiting: usize) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    {
        let mut context = Context::from_waker(Waker::noop());
        let gone = pin!(tx.closed());
        holds!(
            gone.poll(&mut context).is_pending(),
            "C6: an open channel was said to be closed"
        );
    }
    let further = (1..waiting).map(|_| tx.another().expect("a handle has another"));
    let mut txs: Vec<_> = further.collect();
    txs.push(tx);
    let waiting: Vec<_> = txs
        .into_iter()
        .map(|mut tx| {
            world::spawn(move || {
                world::perturb();
                world::block_on(tx.closed());
                let late = tx.offer(1);
                holds!(
                    matches!(late, Offered::Closed(_)),
                    "C6: a close was told of before it was there"
                );
            })
        })
        .collect();
    world::perturb();
    assert!(rx.close(), "asked before");
    waiting.into_iter().for_each(world::join);
}

fn closed_before(channels: Channels, buffer: Buffer) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    assert!(rx.close(), "asked before");
    world::block_on(tx.closed());
}

fn no_consumer(channels: Channels, buffer: Buffer) {
    let (tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    let waiting = world::spawn(move || {
        world::perturb();
        world::block_on(tx.closed());
    });
    world::perturb();
    drop(rx);
    world::join(waiting);
}
