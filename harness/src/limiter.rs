//! Limiters: a bound on the acquisitions in any window of time.

use std::future::Future;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::sync::Deadline;

/// At most `permits` acquisitions in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Acquisitions in a period.
    pub permits: NonZeroU32,
    /// Length of the period.
    pub period: Duration,
    /// Permits available at once after a pause; equal to `permits` for a window limiter.
    pub burst: NonZeroU32,
}

/// Why a limiter refuses a quota or a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitError {
    /// The period is zero, the rate does not fit the clock, or the design cannot hold that burst.
    ImpossibleRate,
    /// The request exceeds what the burst can ever hold.
    AboveBurst,
}

/// The result of an attempt to take a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Acquired.
    Granted,
    /// Not granted. No attempt can succeed before that moment, where the design knows it.
    NotBefore(Option<Deadline>),
}

/// A design that grants permits.
///
/// A design that sleeps takes its timer as a type parameter and starts it, so a limiter is made from its quota alone.
pub trait Limiters: Sized + Send + Sync + 'static {
    /// A limiter for that quota.
    ///
    /// # Errors
    /// [`LimitError::ImpossibleRate`].
    fn with_quota(quota: Quota) -> Result<Self, LimitError>;

    /// Takes a permit if one is free.
    fn try_acquire(&self) -> Attempt;
}

/// Waits for a permit by blocking the thread.
pub trait BlockingLimit: Limiters {
    /// Waits for a permit.
    fn acquire(&self);
}

/// Waits for a permit until a deadline by blocking the thread.
pub trait LimitDeadline: Limiters {
    /// Waits for a permit until `deadline`; returns whether it was granted.
    fn acquire_until(&self, deadline: Deadline) -> bool;
}

/// Waits for a permit in a future; dropping it gives up the place in the queue (L3).
pub trait AsyncLimit: Limiters {
    /// Ready with a permit.
    fn acquire_async(&self) -> impl Future<Output = ()> + Send;
}

/// [`LimitDeadline`] in a future; dropping it gives up the place in the queue (L3).
pub trait AsyncLimitDeadline: Limiters {
    /// Ready with whether a permit was granted. One that was free by `deadline` is, however late the future is polled.
    fn acquire_until_async(&self, deadline: Deadline) -> impl Future<Output = bool> + Send;
}

/// Acquisitions that weigh several permits, by blocking the thread.
pub trait WeightedLimit: Limiters {
    /// Waits for `weight` permits at once.
    ///
    /// # Errors
    /// [`LimitError::AboveBurst`], at once.
    fn acquire_weight(&self, weight: NonZeroU32) -> Result<(), LimitError>;
}

/// [`WeightedLimit`] in a future; dropping it gives up the place in the queue (L3).
pub trait AsyncWeightedLimit: Limiters {
    /// Ready with `weight` permits at once.
    ///
    /// # Errors
    /// [`LimitError::AboveBurst`], at the first poll.
    fn acquire_weight_async(
        &self,
        weight: NonZeroU32,
    ) -> impl Future<Output = Result<(), LimitError>> + Send;
}
