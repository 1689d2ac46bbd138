//! C11: a callback runs outside every lock and may use its channel, whichever operation completes it.
//!
//! The smallest history that violates it:
//!
//! ```text
//! take of a with a callback that polls a and b
//! alts [put a 1, put b 2]     commits a at once, and completes the callback while it has both channels: a deadlock
//! ```

use std::collections::VecDeque;
use std::future::{Future, pending};
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};

use flowmeter_harness::channel::{Buffer, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::{Deadline, world};

use super::Case;
use super::acts::put;
use crate::design::channels::operations::Port;
use crate::design::{Channels, Clause, Rx, Tx};

const ONE: Buffer = Buffer::fixed(1);

/// For families with callbacks. `cancel_safe`: whether a dropped take gives its value back.
pub(super) fn cases(channels: Channels, cancel_safe: bool) -> Vec<Case> {
    if channels.open::<u32>(ONE).is_none() {
        return Vec::new();
    }
    let takes = PUTS
        .iter()
        .filter(move |(_, is_there, _)| is_there(channels));
    let takes = takes.map(move |(act, _, puts)| {
        Case::new(
            format!("a callback of a take uses the channel, {act}"),
            move || {
                completes_a_take(channels, *puts);
            },
        )
    });
    let puts = TAKES
        .iter()
        .filter(move |(_, is_there, _)| is_there(channels));
    let puts = puts.map(move |(act, _, takes)| {
        Case::new(
            format!("a callback of a put uses the channel, {act}"),
            move || {
                completes_a_put(channels, *takes);
            },
        )
    });
    let mut cases: Vec<_> = takes.chain(puts).collect();
    if channels.awaits() && cancel_safe {
        let name = "a callback of a take uses the channel, a served take is dropped";
        cases.push(Case::new(name, move || given_back(channels, false)));
        if channels.awaits_mixes() {
            let name = "a callback of a take uses the channel, a served alts is dropped";
            cases.push(Case::new(name, move || given_back(channels, true)));
        }
    }
    if channels.awaits_room() || channels.blocks_for_room() {
        let name = "a callback of a put uses the channel, a permit is dropped";
        cases.push(Case::new(name, move || room_given_back(channels)));
    }
    if channels.blocks() {
        let name = "a callback waits for the put that its take let in";
        cases.push(Case::new(name, move || waits_for_the_put(channels)));
    }
    cases
}

/// Whether a family has an operation.
pub(super) type IsThere = fn(Channels) -> bool;

/// Puts 1 into the first channel. The second one is beside it in an alts.
type Puts = fn(&mut Tx<u32>, &Tx<u32>);

/// Takes from the first channel. The second one is beside it in an alts.
type Takes = fn(&mut Rx<u32>, &Rx<u32>);

const PUTS: &[(&str, IsThere, Puts)] = &[
    (
        "offer",
        |_| true,
        |tx, _| {
            assert_eq!(tx.offer(1), Offered::Done);
        },
    ),
    ("put", Channels::blocks, |tx, _| {
        assert_eq!(tx.put(1), Ok(()));
    }),
    ("put with a callback", Channels::calls_back, |tx, _| {
        tx.put_then(1, |_| ());
    }),
    ("put with a deadline", Channels::puts_until, |tx, _| {
        assert_eq!(tx.put_until(1, Deadline::NEVER), Ok(()));
    }),
    ("put of a task", Channels::awaits, |tx, _| {
        ends(tx.put_async(1));
    }),
    ("alts", Channels::chooses, |tx, beside| {
        let clauses = [Clause::Put(tx), Clause::Put(beside)];
        let stated = tx.channels().clauses(&clauses);
        let mut slots = [Some(1), Some(2)];
        let chosen = stated
            .prepare(Order::Priority)
            .run(&mut slots, Patience::Forever);
        assert!(chosen.is_ok(), "a clause is able: {chosen:?}");
    }),
    ("batch", Channels::batches, |tx, _| {
        assert_eq!(tx.put_many(&mut VecDeque::from([1])), Ok(()));
    }),
    ("filled permit", has_permits, |tx, _| {
        let permit = tx.try_reserve().expect("there is room");
        assert_eq!(permit.fill(1), Ok(()));
    }),
    (
        "close",
        |channels| channels.is_closable(ONE),
        |tx, _| {
            tx.close();
        },
    ),
];

const TAKES: &[(&str, IsThere, Takes)] = &[
    (
        "poll",
        |_| true,
        |rx, _| {
            assert_eq!(rx.poll(), Polled::Done(1));
        },
    ),
    ("take", Channels::blocks, |rx, _| {
        assert_eq!(rx.take(), Ok(1));
    }),
    ("take with a callback", Channels::calls_back, |rx, _| {
        rx.take_then(|_| ());
    }),
    ("take with a deadline", Channels::takes_until, |rx, _| {
        assert_eq!(rx.take_until(Deadline::NEVER), Ok(1));
    }),
    ("take of a task", Channels::awaits, |rx, _| {
        ends(rx.take_async());
    }),
    ("alts", Channels::chooses, |rx, beside| {
        let clauses = [Clause::Take(rx), Clause::Take(beside)];
        let stated = rx.channels().clauses(&clauses);
        let chosen = stated
            .prepare(Order::Priority)
            .run(&mut [None, None], Patience::Forever);
        assert!(chosen.is_ok(), "a clause is able: {chosen:?}");
    }),
    ("batch", Channels::batches, |rx, _| {
        let mut values = Vec::new();
        assert_eq!(rx.take_many(NonZeroUsize::MIN, &mut values), Ok(1));
    }),
];

fn has_permits(channels: Channels) -> bool {
    channels.awaits_room() || channels.blocks_for_room()
}

/// It need not wait.
fn ends<T>(future: impl Future<Output = T>) {
    let polled = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_ready(), "it need not wait");
}

