//! C14 (`Disconnect`): the last producer dropped closes; the last consumer dropped answers waiting and later
//! puts with their values.

use flowmeter_harness::channel::{Buffer, Channels, Offered, Polled, PutError, TakeError};
use flowmeter_harness::sync::World;

use super::acts::having;
use super::form::Form;
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c14-disconnect",
    statement: "The last half dropped ends the channel for the other side, waiting or not, and loses nothing buffered.",
    relied_on_by: Reliance::Nobody,
};

const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(3),
    Buffer::Unbounded,
];

pub(super) fn cases<C: Channels, F: Form<C>, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in having::<C>(&BUFFERS) {
        cases.push(Case::new(
            format!("take, then no producer, {buffer}"),
            move || {
                waiting_take::<C, F, W>(buffer);
            },
        ));
        cases.push(Case::new(format!("no consumer, {buffer}"), move || {
            no_consumer::<C, F>(buffer)
        }));
        if buffer != Buffer::Rendezvous {
            cases.push(Case::new(
                format!("buffered, then no producer, {buffer}"),
                move || {
                    buffered::<C, F>(buffer);
                },
            ));
        }
        if buffer != Buffer::Unbounded {
            cases.push(Case::new(
                format!("put, then no consumer, {buffer}"),
                move || {
                    waiting_put::<C, F, W>(buffer);
                },
            ));
        }
    }
    cases
}

/// Whether a put was answered "closed", with its value unless the crate swallows it.
fn is_closed(answer: Result<(), PutError<u32>>, value: u32) -> bool {
    matches!(answer, Err(PutError::Closed(back)) if back.is_none_or(|back| back == value))
}

fn waiting_take<C: Channels, F: Form<C>, W: World>(buffer: Buffer) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let taker = W::spawn(move || {
        W::perturb();
        F::take(&mut rx)
    });
    W::perturb();
    drop(tx);
    holds_eq!(
        W::join(taker),
        Err(TakeError::Closed),
        "C14: a take outlived its last producer"
    );
}

fn waiting_put<C: Channels, F: Form<C>, W: World>(buffer: Buffer) {
    let (mut tx, rx) = C::open::<u32>(buffer).expect("asked before");
    while let Offered::Done = C::offer(&mut tx, 0) {}
    let putter = W::spawn(move || {
        W::perturb();
        F::put(&mut tx, 1)
    });
    W::perturb();
    drop(rx);
    holds!(
        is_closed(W::join(putter), 1),
        "C14: a put outlived its last consumer"
    );
}

fn no_consumer<C: Channels, F: Form<C>>(buffer: Buffer) {
    let (mut tx, rx) = C::open::<u32>(buffer).expect("asked before");
    if let Some(last) = C::another_rx(&rx) {
        drop(rx);
        if buffer != Buffer::Rendezvous {
            holds_eq!(F::put(&mut tx, 0), Ok(()), "C14: one consumer is left");
        }
        drop(last);
    } else {
        drop(rx);
    }
    holds!(
        is_closed(F::put(&mut tx, 5), 5),
        "C14: a put without consumers"
    );
    holds_eq!(
        C::offer(&mut tx, 6),
        Offered::Closed(6),
        "C14: an offer without consumers"
    );
}

fn buffered<C: Channels, F: Form<C>>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let another = C::another_tx(&tx);
    assert_eq!(F::put(&mut tx, 1), Ok(()));
    drop(tx);
    if let Some(mut tx) = another {
        holds_eq!(F::take(&mut rx), Ok(1), "C14: one producer is left");
        holds_eq!(
            C::poll(&mut rx),
            Polled::WouldWait,
            "C14: one producer is left"
        );
        holds_eq!(F::put(&mut tx, 1), Ok(()), "C14: one producer is left");
    }
    holds_eq!(
        F::take(&mut rx),
        Ok(1),
        "C14: a buffered value went with its producer"
    );
    holds_eq!(
        F::take(&mut rx),
        Err(TakeError::Closed),
        "C14: no producer is left"
    );
    holds_eq!(C::poll(&mut rx), Polled::Closed, "C14: no producer is left");
}
