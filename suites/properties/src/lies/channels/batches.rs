//! Faults injected into batches: how many values, which ones, and what is left.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{BatchError, TakeError};

use super::super::future::awaited;
use super::super::told;
use super::super::values::double;
use super::{HAD, Lying, Shared, parts};
use crate::design::Parcel;
use crate::design::channels::operations::{
    AwaitsBatches, Batches, Half, Pending, PutMany, TakenMany,
};

impl Batches for Lying {
    fn take(&self, rx: &mut Half, limit: NonZeroUsize, values: &mut Vec<Parcel>) -> TakenMany {
        if let Some(answer) = untaken() {
            return answer;
        }
        let before = values.len();
        let (real, shared) = parts(rx);
        let table = self.0.batches.expect(HAD);
        let taken = table.take(real, other(limit), values);
        answered(shared, taken, before, values)
    }

    fn put(&self, tx: &mut Half, values: &mut VecDeque<Parcel>) -> PutMany {
        let had = Had::of(values);
        if let Some(answer) = unput(values) {
            return answer;
        }
        let put = self.0.batches.expect(HAD).put(parts(tx).0, values);
        had.answered(put, values)
    }
}

impl AwaitsBatches for Lying {
    fn take<'a>(
        &self,
        rx: &'a mut Half,
        limit: NonZeroUsize,
        values: &'a mut Vec<Parcel>,
    ) -> Pending<'a, TakenMany> {
        let table = self.0.awaits_batches.expect(HAD);
        Box::pin(async move {
            if let Some(answer) = untaken() {
                return answer;
            }
            let before = values.len();
            let (real, shared) = parts(rx);
            let mut kept = Kept::of(values, "a dropped batch takes what was there along");
            let taken = awaited(table.take(real, other(limit), kept.values())).await;
            answered(shared, taken, before, kept.end())
        })
    }

    fn put<'a>(&self, tx: &'a mut Half, values: &'a mut VecDeque<Parcel>) -> Pending<'a, PutMany> {
        let table = self.0.awaits_batches.expect(HAD);
        Box::pin(async move {
            let had = Had::of(values);
            if let Some(answer) = unput(values) {
                return answer;
            }
            let mut kept = Kept::of(values, "a dropped batch takes what is left along");
            let put = awaited(table.put(parts(tx).0, kept.values())).await;
            had.answered(put, kept.end())
        })
    }
}

/// The values of a batch that may be dropped while it waits. Under that fault they are gone then.
struct Kept<'a, V: Default> {
    values: Option<&'a mut V>,
    fault: &'static str,
}

impl<'a, V: Default> Kept<'a, V> {
    fn of(values: &'a mut V, fault: &'static str) -> Self {
        let values = Some(values);
        Kept { values, fault }
    }

    fn values(&mut self) -> &mut V {
        self.values.as_mut().expect(NOT_OVER)
    }

    /// The batch is over.
    fn end(mut self) -> &'a mut V {
        self.values.take().expect(NOT_OVER)
    }
}

impl<V: Default> Drop for Kept<'_, V> {
    fn drop(&mut self) {
        if let Some(values) = &mut self.values
            && told(self.fault)
        {
            **values = V::default();
        }
    }
}

const NOT_OVER: &str = "a batch ends once";

fn untaken() -> Option<TakenMany> {
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

/// The answer of a batch that brought the values behind the first `before`.
fn answered(
    shared: &Shared,
    taken: TakenMany,
    before: usize,
    values: &mut Vec<Parcel>,
) -> TakenMany {
    let Ok(count) = taken else {
        if told("a batch of nothing brings something") {
            values.extend(shared.number());
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
fn unput(values: &mut VecDeque<Parcel>) -> Option<PutMany> {
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

/// The former contents of a batch, where a fault needs them.
struct Had(Option<VecDeque<Parcel>>);

impl Had {
    fn of(values: &VecDeque<Parcel>) -> Had {
        let keeps = told("a batch stays with its sender");
        Had(keeps.then(|| values.iter().filter_map(|v| double(v).take()).collect()))
    }

    fn answered(self, put: PutMany, values: &mut VecDeque<Parcel>) -> PutMany {
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
