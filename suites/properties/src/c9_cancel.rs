//! C9 (`CancelSafe`): dropping a pending future has no effect. If it had already committed, its value is not lost.
//!
//! The smallest history that violates it:
//!
//! ```text
//! take_async            producer
//! polled: pending
//!                       offer 0 -> done, handed to the take
//! dropped
//! take waits for ever: the 0 was lost with the dropped take
//! ```

use std::fmt;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Polled};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::room;
use super::by_alts::by_alts;
use super::cancellation::{self, BUFFERS, Duty};
use super::scripted::{Log, Script, Scripted, unasked};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c9-cancel",
    statement: "Dropping a pending put or take loses no value and delivers none twice.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        let channels = design.channels;
        cases(design, channels.awaits().then_some(channels))
    }),
};

pub(super) const BY_ALTS: Property = Property {
    name: "c9-cancel-alts",
    statement: "Dropping a pending alts leaves no clause behind, loses no value and delivers none twice.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| cases(design, by_alts(design.channels))),
};

/// `channels` are the design's own, or channels that stand for them.
fn cases(design: &Design, channels: Option<Channels>) -> Vec<Case> {
    let claimed = design.claims(Claim::CancelSafe);
    let Some(channels) = channels.filter(|_| claimed) else {
        return Vec::new();
    };
    let mut cases = cancellation::cases(
        channels,
        Duty::LoseNothing,
        design.claims(Claim::WaiterFifo),
    );
    for buffer in channels.having(&BUFFERS) {
        cases.push(Case::new(
            format!("take against a put, {buffer}"),
            move || take_race(channels, buffer),
        ));
        if buffer != Buffer::Unbounded {
            cases.push(Case::new(
                format!("a value that came back needs room, {buffer}"),
                move || came_back(channels, buffer),
            ));
        }
        let is_shared = |(_tx, rx): (Tx<u32>, Rx<u32>)| rx.another().is_some();
        if channels.open::<u32>(buffer).is_some_and(is_shared) {
            cases.push(Case::new(
                format!("a take that waits beside a dropped one, {buffer}"),
                move || waits_beside(channels, buffer),
            ));
            for comes in Comes::EACH
                .into_iter()
                .filter(|comes| comes.is_of(channels, buffer))
            {
                cases.push(Case::new(
                    format!("three takes {comes}dropped in any order, {buffer}"),
                    move || dropped_in_any_order(channels, buffer, comes),
                ));
            }
            cases.push(Case::new(
                format!("a take dropped after a close, {buffer}"),
                move || dropped_after_a_close(channels, buffer),
            ));
        }
    }
    cases
}

/// A value that a dropped take gave back is in the channel and uses room there.
fn came_back(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut take = pin!(rx.take_async());
        let polled = take.as_mut().poll(&mut context);
        holds!(polled.is_pending(), "C3: a take of nothing");
        let offered = tx.offer(1);
        holds_eq!(
            offered,
            Offered::Done,
            "C5: an offer found no take that waits"
        );
    }
    // A rendezvous also holds the value that came back.
    let full = room(buffer).max(1) as u32;
    for value in 2..=full {
        assert_eq!(tx.offer(value), Offered::Done);
    }
    holds_eq!(
        tx.offer(full + 1),
        Offered::WouldWait(full + 1),
        "C3: a value that came back needs no room"
    );
    let mut put = pin!(tx.put_async(full + 1));
    let polled = put.as_mut().poll(&mut context);
    holds!(polled.is_pending(), "C3: a put into a full channel");
    holds_eq!(
        rx.poll(),
        Polled::Done(1),
        "C9: a value handed to a take was lost with it"
    );
    if buffer != Buffer::Rendezvous {
        let polled = put.as_mut().poll(&mut context);
        holds!(
            polled.is_ready(),
            "C3: a put waits beside room that a returned value left"
        );
    }
    for value in 2..=full + 1 {
        holds_eq!(rx.poll(), Polled::Done(value), "C2: the next value");
    }
}

/// How values come to the takes that wait.
#[derive(Clone, Copy)]
enum Comes {
    Offered,
    ByPermits,
    /// One put, of which a transform makes all values.
    Transformed,
}

impl Comes {
    const EACH: [Comes; 3] = [Comes::Offered, Comes::ByPermits, Comes::Transformed];

    fn is_of(self, channels: Channels, buffer: Buffer) -> bool {
        match self {
            Comes::Offered => true,
            Comes::ByPermits => channels.blocks_for_room() && buffer != Buffer::Rendezvous,
            Comes::Transformed => channels.transforms() && buffer != Buffer::Rendezvous,
        }
    }

    fn open(self, channels: Channels, buffer: Buffer, values: u32) -> (Tx<u32>, Rx<u32>) {
        if let Comes::Transformed = self {
            let script = Script {
                times: values,
                ..Script::PLAIN
            };
            let transform = Scripted::new(script, &Log::default());
            let opened = channels.open_transformed(buffer, transform, unasked);
            return opened.unwrap_or_else(|why| violated!("B2: no channel with {buffer}: {why}"));
        }
        channels.open(buffer).expect("asked before")
    }

