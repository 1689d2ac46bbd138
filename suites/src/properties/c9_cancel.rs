//! C9 (`CancelSafe`): dropping a pending future is without effect, or it had committed and the value is
//! not lost.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Async, Buffer, Channels, Offered, Polled};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::World;

use super::acts::{having, is_empty};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c9-cancel",
    statement: "Dropping a pending put or take loses no value and delivers none twice.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Async, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in having::<C>(&[Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded]) {
        cases.push(Case::new(
            format!("take before and after the hand-over, {buffer}"),
            move || {
                take_dropped::<C>(buffer);
            },
        ));
        cases.push(Case::new(
            format!("take against a put, {buffer}"),
            move || take_race::<C, W>(buffer),
        ));
        let is_shared = |(_tx, rx): (C::Tx<u32>, C::Rx<u32>)| C::another_rx(&rx).is_some();
        if C::open::<u32>(buffer).is_some_and(is_shared) {
            cases.push(Case::new(
                format!("the first of two takes after the hand-over, {buffer}"),
                move || handed_on::<C>(buffer),
            ));
            cases.push(Case::new(
                format!("three takes dropped in any order, {buffer}"),
                move || dropped_in_any_order::<C, W>(buffer),
            ));
            cases.push(Case::new(
                format!("a take dropped after a close, {buffer}"),
                move || dropped_after_a_close::<C>(buffer),
            ));
        }
        if buffer != Buffer::Unbounded {
            cases.push(Case::new(format!("put, {buffer}"), move || {
                put_dropped::<C>(buffer)
            }));
        }
    }
    cases
}

fn take_dropped<C: Async>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut take = pin!(C::take_async(&mut rx));
        assert!(
            take.as_mut().poll(&mut context).is_pending(),
            "C3: a take of nothing"
        );
    }
    let offered = C::offer(&mut tx, 1);
    if buffer == Buffer::Rendezvous {
        assert_eq!(
            offered,
            Offered::WouldWait(1),
            "C9: a dropped take was served"
        );
    } else {
        assert_eq!(
            C::poll(&mut rx),
            Polled::Done(1),
            "C9: a dropped take swallowed a value"
        );
    }
    {
        let mut take = pin!(C::take_async(&mut rx));
        assert!(
            take.as_mut().poll(&mut context).is_pending(),
            "C3: a take of nothing"
        );
        assert_eq!(
            C::offer(&mut tx, 2),
            Offered::Done,
            "C5: a take waits, and an offer found none"
        );
    }
    if buffer != Buffer::Unbounded {
        assert_eq!(
            C::offer(&mut tx, 3),
            Offered::WouldWait(3),
            "C3: a value that came back needs no room"
        );
    }
    assert_eq!(
        C::poll(&mut rx),
        Polled::Done(2),
        "C9: a value handed to a take was lost with it"
    );
    is_empty::<C, _>(&mut rx, "C9: a value handed to a take was doubled");
}

/// A value handed to a take that is then dropped goes to the take that waits next.
fn handed_on<C: Async>(buffer: Buffer) {
    let (mut tx, mut first) = C::open::<u32>(buffer).expect("asked before");
    let mut second = C::another_rx(&first).expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut second = pin!(C::take_async(&mut second));
        {
            let mut first = pin!(C::take_async(&mut first));
            assert!(first.as_mut().poll(&mut context).is_pending());
            assert!(second.as_mut().poll(&mut context).is_pending());
            assert_eq!(
                C::offer(&mut tx, 1),
                Offered::Done,
                "C5: two takes wait, and an offer found none"
            );
        }
        assert_eq!(
            second.as_mut().poll(&mut context),
            Poll::Ready(Ok(1)),
            "C9: a value handed to a dropped take did not reach the next"
        );
    }
    is_empty::<C, _>(
        &mut second,
        "C9: a value handed to a dropped take was doubled",
    );
}

