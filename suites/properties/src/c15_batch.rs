//! C15 (batches): many values in one call behave as if put or taken one by one, in order.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! producer, fixed(3)            consumer
//! put_many [0, 1, 2] -> done
//!                               take_many(2) -> 0, 2    out of order
//!
//! put_many [0, 1, 2]            poll -> 0
//!                               close
//! -> closed, left [2]           the 1 is neither taken nor given back
//!
//! put_many [0, 1, 2] -> waits with the 0
//! dropped, left []              the 1 and the 2 are neither taken nor given back
//! ```

use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{
    BatchError, Buffer, Message, Offered, Polled, PutError, TakeError,
};
use flowmeter_harness::sync::world;

use super::form::Way;
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c15-batch",
    statement: "A batch takes what is there up to its limit, puts all it has, in order, and leaves what it has not put.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

fn take_many<T: Message>(
    way: Way,
    rx: &mut Rx<T>,
    limit: NonZeroUsize,
    values: &mut Vec<T>,
) -> Result<usize, TakeError> {
    match way {
        Way::Blocking => rx.take_many(limit, values),
        Way::Async => world::block_on(rx.take_many_async(limit, values)),
    }
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

const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(3),
    Buffer::Unbounded,
];

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let keeps_buffered = design.claims(Claim::KeepsBuffered);
    let mut cases = Vec::new();
    if channels.batches() {
        cases.extend(cases_by(Way::Blocking, channels, keeps_buffered));
    }
    if channels.awaits_batches() {
        cases.extend(cases_by(Way::Async, channels, keeps_buffered));
        for buffer in channels.having(&BUFFERS) {
            let loses_nothing = design.claims(Claim::CancelSafe);
            cases.push(Case::new(
                format!("a batch is dropped, {buffer}"),
                move || dropped(channels, buffer, loses_nothing),
            ));
        }
    }
    cases
}

/// `keeps_buffered`: whether buffered values survive the close, as claimed.
fn cases_by(way: Way, channels: Channels, keeps_buffered: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in channels.having(&BUFFERS) {
        cases.push(Case::new(
            format!("{way}, a batch meets a batch, {buffer}"),
            move || meet(channels, way, buffer),
        ));
        cases.push(Case::new(
            format!("{way}, a batch is closed, {buffer}"),
            move || after_a_close(channels, way, buffer),
        ));
        if keeps_buffered {
            cases.push(Case::new(
                format!("{way}, a close comes between, {buffer}"),
                move || close_between(channels, way, buffer),
            ));
        }
    }
    for buffer in channels.having(&[Buffer::fixed(3), Buffer::Unbounded]) {
        cases.push(Case::new(
            format!("{way}, up to a limit, {buffer}"),
            move || up_to_a_limit(channels, way, buffer),
        ));
    }
    if channels.having(&[Buffer::fixed(2)]).next().is_some()
        && channels
            .open::<u32>(Buffer::fixed(2))
            .is_some_and(|(tx, _rx)| tx.another().is_some())
    {
        cases.push(Case::new(
            format!("{way}, a batch makes room for two puts"),
            move || room_for_two(channels, way),
        ));
    }
    cases
}

fn limit(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("a limit above zero")
}

/// Takes the values that are there, in order and up to the limit, and appends them to the caller's.
fn up_to_a_limit(channels: Channels, way: Way, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut queue: VecDeque<u32> = (0..3).collect();
    holds_eq!(
        put_many(way, &mut tx, &mut queue),
        Ok(()),
        "C15: a batch for which there is room"
    );
    holds!(
        queue.is_empty(),
        "C15: what was put is no longer the caller's"
    );
    let mut values = vec![9];
    let taken = take_many(way, &mut rx, limit(2), &mut values);
    holds_eq!(taken, Ok(2), "C15: a batch of two");
    let taken = take_many(way, &mut rx, limit(5), &mut values);
    holds_eq!(taken, Ok(1), "C15: what was left");
    holds_eq!(values, [9, 0, 1, 2], "C15: what was left");
    assert_eq!(rx.poll(), Polled::WouldWait);
}

fn meet(channels: Channels, way: Way, buffer: Buffer) {
    const COUNT: u32 = 4;
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let putter = world::spawn(move || {
        world::perturb();
        let put = put_many(way, &mut tx, &mut (0..COUNT).collect());
        (put, tx)
    });
    world::perturb();
    let mut values = Vec::new();
    while values.len() < COUNT as usize {
        let before = values.len();
        let taken = take_many(way, &mut rx, limit(3), &mut values);
        let taken =
            taken.unwrap_or_else(|_| violated!("C15: a batch found an open channel closed"));
        holds_eq!(values.len() - before, taken, "C15: how many were taken");
        holds!((1..=3).contains(&taken), "C15: {taken} values up to 3");
    }
    let expected: Vec<u32> = (0..COUNT).collect();
    holds_eq!(values, expected, "C15: a batch is in order");
    let (put, _tx) = world::join(putter);
    holds_eq!(put, Ok(()), "C15: a batch that was taken");
}

