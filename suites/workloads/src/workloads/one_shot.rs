//! One-shot: a channel is opened for a single value, used once, and dropped.

use std::hint::black_box;
use std::marker::PhantomData;

use flowmeter_harness::channel::Blocking;
use flowmeter_measure::StageError;
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::open;
use super::solo::Solo;
use super::stream;
use super::uncontended::{bare_turns, put_take};
use crate::scenario::{Capacity, Facts, Form, Room};

/// The channel to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Room in the buffer, of which one place is used.
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
                family: "one-shot".to_owned(),
                capacity: Some(self.capacity.count()),
                message_bytes: Some(8),
                ..Axes::default()
            },
        }
    }
}

/// Uses channels once.
pub struct OneShot<C> {
    capacity: Capacity,
    next: u64,
    family: PhantomData<fn(C)>,
}

impl<C: Blocking> OneShot<C> {
    /// With those parameters.
    pub fn new(params: Params) -> Self {
        OneShot {
            capacity: params.capacity,
            next: 0,
            family: PhantomData,
        }
    }
}

impl<C: Blocking> Solo for OneShot<C> {
    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        for _ in 0..turns {
            let (mut tx, mut rx) = open::<C, u64>(black_box(self.capacity.buffer()))?;
            put_take::<C>(&mut tx, &mut rx, &mut self.next, 1)?;
        }
        Ok(())
    }

    fn bare(&mut self, turns: u64) {
        bare_turns(&mut self.next, turns);
    }

    fn prove(&mut self) -> Result<(), StageError> {
        stream::prove_pair::<C>(Room::Fixed(self.capacity))
    }
}
