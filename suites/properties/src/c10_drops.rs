//! C10: every value is in one place at a time, and is dropped once, whatever is dropped around it.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! fixed(5)
//! offer 0, offer 1 -> done
//! drop both halves
//! drops of 0: 1, drops of 1: 0    leaked; 2 would be a double drop
//!
//! take polled: pending
//! offer 0 -> done, the take has the value
//! drop the take
//! drops of 0: 0 after all handles are gone
//! ```

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Polled};
use flowmeter_harness::check::{Mint, Token};
use flowmeter_harness::sync::world;

use super::bell::Bell;
use super::cancellation::{self, Duty};
use super::comings;
use super::{Case, Cases, Property, Reliance};
use crate::design::Channels;
use crate::design::channels::Design;

pub(super) const PROPERTY: Property = Property {
    name: "c10-drops",
    statement: "Values left in a channel are dropped exactly once with its last handle.",
    relied_on_by: Reliance::All,
    cases: Cases::Channels(|design| {
        let channels = design.channels;
        let mut cases = cases(channels);
        if channels.awaits() {
            cases.extend(async_cases(channels));
        }
        cases
    }),
};

const COUNT: usize = 5;

fn cases(channels: Channels) -> Vec<Case> {
    [Buffer::fixed(COUNT), Buffer::Unbounded]
        .into_iter()
        .filter(|buffer| channels.open::<u32>(*buffer).is_some())
        .flat_map(|buffer| {
            [
                Case::new(format!("takers first, {buffer}"), move || {
                    left_inside(channels, buffer, true)
                }),
                Case::new(format!("producers first, {buffer}"), move || {
                    left_inside(channels, buffer, false)
                }),
                Case::new(format!("takers beside offers, {buffer}"), move || {
                    offered_meanwhile(channels, buffer)
                }),
            ]
        })
        .collect()
}

/// Futures that are pending when everything else is dropped.
fn async_cases(channels: Channels) -> Vec<Case> {
    [Buffer::Rendezvous, Buffer::fixed(1)]
        .into_iter()
        .filter(|buffer| channels.open::<u32>(*buffer).is_some())
        .map(|buffer| {
            Case::new(format!("a put pending, {buffer}"), move || {
                put_pending(channels, buffer)
            })
        })
        .collect()
}

/// Owed only by channels with futures.
pub(super) const DROPPED: Property = Property {
    name: "c10-dropped-futures",
    statement: "A put or take dropped after any of its polls drops each value once, strands no waiter, and the channel goes on.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        let channels = design.channels;
        if !channels.awaits() {
            return Vec::new();
        }
        let mut cases =
            cancellation::cases(channels, Duty::DropOnce, design.claims(Claim::WaiterFifo));
        cases.extend(comings::cases(channels));
        cases
    }),
};

/// A claim of its own: few crates make it.
pub(super) const PANICKING: Property = Property {
    name: "c10-panicking-drops",
    statement: "A value whose own drop panics keeps no other value from being dropped once.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(panicking_cases),
};

fn panicking_cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    // In the other worlds the checkers use panics themselves.
    if !channels.blocks() || !design.claims(Claim::PanicSafe) || world::name() != "std" {
        return Vec::new();
    }
    let mut cases: Vec<_> = [Buffer::fixed(COUNT), Buffer::Unbounded]
        .into_iter()
        .filter(|buffer| channels.open::<u32>(*buffer).is_some())
        .flat_map(|buffer| {
            [
                Case::new(format!("a drop that panics, {buffer}"), move || {
                    panics(channels, buffer, false)
                }),
                Case::new(
                    format!("a drop that panics, takers first, {buffer}"),
                    move || panics(channels, buffer, true),
                ),
            ]
        })
        .collect();
    let is_owed = channels.awaits() && design.claims(Claim::Disconnect);
    if is_owed && channels.open::<u32>(Buffer::fixed(1)).is_some() {
        cases.push(Case::new(
            "a drop that panics beside waiting puts",
            move || panics_beside_puts(channels),
        ));
    }
    cases
}

