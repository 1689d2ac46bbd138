//! C11: a callback runs outside every lock and may use its channel, whichever operation completes it.
//!
//! The smallest history that violates it:
//!
//! ```text
//! take of a with a callback that polls a and b
//! alts [put a 1, put b 2]     commits a at once, and completes the callback while it has both channels: a deadlock
//! ```

use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};

use flowmeter_harness::channel::{Buffer, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::Deadline;

use super::Case;
use crate::design::{Channels, Clause, Rx, Tx};

const ONE: Buffer = Buffer::fixed(1);

/// For families with callbacks.
pub(super) fn cases(channels: Channels) -> Vec<Case> {
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
    takes.chain(puts).collect()
}

/// Whether a family has an operation.
type IsThere = fn(Channels) -> bool;

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
