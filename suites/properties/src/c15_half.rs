//! C15 with C1, C6 and C14: batches that meet the end half way. What a batch has put is taken, or lies in the buffer as
//! the last consumer leaves; all else comes back, in order. A batch that has taken something answers that, and the end
//! is the next answer.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer, rendezvous            consumer
//! put_many [0, 1, 2]
//!                                 take -> 0
//!                                 drops its half
//! -> closed, left [2]: the 1 had no taker and no buffer
//!
//! fixed(3) holds 0, 1 and is closed
//!                                 take_many(3) -> closed: the 0 and the 1 are lost
//! ```

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{BatchError, Buffer, Message, Offered, Polled, TakeError};
use flowmeter_harness::check::{Ledger, Mint, Token};
use flowmeter_harness::sync::world;

use super::acts::room;
use super::form::Way;
use super::scripted::{Log, Script, Scripted, unasked};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c15-half",
    statement: "A batch that meets the end half way has put what is no longer in it, and answers what it has taken before the end.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(3),
    Buffer::Unbounded,
];

/// Loom has room for no more.
const FEW: [Buffer; 2] = [Buffer::Rendezvous, Buffer::fixed(1)];

/// How many values a batch has.
const COUNT: usize = 4;

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let keeps = design.claims(Claim::KeepsBuffered);
    let ends = design.claims(Claim::Disconnect);
    let mut cases = Vec::new();
    let buffers: &[Buffer] = match world::name() {
        "loom" => &FEW,
        _ => &BUFFERS,
    };
    let mut of = |way: Way| {
        for buffer in channels.having(buffers) {
            let named = |what: &str| format!("{way}, {what}, {buffer}");
            if keeps {
                cases.push(Case::new(named("takes meet the end"), move || {
                    takes_meet_the_end(channels, way, buffer);
                }));
            }
            if ends {
                cases.push(Case::new(named("the consumer leaves"), move || {
                    consumer_leaves(channels, way, buffer);
                }));
                // Loom has no room for two batches and two consumers.
                if keeps && world::name() != "loom" {
                    cases.push(Case::new(named("two batches, two consumers"), move || {
                        two_and_two(channels, way, buffer);
                    }));
                }
            }
        }
        if channels.transforms() && world::name() != "loom" {
            for buffer in channels.having(&[Buffer::fixed(1), Buffer::fixed(3), Buffer::Unbounded])
            {
                cases.push(Case::new(
                    format!("{way}, a transform that ends, {buffer}"),
                    move || transform_ends(channels, way, buffer),
                ));
            }
        }
    };
    if channels.batches() {
        of(Way::Blocking);
    }
    if channels.awaits_batches() {
        of(Way::Async);
    }
    cases
}

fn limit(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("a limit above zero")
}

fn put_many<T: Message>(
    way: Way,
    tx: &mut Tx<T>,
    values: &mut VecDeque<T>,
) -> Result<(), BatchError> {
    match way {
        Way::Blocking => tx.put_many(values),
        Way::Async => world::block_on(tx.put_many_async(values)),
    }
}

fn take_many<T: Message>(
    way: Way,
    rx: &mut Rx<T>,
    most: usize,
    values: &mut Vec<T>,
) -> Result<usize, TakeError> {
    match way {
        Way::Blocking => rx.take_many(limit(most), values),
        Way::Async => world::block_on(rx.take_many_async(limit(most), values)),
    }
}

/// Puts a batch of these tokens; writes down which were accepted.
fn puts(way: Way, tx: &mut Tx<Token>, mint: &Mint, ids: std::ops::Range<usize>) -> Ledger {
    let mut ledger = Ledger::new(mint.count());
    let mut queue: VecDeque<Token> = ids.clone().map(|id| mint.token(id)).collect();
    let answer = put_many(way, tx, &mut queue);
    let left: Vec<usize> = queue.iter().map(Token::id).collect();
    holds_eq!(
        answer.is_ok(),
        left.is_empty(),
        "C15: {answer:?}, with {left:?} left"
    );
    let put = ids.end - ids.start - left.len();
    holds!(
        left == (ids.start + put..ids.end).collect::<Vec<_>>(),
        "C15: {left:?} are left of {ids:?}: not the rest, in its order"
    );
    (ids.start..ids.start + put).for_each(|id| ledger.accepted(id));
    left.into_iter().for_each(|id| ledger.refused(id));
    ledger
}

/// Takes batches until the end. Each answers how many it has taken, and the end comes by itself.
fn takes(way: Way, rx: &mut Rx<Token>, most: usize, count: usize) -> Ledger {
    let mut ledger = Ledger::new(count);
    let mut values = Vec::new();
    loop {
        let before = values.len();
        let answer = take_many(way, rx, most, &mut values);
        let came = values.len() - before;
        let (right, is_over) = match answer {
            Ok(taken) => (taken == came && (1..=most).contains(&taken), false),
            Err(TakeError::Closed) => (came == 0, true),
            Err(TakeError::TooManyWaiters) => violated!("C7: one too many among few"),
        };
        holds!(right, "C15: {answer:?}, and {came} came");
        if is_over {
            values.iter().for_each(|token| ledger.taken(token.id()));
            return ledger;
        }
    }
}