fn open(channels: Channels) -> Halves {
    channels.open(ONE).expect("asked before")
}

type Halves = (Tx<u32>, Rx<u32>);

/// The callback uses both channels. It is judged once the operation is over, since a channel contains its panics.
fn use_both(here: &Halves, beside: &Halves) -> impl FnOnce() + Send + 'static + use<> {
    let shared = "a family with callbacks has several handles";
    let mut halves =
        [here, beside].map(|(tx, rx)| (tx.another().expect(shared), rx.another().expect(shared)));
    move || {
        for (tx, rx) in &mut halves {
            let _ = rx.poll();
            let _ = tx.offer(7);
        }
    }
}

fn completes_a_take(channels: Channels, puts: Puts) {
    let (here, beside) = (open(channels), open(channels));
    let uses = use_both(&here, &beside);
    let (answers, seen) = mpsc::channel();
    here.1.take_then(move |_| {
        uses();
        answers.send(()).expect("it is being watched");
    });
    let (mut tx, _rx) = here;
    puts(&mut tx, &beside.0);
    holds_eq!(
        seen.try_recv(),
        Ok(()),
        "C11: a callback did not come to its end before what completed it"
    );
}

fn completes_a_put(channels: Channels, takes: Takes) {
    let (mut here, beside) = (open(channels), open(channels));
    assert_eq!(here.0.offer(1), Offered::Done);
    let uses = use_both(&here, &beside);
    let (answers, seen) = mpsc::channel();
    here.0.put_then(2, move |_| {
        uses();
        answers.send(()).expect("it is being watched");
    });
    let (_tx, mut rx) = here;
    takes(&mut rx, &beside.1);
    holds_eq!(
        seen.try_recv(),
        Ok(()),
        "C11: a callback did not come to its end before what completed it"
    );
}

/// A take, or an alts of one, is served and dropped. Its value goes to the callback that waits behind it, or into the
/// channel.
fn given_back(channels: Channels, by_alts: bool) {
    let (here, beside) = (open(channels), open(channels));
    let uses = use_both(&here, &beside);
    let (answers, seen) = mpsc::channel();
    let shared = "a family with callbacks has several handles";
    let (mut tx, mut first) = (
        here.0.another().expect(shared),
        here.1.another().expect(shared),
    );
    let behind = || {
        here.1.take_then(move |answer| {
            uses();
            answers.send(answer).expect("it is being watched");
        });
    };
    let mut context = Context::from_waker(Waker::noop());
    if by_alts {
        let table = channels.tables().awaits_mixes.expect("asked before");
        let ports = [Port::Take(&first.half), Port::Take(&beside.1.half)];
        let mut clauses = table.clauses(&ports, &mut [None, None]);
        let mut alts = clauses.run_async(Order::Priority, Box::pin(pending()));
        assert!(alts.as_mut().poll(&mut context).is_pending());
        behind();
        assert_eq!(tx.offer(1), Offered::Done);
        drop(alts);
    } else {
        let mut take = Box::pin(first.take_async());
        assert!(take.as_mut().poll(&mut context).is_pending());
        behind();
        assert_eq!(tx.offer(1), Offered::Done);
        drop(take);
    }
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(1)),
        "C9: what a served take gave back, and the callback behind it"
    );
}

/// The callback of a put that waits for the room of a permit.
fn room_given_back(channels: Channels) {
    let (here, beside) = (open(channels), open(channels));
    let uses = use_both(&here, &beside);
    let (answers, seen) = mpsc::channel();
    let permit = here.0.try_reserve().expect("there is room");
    here.0.put_then(2, move |answer| {
        uses();
        answers.send(answer).expect("it is being watched");
    });
    drop(permit);
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(())),
        "C15: the room of a permit that was dropped, and the callback of a put"
    );
}

/// What the operation has let in is told before the callback runs, which may wait for it.
fn waits_for_the_put(channels: Channels) {
    let (mut tx, rx) = open(channels);
    let (mut says, mut hears) = open(channels);
    assert_eq!(tx.offer(1), Offered::Done);
    let putter = world::spawn(move || {
        put(&mut tx, 2);
        put(&mut says, 3);
        (tx, says)
    });
    let (answers, seen) = mpsc::channel();
    world::perturb();
    rx.take_then(move |_| answers.send(hears.take()).expect("it is being watched"));
    drop(world::join(putter));
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(3)),
        "C11: a callback waited for the put that its take let in"
    );
}