fn shut(tx: &Tx<u32>, rx: &mut Rx<u32>) -> bool {
    tx.close() || rx.close()
}

fn after_a_close(channels: Channels, way: Way, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    if !shut(&tx, &mut rx) {
        return;
    }
    let mut queue = VecDeque::from([1, 2]);
    let swallows = matches!(way.put(&mut tx, 0), Err(PutError::Closed(None)));
    holds_eq!(
        put_many(way, &mut tx, &mut queue),
        Err(BatchError::Closed),
        "C15: a batch after a close"
    );
    let left = if swallows { vec![2] } else { vec![1, 2] };
    holds_eq!(queue, left, "C15: what a close refuses comes back");
    let mut values = vec![9];
    holds_eq!(
        take_many(way, &mut rx, limit(2), &mut values),
        Err(TakeError::Closed),
        "C15: a batch of a closed channel"
    );
    holds_eq!(values, [9], "C15: a batch of nothing");
}

/// The values of a batch that were put before the close are taken, the rest comes back, both in order.
fn close_between(channels: Channels, way: Way, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let putter = world::spawn(move || {
        world::perturb();
        let mut queue: VecDeque<u32> = (0..3).collect();
        let put = put_many(way, &mut tx, &mut queue);
        (put, queue, tx)
    });
    world::perturb();
    let mut taken = Vec::new();
    if let Polled::Done(value) = rx.poll() {
        taken.push(value);
    }
    if !rx.close() {
        // No other half can close it, so all values have to be taken.
        while taken.len() < 3 {
            taken.extend(way.take(&mut rx));
        }
    }
    while take_many(way, &mut rx, limit(2), &mut taken).is_ok() && taken.len() < 3 {}
    let (put, queue, _tx) = world::join(putter);
    holds_eq!(
        put.is_ok(),
        queue.is_empty(),
        "C15: {put:?}, with {queue:?} left"
    );
    taken.extend(queue);
    holds_eq!(
        taken,
        [0, 1, 2],
        "C15: what was taken and what came back are the batch"
    );
}

/// The answer to the only poll of a future that is then dropped.
fn polled_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// A batch that is dropped while it waits leaves with its caller what it had before, except for the values that it has
/// put and the one that it waited with. `loses_nothing`: the family claims that a dropped take has taken nothing.
fn dropped(channels: Channels, buffer: Buffer, loses_nothing: bool) {
    const COUNT: u32 = 6;
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut values = vec![9];
    let taken = polled_once(rx.take_many_async(limit(2), &mut values));
    holds!(
        taken.is_pending(),
        "C15: a batch of an empty channel: {taken:?}"
    );
    holds_eq!(values, [9], "C15: a dropped batch took nothing");
    let mut queue: VecDeque<u32> = (0..COUNT).collect();
    let put = polled_once(tx.put_many_async(&mut queue));
    let mut put_before = Vec::new();
    while let Polled::Done(value) = rx.poll() {
        put_before.push(value);
    }
    if !loses_nothing {
        return;
    }
    let count = u32::try_from(put_before.len()).expect("a few");
    let expected: Vec<u32> = (0..count).collect();
    holds_eq!(put_before, expected, "C15: what a dropped batch had put");
    let left: Vec<u32> = match put {
        Poll::Pending => (count + 1..COUNT).collect(),
        Poll::Ready(_) => (count..COUNT).collect(),
    };
    holds_eq!(queue, left, "C15: what a dropped batch had not put");
}

/// A batch that empties a buffer of two serves both waiting puts.
fn room_for_two(channels: Channels, way: Way) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::fixed(2))
        .expect("asked before");
    for value in [0, 1] {
        assert_eq!(tx.offer(value), Offered::Done);
    }
    let further = tx.another().expect("asked before");
    let putters = [(tx, 2), (further, 3)].map(|(mut tx, value)| {
        world::spawn(move || {
            world::perturb();
            (way.put(&mut tx, value), tx)
        })
    });
    world::perturb();
    let mut values = Vec::new();
    let taken = take_many(way, &mut rx, limit(2), &mut values);
    holds_eq!(taken, Ok(2), "C15: a batch of two");
    holds_eq!(values, [0, 1], "C15: a batch is in order");
    let _producers = putters.map(|putter| {
        let (put, tx) = world::join(putter);
        holds_eq!(put, Ok(()), "C15: a batch made room");
        tx
    });
    values.clear();
    while let Polled::Done(value) = rx.poll() {
        values.push(value);
    }
    values.sort_unstable();
    holds_eq!(values, [2, 3], "C15: a batch made room");
}