/// A producer puts one value after the other and then closes or leaves. Batches take them all, and then meet the end.
fn takes_meet_the_end(channels: Channels, way: Way, buffer: Buffer) {
    let count = if world::name() == "loom" { 2 } else { COUNT };
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    let mint = Mint::new(count);
    let further = mint.clone();
    let putter = world::spawn(move || {
        let mut ledger = Ledger::new(count);
        for id in 0..count {
            world::perturb();
            let put = way.put(&mut tx, further.token(id));
            holds!(put.is_ok(), "C1: a put on an open channel was refused");
            ledger.accepted(id);
        }
        tx.close();
        drop(tx);
        ledger
    });
    world::perturb();
    // A design without close ends by its last producer.
    let mut ledger = takes(way, &mut rx, count + 1, count);
    ledger.merge(&world::join(putter));
    drop(rx);
    ledger.close(&mint, "where batches take until the end");
}

/// The consumer takes some values and leaves while a batch is put. What was put and not taken lay in the buffer.
fn consumer_leaves(channels: Channels, way: Way, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<Token>(buffer).expect("asked before");
    let count = if world::name() == "loom" { 2 } else { COUNT };
    let mint = Mint::new(count);
    let further = mint.clone();
    let putter = world::spawn(move || {
        world::perturb();
        let ledger = puts(way, &mut tx, &further, 0..count);
        (ledger, tx)
    });
    let mut taken = Vec::new();
    for _ in 0..world::choose(3) {
        world::perturb();
        if let Polled::Done(token) = rx.poll() {
            taken.push(token.id());
        }
    }
    drop(rx);
    let (mut ledger, mut tx) = world::join(putter);
    taken.iter().for_each(|id| ledger.taken(*id));
    let lay = ledger.accepted_puts() - ledger.takes();
    let places = match buffer {
        Buffer::Unbounded => u64::MAX,
        _ => room(buffer) as u64,
    };
    holds!(
        lay <= places,
        "C15: {lay} values of a batch were put without a taker, and {places} have room"
    );
    let last = Mint::new(1);
    let offered = tx.offer(last.token(0));
    holds!(
        matches!(offered, Offered::Closed(_)),
        "C14: an offer without consumers was answered {offered:?}"
    );
    drop(offered);
    drop(tx);
    ledger.close_lossy(&mint, "where the consumer of a batch leaves");
}

/// Two batches are put while two consumers take batches; a close by one of the consumers comes at any moment.
fn two_and_two(channels: Channels, way: Way, buffer: Buffer) {
    let (tx, rx) = channels.open::<Token>(buffer).expect("asked before");
    let (Some(other_tx), Some(other_rx)) = (tx.another(), rx.another()) else {
        return;
    };
    let mint = Mint::new(2 * COUNT);
    let putting: Vec<_> = [tx, other_tx]
        .into_iter()
        .enumerate()
        .map(|(nth, mut tx)| {
            let mint = mint.clone();
            world::spawn(move || {
                world::perturb();
                let ledger = puts(way, &mut tx, &mint, nth * COUNT..(nth + 1) * COUNT);
                // The last producer that leaves is the end, if nothing else was.
                drop(tx);
                ledger
            })
        })
        .collect();
    let closes = world::choose(2) == 1;
    let count = mint.count();
    let mut taking = Vec::new();
    for (nth, mut rx) in [rx, other_rx].into_iter().enumerate() {
        taking.push(world::spawn(move || {
            world::perturb();
            if closes && nth == 0 {
                rx.close();
            }
            let ledger = takes(way, &mut rx, 3, count);
            (ledger, rx)
        }));
    }
    let mut ledger = Ledger::new(count);
    for thread in putting {
        ledger.merge(&world::join(thread));
    }
    let mut rxs = Vec::new();
    for thread in taking {
        let (theirs, rx) = world::join(thread);
        ledger.merge(&theirs);
        rxs.push(rx);
    }
    // A put that waited at the close may have been accepted after a take was told of the end.
    for rx in &mut rxs {
        while let Polled::Done(token) = rx.poll() {
            ledger.taken(token.id());
        }
    }
    drop(rxs);
    ledger.close(&mint, "where batches meet the end");
}

/// A transform ends the channel at the second value of a batch, while a take waits or not.
fn transform_ends(channels: Channels, way: Way, buffer: Buffer) {
    let log = Log::default();
    let script = Script {
        ends_after: 2,
        ..Script::PLAIN
    };
    let opened = channels.open_transformed(buffer, Scripted::new(script, &log), unasked);
    let (mut tx, mut rx) = opened.unwrap_or_else(|why| violated!("B2: no channel: {why}"));
    let putter = world::spawn(move || {
        world::perturb();
        let mut queue: VecDeque<u32> = (0..4).collect();
        let answer = put_many(way, &mut tx, &mut queue);
        (answer, queue, tx)
    });
    world::perturb();
    let mut values = Vec::new();
    loop {
        let before = values.len();
        let answer = take_many(way, &mut rx, 3, &mut values);
        let came = values.len() - before;
        match answer {
            Ok(taken) => holds_eq!(taken, came, "C15: how many were taken"),
            Err(_) => {
                holds_eq!(came, 0, "C15: a batch of the end");
                break;
            }
        }
    }
    holds_eq!(values, [0, 10], "C15: what came of a batch that was ended");
    let (answer, queue, _tx) = world::join(putter);
    holds_eq!(
        (answer, queue.into_iter().collect::<Vec<_>>()),
        (Err(BatchError::Closed), vec![2, 3]),
        "C15: what is left of a batch that a transform ended at its second value"
    );
}
