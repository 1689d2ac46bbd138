//! Try: what an attempt costs when nobody else attempts, granted or not.
//!
//! Attempts come faster than permits, so most are refused; the rate is the same for all, and so is their share.

use std::hint::black_box;
use std::marker::PhantomData;

use flowmeter_harness::limiter::{Attempt, Limiters};
use flowmeter_harness::measure::StageError;
use flowmeter_harness::record::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::Rate;
use crate::scenario::{Facts, Form};
use crate::workloads::ledger::disproved;
use crate::workloads::solo::Solo;

/// At which rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What is allowed.
    pub rate: Rate,
}

impl Params {
    /// What records say of it.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Native,
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: "limiter-try".to_owned(),
                rate: Some(self.rate.per_second()),
                ..Axes::default()
            },
        }
    }
}

/// A limiter that one thread asks.
pub struct Try<L> {
    rate: Rate,
    limiter: L,
    family: PhantomData<fn(L)>,
}

impl<L: Limiters> Try<L> {
    /// A new limiter.
    ///
    /// # Errors
    /// Where the design refuses the rate.
    pub fn new(params: Params) -> Result<Self, StageError> {
        Ok(Try {
            rate: params.rate,
            limiter: params.rate.limiter()?,
            family: PhantomData,
        })
    }
}

impl<L: Limiters> Solo for Try<L> {
    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        for _ in 0..turns {
            black_box(self.limiter.try_acquire());
        }
        Ok(())
    }

    /// Of a fresh limiter whose period is an hour exactly the permits are granted.
    fn prove(&mut self) -> Result<(), StageError> {
        let permits = self.rate.permits.get().min(1_000);
        let hourly = Rate {
            permits: crate::scenario::Within::try_from(permits as i64).unwrap_or_default(),
            period_micros: crate::scenario::Within::try_from(3_600_000_000).unwrap_or_default(),
        };
        let limiter: L = hourly.limiter()?;
        let granted = (0..2 * permits)
            .filter(|_| limiter.try_acquire() == Attempt::Granted)
            .count() as u64;
        if granted == permits {
            Ok(())
        } else {
            Err(disproved(format!(
                "{granted} of {permits} permits of an hour were granted at once"
            )))
        }
    }
}
