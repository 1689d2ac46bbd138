//! C11: callbacks that wait one after the other, each for the one behind it. Each way to wait lets those behind run.
//!
//! The smallest history that violates it:
//!
//! ```text
//! a callback completes three others, and waits for what the first of them puts
//! that one waits for what the second puts, and that one for what the third puts
//! the second is not called, as it stands behind a callback that waits: a deadlock
//! ```

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::mpsc;

use flowmeter_harness::channel::{Buffer, Order, Patience};
use flowmeter_harness::sync::{Deadline, world};

use super::Case;
use super::acts::fill;
use super::completions::IsThere;
use crate::design::{Channels, Clause, Rx, Tx};

/// For families with callbacks.
pub(super) fn cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    let ways = WAYS.iter().filter(|way| {
        let is_there = way.is_there;
        is_there(channels) && channels.having(&[way.buffer]).next().is_some()
    });
    for way in ways {
        let name = format!("callbacks that wait for those behind them, {}", way.name);
        cases.push(Case::new(name, move || {
            waits_for_those_behind(channels, way)
        }));
    }
    cases
}

/// How a callback waits.
struct Way {
    name: &'static str,
    is_there: IsThere,
    /// Of the channel on which it waits. The channel is full, if there is a buffer.
    buffer: Buffer,
    /// Whether it ends.
    wait: fn(&mut Tx<u32>, &mut Rx<u32>) -> bool,
    /// What ends the wait, without waiting.
    end: fn(&Tx<u32>, &Rx<u32>),
}

const WAYS: &[Way] = &[
    Way {
        name: "take",
        is_there: Channels::blocks,
        buffer: Buffer::Rendezvous,
        wait: |_, rx| rx.take().is_ok(),
        end: puts,
    },
    Way {
        name: "put",
        is_there: Channels::blocks,
        buffer: Buffer::fixed(1),
        wait: |tx, _| tx.put(1).is_ok(),
        end: takes,
    },
    Way {
        name: "take with a deadline",
        is_there: Channels::takes_until,
        buffer: Buffer::Rendezvous,
        wait: |_, rx| rx.take_until(never_comes()).is_ok(),
        end: puts,
    },
    Way {
        name: "put with a deadline",
        is_there: Channels::puts_until,
        buffer: Buffer::fixed(1),
        wait: |tx, _| tx.put_until(1, never_comes()).is_ok(),
        end: takes,
    },
    Way {
        name: "batch of takes",
        is_there: Channels::batches,
        buffer: Buffer::Rendezvous,
        wait: |_, rx| rx.take_many(NonZeroUsize::MIN, &mut Vec::new()).is_ok(),
        end: puts,
    },
    Way {
        name: "batch of puts",
        is_there: Channels::batches,
        buffer: Buffer::fixed(1),
        wait: |tx, _| tx.put_many(&mut VecDeque::from([1])).is_ok(),
        end: takes,
    },
    Way {
        name: "reservation",
        is_there: Channels::blocks_for_room,
        buffer: Buffer::fixed(1),
        wait: |tx, _| tx.reserve().is_ok(),
        end: takes,
    },
    Way {
        name: "alts of a take",
        is_there: Channels::chooses,
        buffer: Buffer::Rendezvous,
        wait: |_, rx| is_won(&[Clause::Take(rx)], &mut [None], rx.channels()),
        end: puts,
    },
    Way {
        name: "alts of a put",
        is_there: Channels::chooses,
        buffer: Buffer::fixed(1),
        wait: |tx, _| is_won(&[Clause::Put(tx)], &mut [Some(1)], tx.channels()),
        end: takes,
    },
];

fn puts(tx: &Tx<u32>, _: &Rx<u32>) {
    tx.put_then(1, |_| {});
}

fn takes(_: &Tx<u32>, rx: &Rx<u32>) {
    rx.take_then(|_| {});
}

/// A deadline that does not pass. Under shuttle any but [`Deadline::NEVER`] may.
fn never_comes() -> Deadline {
    match world::name() {
        "sim" => Deadline::from_nanos(u64::MAX - 1),
        _ => Deadline::NEVER,
    }
}

fn is_won(clauses: &[Clause<'_, u32>], slots: &mut [Option<u32>], channels: Channels) -> bool {
    let stated = channels.clauses(clauses);
    let chosen = stated
        .prepare(Order::Priority)
        .run(slots, Patience::Forever);
    chosen.is_ok()
}

/// The first of some callbacks completes the others, and waits for the second. Each but the last waits for the next.
fn waits_for_those_behind(channels: Channels, way: &'static Way) {
    // Loom has no room for more threads.
    let waiting = match world::name() {
        "loom" => 1,
        _ => 1 + world::choose(3),
    };
    let start = |_| {
        let opened = channels.open::<u32>(Buffer::Rendezvous);
        opened.expect("a family with callbacks has a rendezvous")
    };
    let starts: Vec<_> = (0..=waiting).map(start).collect();
    let (answers, seen) = mpsc::channel();
    let mut before: Option<(Tx<u32>, Rx<u32>)> = None;
    let (firsts, others) = starts.split_at(1);
    let mut completes: Vec<_> = others.iter().map(|(tx, _)| another(tx)).collect();
    for (number, (_, rx)) in firsts.iter().chain(others).enumerate() {
        let ends = before.take();
        let mut waits = (number < waiting).then(|| {
            let (mut tx, rx) = channels.open::<u32>(way.buffer).expect("asked before");
            fill(&mut tx, way.buffer);
            let shared = rx.another().expect("a shared handle");
            before = Some((another(&tx), shared));
            (tx, rx)
        });
        let completes = std::mem::take(&mut completes);
        let answers = answers.clone();
        rx.take_then(move |_| {
            for tx in completes {
                tx.put_then(1, |_| {});
            }
            let is_over = waits.as_mut().is_none_or(|(tx, rx)| (way.wait)(tx, rx));
            if let Some((tx, rx)) = &ends {
                (way.end)(tx, rx);
            }
            // The others may end after the model.
            if number == 0 {
                answers.send(is_over).expect("it is being watched");
            }
        });
    }
    starts[0].0.put_then(1, |_| {});
    holds_eq!(
        seen.try_recv(),
        Ok(true),
        "C11: a callback waited for those behind it, of which {} wait",
        waiting - 1
    );
}

fn another(tx: &Tx<u32>) -> Tx<u32> {
    tx.another().expect("a shared handle")
}
