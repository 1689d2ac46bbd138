//! Create: a channel is opened and dropped without use.

use std::hint::black_box;
use std::marker::PhantomData;

use flowmeter_harness::channel::Blocking;
use flowmeter_measure::StageError;
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::open;
use super::solo::{Solo, nothing};
use super::stream;
use crate::scenario::{Facts, Form, Room};

/// The channel to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The buffer.
    pub buffer: Room,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Blocking,
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: "create".to_owned(),
                capacity: self.buffer.capacity(),
                unbounded: self.buffer == Room::Unbounded,
                message_bytes: Some(8),
                ..Axes::default()
            },
        }
    }
}

/// Opens channels and drops them.
pub struct Create<C> {
    buffer: Room,
    family: PhantomData<fn(C)>,
}

impl<C: Blocking> Create<C> {
    /// With those parameters.
    pub fn new(params: Params) -> Self {
        Create {
            buffer: params.buffer,
            family: PhantomData,
        }
    }
}

impl<C: Blocking> Solo for Create<C> {
    fn bare(&mut self, turns: u64) {
        nothing(turns);
    }

    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        for _ in 0..turns {
            black_box(open::<C, u64>(black_box(self.buffer.buffer()))?);
        }
        Ok(())
    }

    fn prove(&mut self) -> Result<(), StageError> {
        stream::prove_pair::<C>(self.buffer)
    }
}
