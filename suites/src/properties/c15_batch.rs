//! C15 (batches): many values in one call are as if put or taken one by one, in order.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{
    AsyncBatch, Batch, BatchError, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};
use flowmeter_harness::sync::World;

use super::acts::having;
use super::form::{ByFuture, ByThread, Form};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c15-batch",
    statement: "A batch takes what is there up to its limit, puts all it has, in order, and leaves what a close refuses.",
    relied_on_by: Reliance::Nobody,
};

/// Batches by thread or by future.
pub(super) trait BatchForm<C: Channels>: Form<C> {
    fn take_many<T: Message>(
        rx: &mut C::Rx<T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> Result<usize, TakeError>;
    fn put_many<T: Message>(tx: &mut C::Tx<T>, values: &mut VecDeque<T>) -> Result<(), BatchError>;
}

impl<C: Batch> BatchForm<C> for ByThread {
    fn take_many<T: Message>(
        rx: &mut C::Rx<T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> Result<usize, TakeError> {
        C::take_many(rx, limit, values)
    }
    fn put_many<T: Message>(tx: &mut C::Tx<T>, values: &mut VecDeque<T>) -> Result<(), BatchError> {
        C::put_many(tx, values)
    }
}

impl<C: AsyncBatch, W: World> BatchForm<C> for ByFuture<W> {
    fn take_many<T: Message>(
        rx: &mut C::Rx<T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> Result<usize, TakeError> {
        W::block_on(C::take_many_async(rx, limit, values))
    }
    fn put_many<T: Message>(tx: &mut C::Tx<T>, values: &mut VecDeque<T>) -> Result<(), BatchError> {
        W::block_on(C::put_many_async(tx, values))
    }
}

const BUFFERS: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(3),
    Buffer::Unbounded,
];

/// `keeps_buffered`: whether values in the buffer are promised to survive the close.
pub(super) fn cases<C: Channels, F: BatchForm<C>, W: World>(keeps_buffered: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in having::<C>(&BUFFERS) {
        cases.push(Case::new(
            format!("a batch meets a batch, {buffer}"),
            move || meet::<C, F, W>(buffer),
        ));
        cases.push(Case::new(
            format!("a batch is closed, {buffer}"),
            move || after_a_close::<C, F>(buffer),
        ));
        if keeps_buffered {
            cases.push(Case::new(
                format!("a close comes between, {buffer}"),
                move || close_between::<C, F, W>(buffer),
            ));
        }
    }
    for buffer in having::<C>(&[Buffer::fixed(3), Buffer::Unbounded]) {
        cases.push(Case::new(format!("up to a limit, {buffer}"), move || {
            up_to_a_limit::<C, F>(buffer)
        }));
    }
    if having::<C>(&[Buffer::fixed(2)]).next().is_some()
        && C::open::<u32>(Buffer::fixed(2)).is_some_and(|(tx, _rx)| C::another_tx(&tx).is_some())
    {
        cases.push(Case::new("a batch makes room for two puts", || {
            room_for_two::<C, F, W>()
        }));
    }
    cases
}

fn limit(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("a limit above zero")
}

/// Takes what is there, in order and no more than was asked for, behind what the caller had.
fn up_to_a_limit<C: Channels, F: BatchForm<C>>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut queue: VecDeque<u32> = (0..3).collect();
    holds_eq!(
        F::put_many(&mut tx, &mut queue),
        Ok(()),
        "C15: a batch for which there is room"
    );
    holds!(
        queue.is_empty(),
        "C15: what was put is no longer the caller's"
    );
    let mut values = vec![9];
    let taken = F::take_many(&mut rx, limit(2), &mut values);
    holds_eq!(taken, Ok(2), "C15: a batch of two");
    let taken = F::take_many(&mut rx, limit(5), &mut values);
    holds_eq!(taken, Ok(1), "C15: what was left");
    holds_eq!(values, [9, 0, 1, 2], "C15: what was left");
    assert_eq!(C::poll(&mut rx), Polled::WouldWait);
}

fn meet<C: Channels, F: BatchForm<C>, W: World>(buffer: Buffer) {
    const COUNT: u32 = 4;
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let putter = W::spawn(move || {
        W::perturb();
        let put = F::put_many(&mut tx, &mut (0..COUNT).collect());
        (put, tx)
    });
    W::perturb();
    let mut values = Vec::new();
    while values.len() < COUNT as usize {
        let before = values.len();
        let taken = F::take_many(&mut rx, limit(3), &mut values);
        let taken =
            taken.unwrap_or_else(|_| violated!("C15: a batch found an open channel closed"));
        holds_eq!(values.len() - before, taken, "C15: how many were taken");
        holds!((1..=3).contains(&taken), "C15: {taken} values up to 3");
    }
    let expected: Vec<u32> = (0..COUNT).collect();
    holds_eq!(values, expected, "C15: a batch is in order");
    let (put, _tx) = W::join(putter);
    holds_eq!(put, Ok(()), "C15: a batch that was taken");
}

fn shut<C: Channels>(tx: &C::Tx<u32>, rx: &mut C::Rx<u32>) -> bool {
    C::close(tx) || C::close_rx(rx)
}

fn after_a_close<C: Channels, F: BatchForm<C>>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    if !shut::<C>(&tx, &mut rx) {
        return;
    }
    let mut queue = VecDeque::from([1, 2]);
    let swallows = matches!(F::put(&mut tx, 0), Err(PutError::Closed(None)));
    holds_eq!(
        F::put_many(&mut tx, &mut queue),
        Err(BatchError::Closed),
        "C15: a batch after a close"
    );
    let left = if swallows { vec![2] } else { vec![1, 2] };
    holds_eq!(queue, left, "C15: what a close refuses comes back");
    let mut values = vec![9];
    holds_eq!(
        F::take_many(&mut rx, limit(2), &mut values),
        Err(TakeError::Closed),
        "C15: a batch of a closed channel"
    );
    holds_eq!(values, [9], "C15: a batch of nothing");
}