/// What dropped takes had been handed is next again in the order of the puts, whichever is dropped first and
/// however often a value was handed on.
fn dropped_in_any_order<C: Async, W: World>(buffer: Buffer) {
    const ORDERS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let order = ORDERS[W::choose(ORDERS.len())];
    // With fewer values than takes some are handed on; with more, one is stored behind them.
    let puts = 1 + u32::try_from(W::choose(4)).expect("at most three");
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut others = [(); 3].map(|()| C::another_rx(&rx).expect("asked before"));
    let mut context = Context::from_waker(Waker::noop());
    let mut takes = others.each_mut().map(|rx| {
        let mut take = Box::pin(C::take_async(rx));
        assert!(take.as_mut().poll(&mut context).is_pending());
        Some(take)
    });
    let accepted: Vec<u32> = (1..=puts)
        .filter(|&value| C::offer(&mut tx, value) == Offered::Done)
        .collect();
    for index in order {
        takes[index] = None;
    }
    let mut undelivered = Vec::new();
    while let Polled::Done(value) = C::poll(&mut rx) {
        undelivered.push(value);
    }
    assert_eq!(
        undelivered, accepted,
        "C9: values handed to takes dropped in the order {order:?} are not next in the order of their puts"
    );
}

/// A value that comes back counted as taken until then: "closed" may have been answered meanwhile, and the
/// value is next all the same.
fn dropped_after_a_close<C: Async>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut other = C::another_rx(&rx).expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    let meanwhile = {
        let mut take = pin!(C::take_async(&mut rx));
        assert!(take.as_mut().poll(&mut context).is_pending());
        assert_eq!(
            C::offer(&mut tx, 1),
            Offered::Done,
            "C5: a take waits, and an offer found none"
        );
        if !C::close(&tx) {
            return;
        }
        C::poll(&mut other)
    };
    let expected = match meanwhile {
        Polled::Closed => [Polled::Done(1), Polled::Closed],
        _ => [Polled::Closed, Polled::Closed],
    };
    assert!(
        matches!(meanwhile, Polled::Closed | Polled::Done(1)),
        "C2: a closed channel answered {meanwhile:?}"
    );
    assert_eq!(
        [C::poll(&mut other), C::poll(&mut other)],
        expected,
        "C9: after a close, what a dropped take had been handed is not taken once"
    );
}

fn put_dropped<C: Async>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    if buffer != Buffer::Rendezvous {
        assert_eq!(C::offer(&mut tx, 0), Offered::Done);
    }
    {
        let mut put = pin!(C::put_async(&mut tx, 1));
        assert!(
            put.as_mut().poll(&mut context).is_pending(),
            "C3: a put without room"
        );
    }
    if buffer != Buffer::Rendezvous {
        assert_eq!(C::poll(&mut rx), Polled::Done(0));
    }
    is_empty::<C, _>(&mut rx, "C9: a dropped put was delivered");
}

/// A take is dropped after one poll while another thread puts.
fn take_race<C: Async, W: World>(buffer: Buffer) {
    let mint = Mint::new(1);
    let (mut tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    let token = mint.token(0);
    let putter = W::spawn(move || {
        W::perturb();
        W::block_on(C::put_async(&mut tx, token)).is_ok()
    });
    let mut ledger = Ledger::new(1);
    ledger.accepted(0);
    let early = {
        let mut take = pin!(C::take_async(&mut rx));
        W::perturb();
        let early = take.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        W::perturb();
        early
    };
    let token = match early {
        Poll::Ready(token) => token,
        Poll::Pending => W::block_on(C::take_async(&mut rx)),
    };
    ledger.taken(token.expect("C9: an open channel was closed").id());
    assert!(W::join(putter), "C1: a put on an open channel was refused");
    finish::<C>(rx, ledger, mint);
}

fn finish<C: Channels>(mut rx: C::Rx<Token>, mut ledger: Ledger, mint: Mint) {
    while let Polled::Done(token) = C::poll(&mut rx) {
        ledger.taken(token.id());
    }
    drop(rx);
    ledger.close(&mint, "around a dropped future");
}
