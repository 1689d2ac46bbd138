//! C15 with C6: permits that are out at a close, beside takes that wait. Once the last permit is gone, filled or
//! dropped, no take waits: it has the value of a permit, or is told of the end.
//!
//! The smallest history that violates it:
//!
//! ```text
//! producer, fixed(1)        consumer
//! reserve -> permit
//!                           close
//!                           take waits: the permit may be filled yet
//! drops the permit
//!                           waits for ever
//! ```

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Buffer, ReserveError, TakeError};
use flowmeter_harness::sync::world;

use super::acts::turns;
use super::bell::Bell;
use super::form::Way;
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Permit, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c15-close",
    statement: "A take that waits at a close ends once the last permit is gone, with a value or the end; a put once one leaves room.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    if !channels.blocks_for_room() && !channels.awaits_room() {
        return Vec::new();
    }
    let ends = End::of(channels);
    let mut cases = Vec::new();
    // Loom has no room for two permits and a take.
    let most = if world::name() == "loom" { 1 } else { 2 };
    for permits in 1..=most {
        if channels.having(&[Buffer::fixed(permits)]).next().is_none() {
            continue;
        }
        for &end in &ends {
            for way in [Way::Blocking, Way::Async] {
                if way.is_of(channels) {
                    cases.push(Case::new(
                        format!("{way}, {permits} out, {end}"),
                        move || {
                            (0..turns()).for_each(|_| beside_a_take(channels, way, end, permits))
                        },
                    ));
                }
            }
            if channels.awaits() {
                cases.push(Case::new(
                    format!("{permits} out, a take is polled, {end}"),
                    move || polled(channels, end, permits),
                ));
                cases.push(Case::new(
                    format!("{permits} out, a put waits, {end}"),
                    move || {
                        (0..1 << permits).for_each(|filled| {
                            beside_a_put(channels, end, (permits, filled));
                        });
                    },
                ));
            }
        }
    }
    cases
}

/// The half that closes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    ByProducer,
    ByConsumer,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            End::ByProducer => "closed by a producer",
            End::ByConsumer => "closed by the consumer",
        })
    }
}

impl End {
    /// The halves that can close.
    fn of(channels: Channels) -> Vec<End> {
        let Some((tx, mut rx)) = channels.open::<u32>(Buffer::fixed(1)) else {
            return Vec::new();
        };
        let by_producer = tx.close().then_some(End::ByProducer);
        let by_consumer = rx.close().then_some(End::ByConsumer);
        by_producer.into_iter().chain(by_consumer).collect()
    }
}

/// As many permits as the buffer has places.
fn all(tx: &Tx<u32>, permits: usize) -> Vec<Permit<'_, u32>> {
    let reserved: Result<Vec<_>, ReserveError> = (0..permits).map(|_| tx.try_reserve()).collect();
    reserved.unwrap_or_else(|why| violated!("C15: {why:?} of an empty channel"))
}

/// Fills the permit or drops it; the value that was accepted.
fn ends(permit: Permit<'_, u32>, fills: bool, value: u32) -> Option<u32> {
    if fills {
        return permit.fill(value).is_ok().then_some(value);
    }
    drop(permit);
    None
}

/// A consumer takes until the end while permits end one after the other. The close comes from either side.
fn beside_a_take(channels: Channels, way: Way, end: End, permits: usize) {
    let buffer = Buffer::fixed(permits);
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let out = all(&tx, permits);
    let taking = world::spawn(move || {
        world::perturb();
        if end == End::ByConsumer {
            rx.close();
        }
        let mut taken = Vec::new();
        loop {
            match way.take(&mut rx) {
                Ok(value) => taken.push(value),
                Err(TakeError::Closed) => return (taken, rx),
                Err(TakeError::TooManyWaiters) => violated!("C7: one take"),
            }
        }
    });
    if end == End::ByProducer {
        world::perturb();
        tx.close();
    }
    let mut accepted = Vec::new();
    for (value, permit) in (0..).zip(out) {
        world::perturb();
        accepted.extend(ends(permit, world::choose(2) == 0, value));
    }
    let (taken, _rx) = world::join(taking);
    holds_eq!(
        taken,
        accepted,
        "C15: what was taken of what permits were filled with, and what was accepted"
    );
}

/// A put waits while permits have all room. After the close some are filled and the others dropped. The put is told once
/// a permit has left room, or before.
fn beside_a_put(channels: Channels, end: End, (permits, filled): (usize, u32)) {
    let buffer = Buffer::fixed(permits);
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let Some(mut putting) = tx.another() else {
        return;
    };
    let out = all(&tx, permits);
    let bell = Arc::<Bell>::default();
    let waker = Waker::from(Arc::clone(&bell));
    let mut put = Box::pin(putting.put_async(9));
    let waits = put.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(waits.is_pending(), "permits have all room");
    let closed = match end {
        End::ByProducer => tx.close(),
        End::ByConsumer => rx.close(),
    };
    assert!(closed, "asked before");
    let mut accepted = 0;
    for (value, permit) in (0..).zip(out) {
        accepted += ends(permit, filled >> value & 1 == 1, value).iter().count();
    }
    holds!(
        bell.is_rung() || accepted == permits,
        "C15: permits of a closed channel have left room, and the put that waits was not woken"
    );
}

/// The same by hand. The take is polled again only if it was woken.
fn polled(channels: Channels, end: End, permits: usize) {
    // A consumer's half is lent to its take, so it closes before.
    let early: &[bool] = match end {
        End::ByProducer => &[true, false],
        End::ByConsumer => &[true],
    };
    for &early in early {
        for filled in 0..1_u32 << permits {
            polled_by(channels, end, early, (permits, filled));
        }
    }
}

/// `filled` has a bit for each permit that is filled, and not dropped.
fn polled_by(channels: Channels, end: End, early: bool, (permits, filled): (usize, u32)) {
    let buffer = Buffer::fixed(permits);
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let out = all(&tx, permits);
    if early {
        let closed = match end {
            End::ByProducer => tx.close(),
            End::ByConsumer => rx.close(),
        };
        assert!(closed, "asked before");
    }
    let bell = Arc::<Bell>::default();
    let waker = Waker::from(Arc::clone(&bell));
    let mut context = Context::from_waker(&waker);
    let mut take = Box::pin(rx.take_async());
    let mut answer = take.as_mut().poll(&mut context);
    if !early {
        assert!(tx.close(), "asked before");
    }
    let mut accepted = Vec::new();
    for (value, permit) in (0..).zip(out) {
        accepted.extend(ends(permit, filled >> value & 1 == 1, value));
    }
    if answer.is_pending() {
        holds!(
            bell.is_rung(),
            "C15: the last permit of a closed channel is gone, and the take that waits was not woken"
        );
        answer = take.as_mut().poll(&mut context);
    }
    let first = accepted.first().copied().ok_or(TakeError::Closed);
    holds_eq!(
        answer,
        Poll::Ready(first),
        "C15: the answer to a take of a closed channel whose permits are gone"
    );
}
