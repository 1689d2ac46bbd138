//! At once: the cost of acquiring several permits that are free, and of acquiring until a deadline that has passed.
//!
//! Neither waits, so the forms differ only in the cost of asking. A future that has to be polled twice is a failure.

use std::future::Future;
use std::hint::black_box;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::limiter::{
    AsyncLimitDeadline, AsyncWeightedLimit, Attempt, LimitDeadline, LimitError, Limiters,
    WeightedLimit,
};
use flowmeter_harness::sync::Deadline;
use flowmeter_measure::StageError;
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::{LimitForm, Rate};
use crate::scenario::{Facts, Form, Within};
use crate::workloads::ledger::disproved;
use crate::workloads::refused;
use crate::workloads::solo::{Solo, nothing};

/// A million permits a millisecond: never used up.
const PLENTY: Rate = Rate::of(1_000_000, 1_000);
/// One an hour: used up after the first.
const NEXT_TO_NOTHING: Rate = Rate::of(1, 3_600_000_000);

/// An acquisition of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weighted {
    /// How permits are waited for.
    pub form: LimitForm,
    /// Permits of an acquisition. With more of them, demand could exceed the rate.
    pub weight: Within<1, 4>,
}

/// An acquisition with a deadline that has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Late {
    /// How permits are waited for.
    pub form: LimitForm,
}

fn facts(form: LimitForm, what: &str) -> Facts {
    Facts {
        form: form.into(),
        measure: Measure::Cost,
        unit: "ns",
        axes: Axes {
            family: format!("{what}/{}", Form::from(form).name()),
            ..Axes::default()
        },
    }
}

impl Weighted {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        facts(self.form, "limiter-weighted")
    }

    /// In the type of the limiters' traits.
    fn weight(self) -> NonZeroU32 {
        NonZeroU32::new(self.weight.get() as u32).unwrap_or(NonZeroU32::MIN)
    }
}

impl Late {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        facts(self.form, "limiter-late")
    }
}

/// The result of a future that must not have to wait.
fn now<T>(future: impl Future<Output = T>) -> Result<T, StageError> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Ok(answer),
        Poll::Pending => Err(disproved("a future waits where it need not")),
    }
}

/// A way to acquire several permits, as a type.
pub trait Several<L>: 'static {
    /// Acquires so many permits, which are free.
    ///
    /// # Errors
    /// Where the answer needs waiting.
    fn acquire(limiter: &L, weight: NonZeroU32) -> Result<Result<(), LimitError>, StageError>;
}

/// A way to acquire until a deadline, as a type.
pub trait Until<L>: 'static {
    /// Acquires until that moment, which has passed.
    ///
    /// # Errors
    /// Where the answer needs waiting.
    fn acquire(limiter: &L, deadline: Deadline) -> Result<bool, StageError>;
}

/// By blocking the thread.
pub struct ByThread;

/// By a future.
pub struct ByFuture;

impl<L: WeightedLimit> Several<L> for ByThread {
    #[inline]
    fn acquire(limiter: &L, weight: NonZeroU32) -> Result<Result<(), LimitError>, StageError> {
        Ok(limiter.acquire_weight(weight))
    }
}

impl<L: AsyncWeightedLimit> Several<L> for ByFuture {
    #[inline]
    fn acquire(limiter: &L, weight: NonZeroU32) -> Result<Result<(), LimitError>, StageError> {
        now(limiter.acquire_weight_async(weight))
    }
}

impl<L: LimitDeadline> Until<L> for ByThread {
    #[inline]
    fn acquire(limiter: &L, deadline: Deadline) -> Result<bool, StageError> {
        Ok(limiter.acquire_until(deadline))
    }
}

impl<L: AsyncLimitDeadline> Until<L> for ByFuture {
    #[inline]
    fn acquire(limiter: &L, deadline: Deadline) -> Result<bool, StageError> {
        now(limiter.acquire_until_async(deadline))
    }
}

/// A limiter at which one thread acquires several permits.
pub struct Heavy<L, F> {
    limiter: L,
    weight: NonZeroU32,
    form: PhantomData<fn(F)>,
}

impl<L: Limiters, F: Several<L>> Heavy<L, F> {
    /// A new limiter.
    ///
    /// # Errors
    /// Where the design refuses the rate.
    pub fn new(params: Weighted) -> Result<Self, StageError> {
        Ok(Heavy {
            limiter: PLENTY.limiter()?,
            weight: params.weight(),
            form: PhantomData,
        })
    }
}

impl<L: Limiters, F: Several<L>> Solo for Heavy<L, F> {
    fn bare(&mut self, turns: u64) {
        nothing(turns);
    }

    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        for _ in 0..turns {
            if black_box(F::acquire(&self.limiter, self.weight)?).is_err() {
                return Err(disproved("permits within the burst were refused"));
            }
        }
        Ok(())
    }
}

/// A limiter at which one thread acquires too late.
pub struct TooLate<L, F> {
    limiter: L,
    form: PhantomData<fn(F)>,
}

impl<L: Limiters, F: Until<L>> TooLate<L, F> {
    /// A new limiter with its permit taken.
    ///
    /// # Errors
    /// Where the design refuses the rate, or even the first permit.
    pub fn new(_params: Late) -> Result<Self, StageError> {
        let limiter: L = NEXT_TO_NOTHING.limiter()?;
        if limiter.try_acquire() != Attempt::Granted {
            return Err(refused("the one permit of an hour"));
        }
        Ok(TooLate {
            limiter,
            form: PhantomData,
        })
    }
}

impl<L: Limiters, F: Until<L>> Solo for TooLate<L, F> {
    fn bare(&mut self, turns: u64) {
        nothing(turns);
    }

    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        for _ in 0..turns {
            if black_box(F::acquire(&self.limiter, Deadline::from_nanos(0))?) {
                return Err(disproved(
                    "a second permit was granted within an hour of the first",
                ));
            }
        }
        Ok(())
    }
}
