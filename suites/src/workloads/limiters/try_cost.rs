//! Try: what an attempt costs when nobody else attempts, and the answer is always the same one.
//!
//! Granting and refusing are different work, so a scenario is of one of them, and every answer is checked: of a quota
//! that is used up and comes back in an hour, or of one that can never be used up so fast.

use std::hint::black_box;

use flowmeter_harness::limiter::{Attempt, Limiters};
use flowmeter_harness::measure::StageError;
use flowmeter_harness::record::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::Rate;
use crate::scenario::{Facts, Form};
use crate::workloads::ledger::disproved;
use crate::workloads::refused;
use crate::workloads::solo::Solo;

/// What every attempt is answered.
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

/// Which answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What every attempt is answered.
    pub always: Always,
}

impl Params {
    /// What records say of it.
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

/// A limiter that one thread asks.
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
