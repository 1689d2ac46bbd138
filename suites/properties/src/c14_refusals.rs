//! C14 with C1 and C6: puts that the end of a channel refuses. However many wait, and in whichever order they are told,
//! each gets its own value back.
//!
//! The smallest history that violates it:
//!
//! ```text
//! rendezvous
//! put_async 0, polled: pending
//! put_async 1, polled: pending
//! the consumer is dropped
//! the second is polled -> refused, with the 0
//! ```

use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Polled, PutError};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::room;
use super::form::Way;
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c14-refusals",
    statement: "Each of several puts that the end of a channel refuses gets its own value back.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

/// How many puts wait.
const PUTS: usize = 3;

/// The orders in which they are told.
const ORDERS: [[usize; PUTS]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let mut cases = Vec::new();
    // Loom has no room for more.
    let most = if world::name() == "loom" { 1 } else { 3 };
    let buffers = [Buffer::fixed(1), Buffer::Rendezvous, Buffer::fixed(2)];
    let buffers: Vec<Buffer> = channels.having(&buffers[..most]).collect();
    let opened = buffers.first().and_then(|one| channels.open::<Token>(*one));
    let Some((tx, mut rx)) = opened.filter(|(tx, _rx)| tx.another().is_some()) else {
        return cases;
    };
    let closes = tx.close() || rx.close();
    for buffer in buffers {
        if channels.awaits() {
            if design.claims(Claim::Disconnect) {
                cases.push(Case::new(
                    format!("polled in any order, {buffer}"),
                    move || polled_in_any_order(channels, buffer, false),
                ));
            }
            if closes {
                cases.push(Case::new(
                    format!("polled in any order after a close, {buffer}"),
                    move || polled_in_any_order(channels, buffer, true),
                ));
            }
        }
        if channels.calls_back() && design.claims(Claim::Disconnect) {
            for half in ["producer", "consumer"] {
                cases.push(Case::new(
                    format!("a callback, the {half} goes last, {buffer}"),
                    move || called_back(channels, buffer, half),
                ));
            }
        }
        // Loom has no room for so many threads.
        if !design.claims(Claim::Disconnect) || world::name() == "loom" {
            continue;
        }
        for way in [Way::Blocking, Way::Async] {
            if way.is_of(channels) {
                cases.push(Case::new(format!("{way}, threads, {buffer}"), move || {
                    threads(channels, way, buffer)
                }));
            }
        }
    }
    cases
}

/// A put that waits for its callback holds neither half. It is refused when both are gone, whichever goes last.
fn called_back(channels: Channels, buffer: Buffer, last: &str) {
    let mint = Mint::new(PUTS + room(buffer));
    let (mut txs, rx, mut ledger) = full(channels, buffer, &mint);
    let tx = txs.pop().expect("some producers");
    drop(txs);
    let (answers, answered) = mpsc::channel();
    tx.put_then(mint.token(0), move |answer| {
        answers.send(answer).expect("it is being watched");
    });
    if last == "producer" {
        drop(rx);
        drop(tx);
    } else {
        drop(tx);
        drop(rx);
    }
    match answered.try_recv() {
        Ok(answer) => {
            holds!(
                answer.is_err(),
                "C14: a put was accepted after the last take"
            );
            told(&mut ledger, 0, answer);
        }
        Err(_) => violated!("C14: both halves are gone, and a waiting put was not answered"),
    }
    ledger.close_lossy(&mint, "where puts are refused");
}

/// A full channel and its producers, one for each put that is to wait.
fn full(channels: Channels, buffer: Buffer, mint: &Mint) -> (Vec<Tx<Token>>, Rx<Token>, Ledger) {
    let (mut tx, rx) = channels.open::<Token>(buffer).expect("asked before");
    let mut ledger = Ledger::new(mint.count());
    for id in PUTS..mint.count() {
        holds!(
            matches!(tx.offer(mint.token(id)), Offered::Done),
            "C5: there is room, and an offer was refused"
        );
        ledger.accepted(id);
    }
    let mut txs: Vec<_> = (1..PUTS)
        .map(|_| tx.another().expect("asked before"))
        .collect();
    txs.push(tx);
    (txs, rx, ledger)
}

/// Writes down the answer to the put of that token.
fn told(ledger: &mut Ledger, id: usize, answer: Result<(), PutError<Token>>) {
    match answer {
        Ok(()) => ledger.accepted(id),
        Err(PutError::Closed(back)) => {
            if let Some(token) = back {
                holds_eq!(
                    token.id(),
                    id,
                    "C1: a refused put got the value of another one back"
                );
            }
            ledger.refused(id);
        }
        Err(PutError::TooManyWaiters(_)) => violated!("C7: one too many among few"),
    }
}

/// Puts that wait are polled once, and again after the end, in any order. At a close they may be served yet.
fn polled_in_any_order(channels: Channels, buffer: Buffer, close: bool) {
    for order in ORDERS {
        polled_in_order(channels, buffer, close, order);
    }
}

fn polled_in_order(channels: Channels, buffer: Buffer, close: bool, order: [usize; PUTS]) {
    let mint = Mint::new(PUTS + room(buffer));
    let (mut txs, mut rx, mut ledger) = full(channels, buffer, &mint);
    let mut another = txs[0].another();
    let mut context = Context::from_waker(Waker::noop());
    let mut puts = Vec::new();
    for (id, tx) in txs.iter_mut().enumerate() {
        let mut put = Box::pin(tx.put_async(mint.token(id)));
        puts.push(match put.as_mut().poll(&mut context) {
            Poll::Pending => Some(put),
            Poll::Ready(answer) => {
                told(&mut ledger, id, answer);
                None
            }
        });
    }
    if close {
        assert!(
            rx.close() || another.as_ref().is_some_and(Tx::close),
            "asked before"
        );
        while let Polled::Done(token) = rx.poll() {
            ledger.taken(token.id());
        }
    } else {
        drop(rx);
    }
    for id in order {
        let Some(mut put) = puts[id].take() else {
            continue;
        };
        if let Poll::Ready(answer) = put.as_mut().poll(&mut context) {
            told(&mut ledger, id, answer);
        } else {
            holds!(close, "C14: a put waits on, and the last consumer has left");
        }
    }
    drop((puts, another.take()));
    drop(txs);
    ledger.close_lossy(&mint, "where puts are refused");
}

/// Puts wait on threads while the consumer leaves.
fn threads(channels: Channels, way: Way, buffer: Buffer) {
    let mint = Mint::new(PUTS + room(buffer));
    let (txs, rx, mut ledger) = full(channels, buffer, &mint);
    let putting: Vec<_> = txs
        .into_iter()
        .enumerate()
        .map(|(id, mut tx)| {
            let mint = mint.clone();
            world::spawn(move || {
                let mut ledger = Ledger::new(mint.count());
                world::perturb();
                let answer = way.put(&mut tx, mint.token(id));
                told(&mut ledger, id, answer);
                ledger
            })
        })
        .collect();
    world::perturb();
    drop(rx);
    for thread in putting {
        ledger.merge(&world::join(thread));
    }
    ledger.close_lossy(&mint, "where puts are refused");
}
