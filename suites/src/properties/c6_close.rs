//! C6: what a close leaves: stored values and waiting puts stay takeable, later puts answer false,
//! waiting takes hear of it, and nothing is lost in between.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{
    Async, Blocking, Buffer, Callback, Channels, Offered, Polled, PutError, TakeError,
};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::World;

use super::acts::{close, is_closable};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c6-close",
    statement: "A close loses nothing: what was accepted before is taken after, everybody who waits is answered.",
    relied_on_by: Reliance::Everybody,
};

const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(3),
    Buffer::Unbounded,
];

/// `keeps_buffered`: whether values in the buffer are promised to survive the close.
pub(super) fn cases<C: Blocking, W: World>(keeps_buffered: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in BUFFERS {
        if !is_closable::<C>(buffer) {
            continue;
        }
        cases.push(Case::new(format!("waiting take, {buffer}"), move || {
            waiting_take::<C, W>(buffer)
        }));
        if is_shared_by_takers::<C>(buffer) {
            cases.push(Case::new(
                format!("two waiting takes, {buffer}"),
                move || two_waiting_takes::<C, W>(buffer),
            ));
        }
        let crowd = if W::name() == "std" { (3, 64) } else { (1, 2) };
        cases.push(Case::new(format!("race, {buffer}"), move || {
            race::<C, W>(buffer, crowd, keeps_buffered);
        }));
    }
    cases
}

fn is_shared_by_takers<C: Channels>(buffer: Buffer) -> bool {
    C::open::<u32>(buffer).is_some_and(|(_tx, rx)| C::another_rx(&rx).is_some())
}

/// Cases of takes that wait for certain: futures polled by hand.
pub(super) fn taking_cases<C: Async>() -> Vec<Case> {
    BUFFERS
        .into_iter()
        .filter(|buffer| is_closable::<C>(*buffer))
        .filter(|buffer| is_shared_by_takers::<C>(*buffer))
        .map(|buffer| {
            Case::new(format!("two pending takes, {buffer}"), move || {
                two_pending_takes::<C>(buffer)
            })
        })
        .collect()
}

/// Cases of callbacks that wait.
pub(super) fn callback_cases<C: Callback>() -> Vec<Case> {
    BUFFERS
        .into_iter()
        .filter(|buffer| is_closable::<C>(*buffer))
        .map(|buffer| {
            Case::new(format!("waiting callbacks, {buffer}"), move || {
                waiting_callbacks::<C>(buffer)
            })
        })
        .collect()
}

/// Cases of `PendingPutsSurvive`; futures polled by hand make sure that the put waits.
pub(super) fn pending_cases<C: Async>() -> Vec<Case> {
    [Buffer::Rendezvous, Buffer::fixed(1)]
        .into_iter()
        .filter(|buffer| is_closable::<C>(*buffer))
        .map(|buffer| {
            Case::new(format!("waiting put, {buffer}"), move || {
                waiting_put::<C>(buffer)
            })
        })
        .collect()
}

/// A put that waits at the close is still taken, and answers true; one requested later answers false,
/// even while the older one waits.
fn waiting_put<C: Async>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut later = C::another_tx(&tx).expect("a shared handle");
    let mut expected = vec![Polled::Done(1), Polled::Closed];
    if buffer != Buffer::Rendezvous {
        assert_eq!(C::offer(&mut later, 0), Offered::Done);
        expected.insert(0, Polled::Done(0));
    }
    let closer = C::another_tx(&later).expect("a shared handle");
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting = pin!(C::put_async(&mut tx, 1));
    holds!(
        waiting.as_mut().poll(&mut context).is_pending(),
        "C3: a put without room"
    );
    C::close(&closer);
    holds_eq!(
        C::offer(&mut later, 2),
        Offered::Closed(2),
        "C6: an offer after the close"
    );
    {
        let put = pin!(C::put_async(&mut later, 3));
        let answer = put.poll(&mut context);
        holds_eq!(
            answer,
            Poll::Ready(Err(PutError::Closed(Some(3)))),
            "C6: a put after the close"
        );
    }
    for polled in expected {
        holds_eq!(
            C::poll(&mut rx),
            polled,
            "C6: what a closed channel still gives"
        );
    }
    holds_eq!(
        waiting.poll(&mut context),
        Poll::Ready(Ok(())),
        "C6: a put that waited at the close"
    );
}