/// What of a batch was put before the close is taken, the rest comes back, both in order.
fn close_between<C: Channels, F: BatchForm<C>, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let putter = W::spawn(move || {
        W::perturb();
        let mut queue: VecDeque<u32> = (0..3).collect();
        let put = F::put_many(&mut tx, &mut queue);
        (put, queue, tx)
    });
    W::perturb();
    let mut taken = Vec::new();
    if let Polled::Done(value) = C::poll(&mut rx) {
        taken.push(value);
    }
    if !C::close_rx(&mut rx) {
        // Nobody else can close it; it has to be taken.
        while taken.len() < 3 {
            taken.extend(F::take(&mut rx));
        }
    }
    while F::take_many(&mut rx, limit(2), &mut taken).is_ok() && taken.len() < 3 {}
    let (put, queue, _tx) = W::join(putter);
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

/// A batch that empties a buffer of two serves both puts that wait for room.
fn room_for_two<C: Channels, F: BatchForm<C>, W: World>() {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::fixed(2)).expect("asked before");
    for value in [0, 1] {
        assert_eq!(C::offer(&mut tx, value), Offered::Done);
    }
    let further = C::another_tx(&tx).expect("asked before");
    let putters = [(tx, 2), (further, 3)].map(|(mut tx, value)| {
        W::spawn(move || {
            W::perturb();
            (F::put(&mut tx, value), tx)
        })
    });
    W::perturb();
    let mut values = Vec::new();
    let taken = F::take_many(&mut rx, limit(2), &mut values);
    holds_eq!(taken, Ok(2), "C15: a batch of two");
    holds_eq!(values, [0, 1], "C15: a batch is in order");
    let _producers = putters.map(|putter| {
        let (put, tx) = W::join(putter);
        holds_eq!(put, Ok(()), "C15: a batch made room");
        tx
    });
    values.clear();
    while let Polled::Done(value) = C::poll(&mut rx) {
        values.push(value);
    }
    values.sort_unstable();
    holds_eq!(values, [2, 3], "C15: a batch made room");
}
