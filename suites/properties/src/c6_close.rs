//! C6: after a close, stored values and waiting puts can still be taken. Later puts answer false, waiting takes are
//! answered, and no value is lost in between.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer            consumer             closer
//! put 0 -> true
//!                                          close
//!                     take -> closed       the 0 was accepted before the close
//!
//!                     take waits
//!                                          close
//!                     waits for ever
//! ```

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Polled, PutError, TakeError};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::close;
use super::{Case, Cases, Property, Reliance};
use crate::design::Channels;
use crate::design::channels::Design;

pub(super) const PROPERTY: Property = Property {
    name: "c6-close",
    statement: "A close loses nothing: values accepted before can be taken after, and every waiting put and take is answered.",
    relied_on_by: Reliance::All,
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
    let mut cases = Vec::new();
    if channels.blocks() {
        let keeps_buffered = design.claims(Claim::KeepsBuffered);
        cases.extend(blocking_cases(channels, keeps_buffered));
    }
    if channels.awaits() {
        cases.extend(taking_cases(channels));
        if design.claims(Claim::PendingPutsSurvive) {
            cases.extend(pending_cases(channels));
        }
    }
    if channels.calls_back() {
        cases.extend(callback_cases(channels));
    }
    cases
}

/// `keeps_buffered`: whether buffered values survive the close, as claimed.
fn blocking_cases(channels: Channels, keeps_buffered: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in BUFFERS {
        if !channels.is_closable(buffer) {
            continue;
        }
        cases.push(Case::new(format!("waiting take, {buffer}"), move || {
            waiting_take(channels, buffer)
        }));
        if is_shared_by_takers(channels, buffer) {
            cases.push(Case::new(
                format!("two waiting takes, {buffer}"),
                move || two_waiting_takes(channels, buffer),
            ));
        }
        let crowd = if world::name() == "std" {
            (3, 64)
        } else {
            (1, 2)
        };
        cases.push(Case::new(format!("race, {buffer}"), move || {
            race(channels, buffer, crowd, keeps_buffered);
        }));
    }
    cases
}

fn is_shared_by_takers(channels: Channels, buffer: Buffer) -> bool {
    channels
        .open::<u32>(buffer)
        .is_some_and(|(_tx, rx)| rx.another().is_some())
}

/// Takes that certainly wait: futures polled by hand.
fn taking_cases(channels: Channels) -> Vec<Case> {
    BUFFERS
        .into_iter()
        .filter(|buffer| channels.is_closable(*buffer))
        .filter(|buffer| is_shared_by_takers(channels, *buffer))
        .map(|buffer| {
            Case::new(format!("two pending takes, {buffer}"), move || {
                two_pending_takes(channels, buffer)
            })
        })
        .collect()
}

/// Callbacks that wait.
fn callback_cases(channels: Channels) -> Vec<Case> {
    BUFFERS
        .into_iter()
        .filter(|buffer| channels.is_closable(*buffer))
        .map(|buffer| {
            Case::new(format!("waiting callbacks, {buffer}"), move || {
                waiting_callbacks(channels, buffer)
            })
        })
        .collect()
}

/// For `PendingPutsSurvive`. Futures polled by hand make sure that the put waits.
fn pending_cases(channels: Channels) -> Vec<Case> {
    [Buffer::Rendezvous, Buffer::fixed(1)]
        .into_iter()
        .filter(|buffer| channels.is_closable(*buffer))
        .map(|buffer| {
            Case::new(format!("waiting put, {buffer}"), move || {
                waiting_put(channels, buffer)
            })
        })
        .collect()
}

/// A put that waits at the close is still taken, and answers true. A later put answers false, also while the earlier
/// one waits.
fn waiting_put(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut later = tx.another().expect("a shared handle");
    let mut expected = vec![Polled::Done(1), Polled::Closed];
    if buffer != Buffer::Rendezvous {
        assert_eq!(later.offer(0), Offered::Done);
        expected.insert(0, Polled::Done(0));
    }
    let closer = later.another().expect("a shared handle");
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting = pin!(tx.put_async(1));
    holds!(
        waiting.as_mut().poll(&mut context).is_pending(),
        "C3: a put without room"
    );
    closer.close();
    holds_eq!(
        later.offer(2),
        Offered::Closed(2),
        "C6: an offer after the close"
    );
    {
        let put = pin!(later.put_async(3));
        let answer = put.poll(&mut context);
        holds_eq!(
            answer,
            Poll::Ready(Err(PutError::Closed(Some(3)))),
            "C6: a put after the close"
        );
    }
    for polled in expected {
        holds_eq!(rx.poll(), polled, "C6: what a closed channel still gives");
    }
    holds_eq!(
        waiting.poll(&mut context),
        Poll::Ready(Ok(())),
        "C6: a put that waited at the close"
    );
}

