//! C5: `offer` and `poll` never wait, leave no waiter behind, and give three answers each.

use flowmeter_harness::channel::{Blocking, Buffer, Channels, Offered, Polled};
use flowmeter_harness::sync::World;

use super::acts::{having, is_closable, offer, put, take};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c5-try",
    statement: "offer and poll answer done, would wait, or closed, never wait, and leave nothing behind.",
    relied_on_by: Reliance::Everybody,
};

/// `keeps_buffered`: whether values in the buffer are promised to survive a close.
pub(super) fn cases<C: Channels>(keeps_buffered: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    if C::open::<u32>(Buffer::Rendezvous).is_some() {
        cases.push(Case::new("rendezvous", alone_on_a_rendezvous::<C>));
    }
    for buffer in [Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded] {
        if is_closable::<C>(buffer) {
            cases.push(Case::new(format!("closed, {buffer}"), move || {
                closed::<C>(buffer, keeps_buffered)
            }));
        }
    }
    cases
}

/// Cases with a second thread.
pub(super) fn blocking_cases<C: Blocking, W: World>() -> Vec<Case> {
    having::<C>(&[Buffer::Rendezvous, Buffer::fixed(1)])
        .map(|buffer| {
            Case::new(format!("a taker, {buffer}"), move || {
                an_offer_meets_a_take::<C, W>(buffer)
            })
        })
        .collect()
}

fn alone_on_a_rendezvous<C: Channels>() {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    holds_eq!(
        C::offer(&mut tx, 1),
        Offered::WouldWait(1),
        "C5: an offer without a taker"
    );
    holds_eq!(
        C::poll(&mut rx),
        Polled::WouldWait,
        "C5: an offer that was refused left its value"
    );
    holds_eq!(
        C::offer(&mut tx, 2),
        Offered::WouldWait(2),
        "C5: a poll that was refused left a waiter"
    );
}

fn closed<C: Channels>(buffer: Buffer, keeps_buffered: bool) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let kept = C::offer(&mut tx, 1) == Offered::Done;
    C::close(&tx);
    C::close(&tx);
    holds_eq!(
        C::offer(&mut tx, 2),
        Offered::Closed(2),
        "C5: an offer to a closed channel"
    );
    if kept && keeps_buffered {
        holds_eq!(
            C::poll(&mut rx),
            Polled::Done(1),
            "C6: a stored value did not survive the close"
        );
    }
    holds_eq!(
        C::poll(&mut rx),
        Polled::Closed,
        "C5: a poll of a closed channel"
    );
}

fn an_offer_meets_a_take<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let taker = W::spawn(move || take::<C, W, _>(&mut rx));
    // Without waiting it may come too early; the put then makes sure that the taker ends.
    if let Offered::WouldWait(value) = offer::<C, W, _>(&mut tx, 7) {
        put::<C, W, _>(&mut tx, value);
    }
    holds_eq!(W::join(taker), 7, "C2: the take got something else");
}
