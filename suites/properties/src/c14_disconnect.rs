//! C14 (`Disconnect`): dropping the last producer closes the channel. Dropping the last consumer answers waiting and
//! later puts, and gives their values back.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer            consumer
//!                     take waits
//! drops its half
//!                     waits for ever: the last producer is gone
//!
//! put 1 waits, full
//!                     drops its half
//! waits for ever: the last consumer is gone
//! ```

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Polled, PutError, TakeError};
use flowmeter_harness::sync::world;

use super::form::Way;
use super::{Case, Cases, Property, Reliance};
use crate::design::Channels;
use crate::design::channels::Design;

pub(super) const PROPERTY: Property = Property {
    name: "c14-disconnect",
    statement: "The last half dropped ends the channel for the other side, waiting or not, and loses nothing buffered.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(3),
    Buffer::Unbounded,
];

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    if !design.claims(Claim::Disconnect) {
        return Vec::new();
    }
    let way = if channels.blocks() {
        Way::Blocking
    } else {
        Way::Async
    };
    let mut cases = Vec::new();
    for buffer in channels.having(&BUFFERS) {
        cases.push(Case::new(
            format!("take, then no producer, {buffer}"),
            move || {
                waiting_take(channels, way, buffer);
            },
        ));
        cases.push(Case::new(format!("no consumer, {buffer}"), move || {
            no_consumer(channels, way, buffer)
        }));
        if buffer != Buffer::Rendezvous {
            cases.push(Case::new(
                format!("buffered, then no producer, {buffer}"),
                move || {
                    buffered(channels, way, buffer);
                },
            ));
        }
        if buffer != Buffer::Unbounded {
            cases.push(Case::new(
                format!("put, then no consumer, {buffer}"),
                move || {
                    waiting_put(channels, way, buffer);
                },
            ));
        }
    }
    cases
}

/// Whether a put was answered "closed" and gave its value back. Some crates do not give it back.
fn is_closed(answer: Result<(), PutError<u32>>, value: u32) -> bool {
    matches!(answer, Err(PutError::Closed(back)) if back.is_none_or(|back| back == value))
}

fn waiting_take(channels: Channels, way: Way, buffer: Buffer) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let taker = world::spawn(move || {
        world::perturb();
        way.take(&mut rx)
    });
    world::perturb();
    drop(tx);
    holds_eq!(
        world::join(taker),
        Err(TakeError::Closed),
        "C14: a take outlived its last producer"
    );
}

fn waiting_put(channels: Channels, way: Way, buffer: Buffer) {
    let (mut tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    while let Offered::Done = tx.offer(0) {}
    let putter = world::spawn(move || {
        world::perturb();
        way.put(&mut tx, 1)
    });
    world::perturb();
    drop(rx);
    holds!(
        is_closed(world::join(putter), 1),
        "C14: a put outlived its last consumer"
    );
}

fn no_consumer(channels: Channels, way: Way, buffer: Buffer) {
    let (mut tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    if let Some(last) = rx.another() {
        drop(rx);
        if buffer != Buffer::Rendezvous {
            holds_eq!(way.put(&mut tx, 0), Ok(()), "C14: one consumer is left");
        }
        drop(last);
    } else {
        drop(rx);
    }
    holds!(
        is_closed(way.put(&mut tx, 5), 5),
        "C14: a put without consumers"
    );
    holds_eq!(
        tx.offer(6),
        Offered::Closed(6),
        "C14: an offer without consumers"
    );
}

fn buffered(channels: Channels, way: Way, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let another = tx.another();
    assert_eq!(way.put(&mut tx, 1), Ok(()));
    drop(tx);
    if let Some(mut tx) = another {
        holds_eq!(way.take(&mut rx), Ok(1), "C14: one producer is left");
        holds_eq!(rx.poll(), Polled::WouldWait, "C14: one producer is left");
        holds_eq!(way.put(&mut tx, 1), Ok(()), "C14: one producer is left");
    }
    holds_eq!(
        way.take(&mut rx),
        Ok(1),
        "C14: a buffered value went with its producer"
    );
    holds_eq!(
        way.take(&mut rx),
        Err(TakeError::Closed),
        "C14: no producer is left"
    );
    holds_eq!(rx.poll(), Polled::Closed, "C14: no producer is left");
}