fn waiting_take<C: Blocking, W: World>(buffer: Buffer) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let taker = W::spawn(move || {
        W::perturb();
        C::take(&mut rx)
    });
    close::<C, W, _>(&tx);
    holds_eq!(
        W::join(taker),
        Err(TakeError::Closed),
        "C6: a take of nothing was not told of the close"
    );
}

fn two_waiting_takes<C: Blocking, W: World>(buffer: Buffer) {
    let (tx, rx) = C::open::<u32>(buffer).expect("asked before");
    let further = C::another_rx(&rx).expect("asked before");
    let takers = [rx, further].map(|mut rx| {
        W::spawn(move || {
            W::perturb();
            C::take(&mut rx)
        })
    });
    close::<C, W, _>(&tx);
    for taker in takers {
        holds_eq!(
            W::join(taker),
            Err(TakeError::Closed),
            "C6: not every take that waited was told of the close"
        );
    }
}

fn two_pending_takes<C: Async>(buffer: Buffer) {
    let (tx, mut first) = C::open::<u32>(buffer).expect("asked before");
    let mut second = C::another_rx(&first).expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    let mut takes = [
        Box::pin(C::take_async(&mut first)),
        Box::pin(C::take_async(&mut second)),
    ];
    for take in &mut takes {
        holds!(
            take.as_mut().poll(&mut context).is_pending(),
            "C3: a take of nothing"
        );
    }
    C::close(&tx);
    for take in &mut takes {
        holds_eq!(
            take.as_mut().poll(&mut context),
            Poll::Ready(Err(TakeError::Closed)),
            "C6: not every take that waited was told of the close"
        );
    }
}

fn waiting_callbacks<C: Callback>(buffer: Buffer) {
    // Before the channel, which answers those that still wait when a failed judgement drops it.
    let (answers, seen) = std::sync::mpsc::channel();
    let (tx, rx) = C::open::<u32>(buffer).expect("asked before");
    for _ in 0..2 {
        let answers = answers.clone();
        C::take_then(&rx, move |answer| {
            answers.send(answer).expect("it is being watched")
        });
    }
    let early: Vec<_> = seen.try_iter().collect();
    C::close(&tx);
    let heard: Vec<_> = seen.try_iter().collect();
    holds_eq!(
        (early, heard),
        (vec![], vec![Err(TakeError::Closed); 2]),
        "C6: what callbacks were told before the close, and by it"
    );
}

/// Producers, one taker and one who closes, all at once.
fn race<C: Blocking, W: World>(
    buffer: Buffer,
    (producers, values_each): (usize, usize),
    keeps_buffered: bool,
) {
    let count = producers * values_each;
    let mint = Mint::new(count);
    let (tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    let txs = std::iter::repeat_with(|| C::another_tx(&tx)).take(producers);
    let putting: Vec<_> = txs
        .enumerate()
        .map(|(producer, tx)| {
            let mut tx = tx.expect("a channel that can be closed has several handles");
            let mint = mint.clone();
            W::spawn(move || {
                let mut ledger = Ledger::new(count);
                let mut refused = false;
                for id in producer * values_each..(producer + 1) * values_each {
                    W::perturb();
                    match C::put(&mut tx, mint.token(id)) {
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
    let closing = W::spawn(move || {
        close::<C, W, _>(&tx);
        tx
    });
    W::perturb();
    let mut ledger = Ledger::new(count);
    // Everything that was accepted comes before the end.
    while let Ok(token) = C::take(&mut rx) {
        ledger.taken(token.id());
    }
    let tx = W::join(closing);
    for handle in putting {
        ledger.merge(&W::join(handle));
    }
    // A put that waited at the close may have been left when the taker saw the channel empty.
    while let Ok(token) = C::take(&mut rx) {
        ledger.taken(token.id());
    }
    drop((tx, rx));
    ledger.close_keeping(keeps_buffered, &mint, "around a close");
}