fn waiting_take(channels: Channels, buffer: Buffer) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let taker = world::spawn(move || {
        world::perturb();
        rx.take()
    });
    close(&tx);
    holds_eq!(
        world::join(taker),
        Err(TakeError::Closed),
        "C6: a take of nothing was not told of the close"
    );
}

fn two_waiting_takes(channels: Channels, buffer: Buffer) {
    let (tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    let further = rx.another().expect("asked before");
    let takers = [rx, further].map(|mut rx| {
        world::spawn(move || {
            world::perturb();
            rx.take()
        })
    });
    close(&tx);
    for taker in takers {
        holds_eq!(
            world::join(taker),
            Err(TakeError::Closed),
            "C6: not every take that waited was told of the close"
        );
    }
}

fn two_pending_takes(channels: Channels, buffer: Buffer) {
    let (tx, mut first) = channels.open::<u32>(buffer).expect("asked before");
    let mut second = first.another().expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    let mut takes = [Box::pin(first.take_async()), Box::pin(second.take_async())];
    for take in &mut takes {
        holds!(
            take.as_mut().poll(&mut context).is_pending(),
            "C3: a take of nothing"
        );
    }
    tx.close();
    for take in &mut takes {
        holds_eq!(
            take.as_mut().poll(&mut context),
            Poll::Ready(Err(TakeError::Closed)),
            "C6: not every take that waited was told of the close"
        );
    }
}

fn waiting_callbacks(channels: Channels, buffer: Buffer) {
    // Declared before the channel: a failed judgement drops the channel, which then answers the callbacks that still
    // wait.
    let (answers, seen) = std::sync::mpsc::channel();
    let (tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    for _ in 0..2 {
        let answers = answers.clone();
        rx.take_then(move |answer| answers.send(answer).expect("it is being watched"));
    }
    let early: Vec<_> = seen.try_iter().collect();
    tx.close();
    let heard: Vec<_> = seen.try_iter().collect();
    holds_eq!(
        (early, heard),
        (vec![], vec![Err(TakeError::Closed); 2]),
        "C6: what callbacks were told before the close, and by it"
    );
}

/// Producers, one taker and one closer, all at once.
fn race(
    channels: Channels,
    buffer: Buffer,
    (producers, values_each): (usize, usize),
    keeps_buffered: bool,
) {
    let count = producers * values_each;
    let mint = Mint::new(count);
    let (tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    let txs = std::iter::repeat_with(|| tx.another()).take(producers);
    let putting: Vec<_> = txs
        .enumerate()
        .map(|(producer, tx)| {
            let mut tx = tx.expect("a channel that can be closed has several handles");
            let mint = mint.clone();
            world::spawn(move || {
                let mut ledger = Ledger::new(count);
                let mut refused = false;
                for id in producer * values_each..(producer + 1) * values_each {
                    world::perturb();
                    match tx.put(mint.token(id)) {
                        Ok(()) => {
                            holds!(
                                !refused,
                                "C6: a put was accepted after an earlier one found it closed"
                            );
                            ledger.accepted(id);
                        }
                        Err(PutError::Closed(_)) => {
                            refused = true;
                            ledger.refused(id);
                        }
                        Err(PutError::TooManyWaiters(_)) => {
                            violated!("C7: refused among {producers} puts")
                        }
                    }
                }
                ledger
            })
        })
        .collect();
    let closing = world::spawn(move || {
        close(&tx);
        tx
    });
    world::perturb();
    let mut ledger = Ledger::new(count);
    // All accepted values come before the end.
    while let Ok(token) = rx.take() {
        ledger.taken(token.id());
    }
    let tx = world::join(closing);
    for handle in putting {
        ledger.merge(&world::join(handle));
    }
    // A put that waited at the close may not have been done when the taker found the channel empty.
    while let Ok(token) = rx.take() {
        ledger.taken(token.id());
    }
    drop((tx, rx));
    ledger.close_keeping(keeps_buffered, &mint, "around a close");
}
