//! Uncontended: one thread puts a value and takes it again.

use std::hint::black_box;

use flowmeter_harness::channel::Blocking;
use flowmeter_measure::StageError;
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::ledger::miscounted;
use super::solo::Solo;
use super::stream;
use super::{open, refused};
use crate::scenario::{Capacity, Facts, Form, Room};

/// The room in the buffer; at most one value is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Room in the buffer.
    pub capacity: Capacity,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Blocking,
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: "uncontended/blocking".to_owned(),
                capacity: Some(self.capacity.count()),
                message_bytes: Some(8),
                ..Axes::default()
            },
        }
    }
}

/// A channel of which one thread has both halves.
pub struct Uncontended<C: Blocking> {
    capacity: Capacity,
    tx: C::Tx<u64>,
    rx: C::Rx<u64>,
    next: u64,
}

impl<C: Blocking> Uncontended<C> {
    /// A new channel.
    ///
    /// # Errors
    /// Where the family has no fixed buffer.
    pub fn new(params: Params) -> Result<Self, StageError> {
        let capacity = params.capacity;
        let (tx, rx) = open::<C, u64>(capacity.buffer())?;
        Ok(Uncontended {
            capacity,
            tx,
            rx,
            next: 0,
        })
    }
}

/// Puts and takes `next`, `turns` times.
///
/// # Errors
/// When another value comes out, or the channel says it is closed.
pub fn put_take<C: Blocking>(
    tx: &mut C::Tx<u64>,
    rx: &mut C::Rx<u64>,
    next: &mut u64,
    turns: u64,
) -> Result<(), StageError> {
    for _ in 0..turns {
        let value = *next;
        C::put(tx, black_box(value)).map_err(|_| refused("a put on an open channel"))?;
        let came = C::take(rx).map_err(|_| refused("a take from an open channel"))?;
        if came != value {
            return Err(miscounted(format!("{value} was put and {came} was taken")));
        }
        *next += 1;
    }
    Ok(())
}

/// The same turns with no channel in between.
pub fn bare_turns(next: &mut u64, turns: u64) {
    for _ in 0..turns {
        let value = *next;
        if black_box(black_box(value)) == value {
            *next += 1;
        }
    }
}

impl<C: Blocking> Solo for Uncontended<C> {
    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        put_take::<C>(&mut self.tx, &mut self.rx, &mut self.next, turns)
    }

    fn bare(&mut self, turns: u64) {
        bare_turns(&mut self.next, turns);
    }

    fn prove(&mut self) -> Result<(), StageError> {
        stream::prove_pair::<C>(Room::Fixed(self.capacity))
    }
}
