//! C6, P3: who waits for a close hears of it.

use std::pin::pin;
use std::task::{Context, Waker};

use flowmeter_harness::channel::{AwaitClose, Buffer, Offered};
use flowmeter_harness::sync::World;

use super::acts::{having, turns};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c6-awaited-close",
    statement: "Whoever waits for a channel to close hears of it, and not before.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: AwaitClose, W: World>(disconnects: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in having::<C>(&[Buffer::Rendezvous, Buffer::fixed(1)]) {
        cases.push(Case::new(
            format!("closed meanwhile, {buffer}"),
            move || (0..turns::<W>()).for_each(|_| meanwhile::<C, W>(buffer, 1)),
        ));
        cases.push(Case::new(format!("two wait, {buffer}"), move || {
            (0..turns::<W>()).for_each(|_| meanwhile::<C, W>(buffer, 2))
        }));
        cases.push(Case::new(format!("closed before, {buffer}"), move || {
            closed_before::<C, W>(buffer)
        }));
        if disconnects {
            cases.push(Case::new(format!("no consumer, {buffer}"), move || {
                (0..turns::<W>()).for_each(|_| no_consumer::<C, W>(buffer))
            }));
        }
    }
    cases
}

/// Some wait while another closes; one has looked already and gone.
fn meanwhile<C: AwaitClose, W: World>(buffer: Buffer, waiting: usize) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    {
        let mut context = Context::from_waker(Waker::noop());
        let gone = pin!(C::closed(&tx));
        holds!(
            gone.poll(&mut context).is_pending(),
            "C6: an open channel was said to be closed"
        );
    }
    let further = (1..waiting).map(|_| C::another_tx(&tx).expect("a handle has another"));
    let mut txs: Vec<_> = further.collect();
    txs.push(tx);
    let waiting: Vec<_> = txs
        .into_iter()
        .map(|mut tx| {
            W::spawn(move || {
                W::perturb();
                W::block_on(C::closed(&tx));
                let late = C::offer(&mut tx, 1);
                holds!(
                    matches!(late, Offered::Closed(_)),
                    "C6: a close was told of before it was there"
                );
            })
        })
        .collect();
    W::perturb();
    assert!(C::close_rx(&mut rx), "asked before");
    waiting.into_iter().for_each(W::join);
}

fn closed_before<C: AwaitClose, W: World>(buffer: Buffer) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    assert!(C::close_rx(&mut rx), "asked before");
    W::block_on(C::closed(&tx));
}

fn no_consumer<C: AwaitClose, W: World>(buffer: Buffer) {
    let (tx, rx) = C::open::<u32>(buffer).expect("asked before");
    let waiting = W::spawn(move || {
        W::perturb();
        W::block_on(C::closed(&tx));
    });
    W::perturb();
    drop(rx);
    W::join(waiting);
}