fn put_pending(channels: Channels, buffer: Buffer) {
    let mint = Mint::new(2);
    let (mut tx, rx) = channels.open::<Token>(buffer).expect("asked before");
    let mut expected = 1;
    if buffer != Buffer::Rendezvous {
        assert!(matches!(tx.offer(mint.token(1)), Offered::Done));
        expected = 2;
    }
    {
        let mut put = pin!(tx.put_async(mint.token(0)));
        assert!(
            put.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        drop(rx);
    }
    drop(tx);
    let drops = mint.drops(0) + mint.drops(1);
    holds_eq!(
        drops,
        expected,
        "C10: a value that waited, or one in the buffer, was not dropped once"
    );
}

/// Each producer offers a value while the last taker is dropped.
fn offered_meanwhile(channels: Channels, buffer: Buffer) {
    let (tx, rx) = channels.open::<Token>(buffer).expect("asked before");
    let producers: Vec<_> = tx.another().into_iter().chain([tx]).collect();
    let mint = Mint::new(producers.len());
    let offering: Vec<_> = producers
        .into_iter()
        .enumerate()
        .map(|(id, mut tx)| {
            let token = mint.token(id);
            world::spawn(move || {
                world::perturb();
                drop(tx.offer(token));
            })
        })
        .collect();
    world::perturb();
    drop(rx);
    let count = offering.len();
    offering.into_iter().for_each(world::join);
    for id in 0..count {
        holds_eq!(
            mint.drops(id),
            1,
            "C10: drops of token {id}, offered while the last taker was dropped"
        );
    }
}

/// Counts its drop, and panics in it if told to.
struct Fragile {
    token: Token,
    panics: bool,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        if self.panics {
            std::panic::resume_unwind(Box::new(format!("{:?} panics in its drop", self.token)));
        }
    }
}

fn panics(channels: Channels, buffer: Buffer, takers_first: bool) {
    let mint = Mint::new(COUNT);
    let (mut tx, rx) = channels.open::<Fragile>(buffer).expect("asked before");
    for id in 0..COUNT {
        let value = Fragile {
            token: mint.token(id),
            panics: id == 1,
        };
        holds!(
            matches!(tx.offer(value), Offered::Done),
            "C3: no room for {COUNT}"
        );
    }
    // The channel's values go with its last taker, or with its last handle.
    let drop_rx = || catch_unwind(AssertUnwindSafe(|| drop(rx)));
    let drop_tx = || catch_unwind(AssertUnwindSafe(|| drop(tx)));
    let dropped = if takers_first {
        [drop_rx(), drop_tx()]
    } else {
        [drop_tx(), drop_rx()]
    };
    holds_eq!(
        dropped.iter().filter(|dropped| dropped.is_err()).count(),
        1,
        "C10: how often a value's drop was heard to panic"
    );
    for id in 0..COUNT {
        holds_eq!(
            mint.drops(id),
            1,
            "C10: drops of token {id} beside one that panics in its drop"
        );
    }
}

/// The last consumer goes. Puts that wait are told, whatever the drop of a stored value does.
fn panics_beside_puts(channels: Channels) {
    let mint = Mint::new(3);
    let value = |id| Fragile {
        token: mint.token(id),
        panics: id == 0,
    };
    let (mut tx, rx) = channels
        .open::<Fragile>(Buffer::fixed(1))
        .expect("asked before");
    let Some(mut other) = tx.another() else {
        return;
    };
    assert!(matches!(tx.offer(value(0)), Offered::Done));
    let bells = [(); 2].map(|()| Arc::<Bell>::default());
    let wakers = bells.each_ref().map(|bell| Waker::from(Arc::clone(bell)));
    let mut puts = [
        pin!(tx.put_async(value(1))) as Pin<&mut (dyn Future<Output = _> + Send)>,
        pin!(other.put_async(value(2))),
    ];
    for (put, waker) in puts.iter_mut().zip(&wakers) {
        let polled = put.as_mut().poll(&mut Context::from_waker(waker));
        assert!(polled.is_pending(), "there is no room");
    }
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(rx)));
    assert!(dropped.is_err(), "the drop of a value panicked");
    for bell in bells {
        holds!(
            bell.is_rung(),
            "C10: a put was not told of the end beside a drop that panics"
        );
    }
}

fn left_inside(channels: Channels, buffer: Buffer, takers_first: bool) {
    let mint = Mint::new(COUNT);
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    for id in 0..COUNT {
        holds!(
            matches!(tx.offer(mint.token(id)), Offered::Done),
            "C3: no room for {COUNT}"
        );
    }
    let Polled::Done(first) = rx.poll() else {
        violated!("C2: a value was lost")
    };
    let kept = first.id();
    if takers_first {
        drop(rx);
        drop(tx);
    } else {
        drop(tx);
        drop(rx);
    }
    for id in 0..COUNT {
        let expected = u32::from(id != kept);
        holds_eq!(
            mint.drops(id),
            expected,
            "C10: drops of token {id} (token {kept} is still held)"
        );
    }
    drop(first);
    holds_eq!(
        mint.drops(kept),
        1,
        "C10: a value that was taken belongs to its taker"
    );
}
