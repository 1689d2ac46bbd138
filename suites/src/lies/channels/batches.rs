//! Lies about batches: how many, which ones, and what is left.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{AsyncBatch, Batch, BatchError, Message, TakeError};

use super::super::future::awaited;
use super::super::told;
use super::super::values::{double, number};
use super::{Lying, Rx, Tx};

impl<C: Batch> Batch for Lying<C> {
    fn take_many<T: Message>(
        rx: &mut Rx<C, T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> Result<usize, TakeError> {
        if let Some(answer) = untaken() {
            return answer;
        }
        let before = values.len();
        let taken = C::take_many(rx.real_mut(), other(limit), values);
        answered(taken, before, values)
    }

    fn put_many<T: Message>(tx: &mut Tx<C, T>, values: &mut VecDeque<T>) -> Result<(), BatchError> {
        let had = Had::of(values);
        if let Some(answer) = unput(values) {
            return answer;
        }
        let put = C::put_many(tx.real_mut(), values);
        had.answered(put, values)
    }
}

impl<C: AsyncBatch> AsyncBatch for Lying<C> {
    async fn take_many_async<T: Message>(
        rx: &mut Rx<C, T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> Result<usize, TakeError> {
        if let Some(answer) = untaken() {
            return answer;
        }
        let before = values.len();
        let take = C::take_many_async(rx.real_mut(), other(limit), values);
        let taken = awaited(take).await;
        answered(taken, before, values)
    }

    async fn put_many_async<T: Message>(
        tx: &mut Tx<C, T>,
        values: &mut VecDeque<T>,
    ) -> Result<(), BatchError> {
        let had = Had::of(values);
        if let Some(answer) = unput(values) {
            return answer;
        }
        let put = awaited(C::put_many_async(tx.real_mut(), values)).await;
        had.answered(put, values)
    }
}

fn untaken() -> Option<Result<usize, TakeError>> {
    if told("a batch finds it closed and is not taken") {
        return Some(Err(TakeError::Closed));
    }
    told("a batch is empty and not taken").then_some(Ok(0))
}

fn other(limit: NonZeroUsize) -> NonZeroUsize {
    if told("a batch has no limit") {
        return NonZeroUsize::MAX;
    }
    if told("a batch is one value") {
        return NonZeroUsize::MIN;
    }
    limit
}

/// What a batch answers that brought what stands behind the first `before`.
fn answered<T: Message>(
    taken: Result<usize, TakeError>,
    before: usize,
    values: &mut Vec<T>,
) -> Result<usize, TakeError> {
    let Ok(count) = taken else {
        if told("a batch of nothing brings something") {
            values.extend(number::<T>());
        }
        return if told("a batch of a closed channel is empty") {
            Ok(0)
        } else {
            taken
        };
    };
    if told("a batch is turned round") {
        values[before..].reverse();
    }
    if told("a batch replaces what was there") {
        values.drain(..before);
    }
    if told("a batch goes before what was there") {
        values.rotate_left(before);
    }
    if told("a batch loses a value") && count > 0 {
        values.pop();
    }
    if told("a batch brings a value twice")
        && let Some(last) = values.last()
    {
        values.extend(double(last).take());
    }
    if told("a batch is said to be smaller") {
        return Ok(count.saturating_sub(1));
    }
    if told("a batch is said to be larger") {
        return Ok(count + 1);
    }
    Ok(count)
}

/// The answer of a batch that is not put.
fn unput<T: Message>(values: &mut VecDeque<T>) -> Option<Result<(), BatchError>> {
    if told("a batch is refused and not put") {
        return Some(Err(BatchError::Closed));
    }
    if told("a batch is accepted and dropped") {
        values.clear();
        return Some(Ok(()));
    }
    if told("the first of a batch is dropped") {
        values.pop_front();
    }
    if told("a batch is put backwards") {
        values.make_contiguous().reverse();
    }
    None
}

/// What a batch held, where a lie needs it.
struct Had<T>(Option<VecDeque<T>>);

impl<T: Message> Had<T> {
    fn of(values: &VecDeque<T>) -> Had<T> {
        let keeps = told("a batch stays with its sender");
        Had(keeps.then(|| values.iter().filter_map(|v| double(v).take()).collect()))
    }

    fn answered(
        self,
        put: Result<(), BatchError>,
        values: &mut VecDeque<T>,
    ) -> Result<(), BatchError> {
        if let (Ok(()), Some(kept)) = (put, self.0) {
            values.extend(kept);
        }
        if put.is_ok() && told("an accepted batch is answered as refused") {
            return Err(BatchError::Closed);
        }
        if put.is_err() {
            if told("a refused batch is lost") {
                values.clear();
            }
            if told("the first of a refused batch is lost") {
                values.pop_front();
            }
            if told("a refused batch comes back turned round") {
                values.make_contiguous().reverse();
            }
            if told("a refused batch is answered as accepted") {
                return Ok(());
            }
        }
        put
    }
}
