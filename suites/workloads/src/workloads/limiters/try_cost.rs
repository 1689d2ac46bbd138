//! Try: the cost of a try without contention, always with the same answer.
//!
//! Granting and refusing are different work, so a scenario covers one of them, and every answer is checked. The quota
//! is either used up and comes back in an hour, or can never be used up so fast.

use std::hint::black_box;

use flowmeter_harness::limiter::{Attempt, Limiters};
use flowmeter_measure::StageError;
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::Rate;
use crate::scenario::{Facts, Form};
use crate::workloads::ledger::disproved;
use crate::workloads::refused;
use crate::workloads::solo::{Solo, nothing};

/// The answer to every try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Always {
    /// Yes: a million permits a millisecond.
    Granted,
    /// No: one permit an hour, which is taken.
    Refused,
}

impl Always {
    fn rate(self) -> Rate {
        match self {
            Always::Granted => Rate::of(1_000_000, 1_000),
            Always::Refused => Rate::of(1, 3_600_000_000),
        }
    }
}

/// The expected answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The answer to every try.
    pub always: Always,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Never,
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: match self.always {
                    Always::Granted => "limiter-try/granted".to_owned(),
                    Always::Refused => "limiter-try/refused".to_owned(),
                },
                ..Axes::default()
            },
        }
    }
}

/// A limiter that one thread tries.
pub struct Try<L> {
    always: Always,
    limiter: L,
}

impl<L: Limiters> Try<L> {
    /// A new limiter.
    ///
    /// # Errors
    /// Where the design refuses the rate, or even the first permit.
    pub fn new(params: Params) -> Result<Self, StageError> {
        let limiter: L = params.always.rate().limiter()?;
        if params.always == Always::Refused && limiter.try_acquire() != Attempt::Granted {
            return Err(refused("the one permit of an hour"));
        }
        Ok(Try {
            always: params.always,
            limiter,
        })
    }
}

impl<L: Limiters> Solo for Try<L> {
    fn bare(&mut self, turns: u64) {
        nothing(turns);
    }

    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        let expected = self.always == Always::Granted;
        for _ in 0..turns {
            let granted = black_box(self.limiter.try_acquire()) == Attempt::Granted;
            if granted != expected {
                return Err(disproved(match granted {
                    true => "a second permit was granted within an hour of the first",
                    false => "a permit was refused of a quota that was not used up",
                }));
            }
        }
        Ok(())
    }
}
