//! C9 (`CancelSafe`): dropping a pending future is without effect, or it had committed and the value is
//! not lost.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Async, Buffer, Channels, Offered, Polled};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::World;

use super::acts::{having, room};
use super::cancellation::{self, BUFFERS, Duty};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c9-cancel",
    statement: "Dropping a pending put or take loses no value and delivers none twice.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const BY_ALTS: Property = Property {
    name: "c9-cancel-alts",
    statement: "Dropping a pending alts leaves no clause behind, loses no value and delivers none twice.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Async, W: World>() -> Vec<Case> {
    let mut cases = cancellation::cases::<C, W>(Duty::LoseNothing);
    for buffer in having::<C>(&BUFFERS) {
        cases.push(Case::new(
            format!("take against a put, {buffer}"),
            move || take_race::<C, W>(buffer),
        ));
        if buffer != Buffer::Unbounded {
            cases.push(Case::new(
                format!("a value that came back needs room, {buffer}"),
                move || came_back::<C>(buffer),
            ));
        }
        let is_shared = |(_tx, rx): (C::Tx<u32>, C::Rx<u32>)| C::another_rx(&rx).is_some();
        if C::open::<u32>(buffer).is_some_and(is_shared) {
            cases.push(Case::new(
                format!("a take that waits beside a dropped one, {buffer}"),
                move || waits_beside::<C, W>(buffer),
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
    }
    cases
}

/// A value that a dropped take gave back is in the channel, where it leaves room for one less.
fn came_back<C: Async>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut take = pin!(C::take_async(&mut rx));
        let polled = take.as_mut().poll(&mut context);
        holds!(polled.is_pending(), "C3: a take of nothing");
        let offered = C::offer(&mut tx, 1);
        holds_eq!(
            offered,
            Offered::Done,
            "C5: an offer found no take that waits"
        );
    }
    // A rendezvous, too, has the one that came back.
    let full = room(buffer).max(1) as u32;
    for value in 2..=full {
        assert_eq!(C::offer(&mut tx, value), Offered::Done);
    }
    holds_eq!(
        C::offer(&mut tx, full + 1),
        Offered::WouldWait(full + 1),
        "C3: a value that came back needs no room"
    );
    for value in 1..=full {
        holds_eq!(
            C::poll(&mut rx),
            Polled::Done(value),
            "C9: a value handed to a take was lost with it"
        );
    }
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
    holds_eq!(
        undelivered,
        accepted,
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
        holds_eq!(
            C::offer(&mut tx, 1),
            Offered::Done,
            "C5: a take waits, and an offer found none"
        );
        if !C::close(&tx) {
            return;
        }
        C::poll(&mut other)
    };
    let answers = [meanwhile, C::poll(&mut other), C::poll(&mut other)];
    use Polled::{Closed, Done};
    holds!(
        matches!(
            answers,
            [Done(1), Closed, Closed] | [Closed, Done(1), Closed]
        ),
        "C9: after a close, what a dropped take had been handed is not taken once: {answers:?}"
    );
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
    ledger.taken(
        token
            .unwrap_or_else(|_| violated!("C9: an open channel was closed"))
            .id(),
    );
    holds!(W::join(putter), "C1: a put on an open channel was refused");
    finish::<C>(rx, ledger, mint);
}

/// Whoever was to be woken for a value, and is dropped, does not keep it from the take that waits.
fn waits_beside<C: Async, W: World>(buffer: Buffer) {
    let mint = Mint::new(1);
    let (mut tx, mut rx) = C::open::<Token>(buffer).expect("asked before");
    let mut other = C::another_rx(&rx).expect("asked before");
    let taker = W::spawn(move || {
        W::perturb();
        W::block_on(C::take_async(&mut other)).map(|token| token.id())
    });
    let token = mint.token(0);
    let putter = W::spawn(move || {
        W::perturb();
        let put = W::block_on(C::put_async(&mut tx, token));
        (tx, put.is_ok())
    });
    let mut ledger = Ledger::new(1);
    ledger.accepted(0);
    let early = {
        let mut take = Box::pin(C::take_async(&mut rx));
        W::perturb();
        let early = take.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        W::perturb();
        early
    };
    let (mut tx, accepted) = W::join(putter);
    holds!(accepted, "C1: a put on an open channel was refused");
    if let Poll::Ready(token) = early {
        // The other one is to end as well.
        let token = token.unwrap_or_else(|_| violated!("C9: an open channel was closed"));
        assert!(W::block_on(C::put_async(&mut tx, token)).is_ok());
    }
    ledger.taken(W::join(taker).unwrap_or_else(|_| violated!("C9: an open channel was closed")));
    finish::<C>(rx, ledger, mint);
}

fn finish<C: Channels>(mut rx: C::Rx<Token>, mut ledger: Ledger, mint: Mint) {
    while let Polled::Done(token) = C::poll(&mut rx) {
        ledger.taken(token.id());
    }
    drop(rx);
    ledger.close(&mint, "around a dropped future");
}