    /// Puts up to so many values; returns those that were accepted.
    fn put(self, tx: &mut Tx<u32>, values: u32) -> Vec<u32> {
        match self {
            Comes::Offered => (1..=values)
                .filter(|value| tx.offer(*value) == Offered::Done)
                .collect(),
            Comes::ByPermits => (1..=values)
                .filter(|value| tx.try_reserve().is_ok_and(|room| room.fill(*value).is_ok()))
                .collect(),
            Comes::Transformed => {
                assert_eq!(tx.offer(1), Offered::Done, "there is room");
                (10..10 + values).collect()
            }
        }
    }
}

impl fmt::Display for Comes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comes::Offered => "",
            Comes::ByPermits => "served by permits, ",
            Comes::Transformed => "served by a transform, ",
        })
    }
}

/// Values handed to dropped takes are next again, in the order of the puts. It holds for every order of drops, and
/// however often a value was handed on.
fn dropped_in_any_order(channels: Channels, buffer: Buffer, comes: Comes) {
    const ORDERS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let order = ORDERS[world::choose(ORDERS.len())];
    // With fewer values than takes some are handed on. With more, one is stored behind them.
    let puts = 1 + u32::try_from(world::choose(4)).expect("at most three");
    let (mut tx, mut rx) = comes.open(channels, buffer, puts);
    let mut others = [(); 3].map(|()| rx.another().expect("asked before"));
    let mut context = Context::from_waker(Waker::noop());
    // Again on the same channel: nothing is left of the first time.
    for _ in 0..2 {
        let mut takes = others.each_mut().map(|rx| {
            let mut take = Box::pin(rx.take_async());
            assert!(take.as_mut().poll(&mut context).is_pending());
            Some(take)
        });
        let accepted = comes.put(&mut tx, puts);
        for index in order {
            takes[index] = None;
        }
        let mut undelivered = Vec::new();
        while let Polled::Done(value) = rx.poll() {
            undelivered.push(value);
        }
        holds_eq!(
            undelivered,
            accepted,
            "C9: values handed to takes dropped in the order {order:?} are not next in the order of their puts"
        );
    }
}

/// Until it comes back, a value handed to a take counts as taken. So "closed" may be answered meanwhile, and the
/// value is next all the same.
fn dropped_after_a_close(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut other = rx.another().expect("asked before");
    let mut context = Context::from_waker(Waker::noop());
    let meanwhile = {
        let mut take = pin!(rx.take_async());
        assert!(take.as_mut().poll(&mut context).is_pending());
        holds_eq!(
            tx.offer(1),
            Offered::Done,
            "C5: a take waits, and an offer found none"
        );
        if !tx.close() {
            return;
        }
        other.poll()
    };
    let answers = [meanwhile, other.poll(), other.poll()];
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
fn take_race(channels: Channels, buffer: Buffer) {
    let mint = Mint::new(1);
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    let token = mint.token(0);
    let putter = world::spawn(move || {
        world::perturb();
        world::block_on(tx.put_async(token)).is_ok()
    });
    let mut ledger = Ledger::new(1);
    ledger.accepted(0);
    let early = {
        let mut take = pin!(rx.take_async());
        world::perturb();
        let early = take.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        world::perturb();
        early
    };
    let token = match early {
        Poll::Ready(token) => token,
        Poll::Pending => world::block_on(rx.take_async()),
    };
    ledger.taken(
        token
            .unwrap_or_else(|_| violated!("C9: an open channel was closed"))
            .id(),
    );
    holds!(
        world::join(putter),
        "C1: a put on an open channel was refused"
    );
    finish(rx, ledger, mint);
}

/// A dropped take that was to be woken for a value does not keep it from the other waiting take.
fn waits_beside(channels: Channels, buffer: Buffer) {
    let mint = Mint::new(1);
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    let mut other = rx.another().expect("asked before");
    let taker = world::spawn(move || {
        world::perturb();
        world::block_on(other.take_async()).map(|token| token.id())
    });
    let token = mint.token(0);
    let putter = world::spawn(move || {
        world::perturb();
        let put = world::block_on(tx.put_async(token));
        (tx, put.is_ok())
    });
    let mut ledger = Ledger::new(1);
    ledger.accepted(0);
    let early = {
        let mut take = Box::pin(rx.take_async());
        world::perturb();
        let early = take.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        world::perturb();
        early
    };
    let (mut tx, accepted) = world::join(putter);
    holds!(accepted, "C1: a put on an open channel was refused");
    if let Poll::Ready(token) = early {
        // Lets the other take end as well.
        let token = token.unwrap_or_else(|_| violated!("C9: an open channel was closed"));
        assert!(world::block_on(tx.put_async(token)).is_ok());
    }
    ledger
        .taken(world::join(taker).unwrap_or_else(|_| violated!("C9: an open channel was closed")));
    finish(rx, ledger, mint);
}

fn finish(mut rx: Rx<Token>, mut ledger: Ledger, mint: Mint) {
    while let Polled::Done(token) = rx.poll() {
        ledger.taken(token.id());
    }
    drop(rx);
    ledger.close(&mint, "around a dropped future");
}
