//! Timers: something that calls, or answers, at a deadline and never before.

use std::future::Future;
use std::time::Duration;

use crate::channel::{Channels, Message};
use crate::sync::Deadline;

/// When a timer was due, and when the design noticed: lateness splits into due -> claimed -> called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// When it was due: the deadline that was asked for last, or the moment that was chosen within a window.
    pub due: Deadline,
    /// When the timer thread noticed that it, or the round that it is called in, was due, in nanoseconds of the world's
    /// clock; `None` where the design does not say.
    pub claimed_nanos: Option<u64>,
}

/// A design that calls back at deadlines.
///
/// Dropping it drops the timers still armed uncalled, and then waits for its threads; in one of its own callbacks,
/// where there is nobody to wait for, its thread ends by itself (T8).
pub trait Timers: Sized + Send + Sync + 'static {
    /// What names one armed timer.
    type Handle: Send + 'static;

    /// A timer service of its own.
    fn start() -> Self;

    /// Has `then` called once, at `deadline` or later, never before (T1, T2).
    fn schedule(
        &self,
        deadline: Deadline,
        then: impl FnOnce(Fired) + Send + 'static,
    ) -> Self::Handle;
}

/// Timers that can be called off (T2).
pub trait Cancel: Timers {
    /// `true`: it will not fire. `false`: it had fired, was cancelled before, or is another service's.
    fn cancel(&self, handle: &Self::Handle) -> bool;
}

/// Timers whose deadline can be moved without a new handle (T3).
pub trait Reset: Timers {
    /// `true`: it now fires at `deadline` instead. `false`: it had fired, was cancelled before, or is another
    /// service's.
    fn reset(&self, handle: &Self::Handle, deadline: Deadline) -> bool;
}

/// Timers that may wait for each other, so that several share a wake-up and yet each is its caller's own (T7).
pub trait Coalesce: Cancel {
    /// Has `then` called once, at `deadline` or up to `window` later; what it is told as due is the moment that was
    /// chosen.
    fn schedule_within(
        &self,
        deadline: Deadline,
        window: Duration,
        then: impl FnOnce(Fired) + Send + 'static,
    ) -> Self::Handle;
}

/// Timers that futures can wait for.
pub trait Sleep: Sized + Send + Sync + 'static {
    /// A timer service of its own, or a handle to the running executor's.
    fn start() -> Self;

    /// Ready at `deadline` or later; dropping the future calls the timer off.
    ///
    /// Once its service is dropped it is ready too where [`Claim::AnswersSleepers`](crate::caps::Claim::AnswersSleepers)
    /// is made (T8). Elsewhere a poll then does what the design does: it may panic, as tokio's.
    fn sleep_until(&self, deadline: Deadline) -> impl Future<Output = ()> + Send + 'static;
}

/// Timers that threads can wait for.
pub trait BlockingSleep: Sized + Send + Sync + 'static {
    /// A timer service of its own.
    fn start() -> Self;

    /// Holds up the calling thread until `deadline` or later.
    fn sleep_until(&self, deadline: Deadline);
}

/// core.async's `timeout`: a channel that closes after a while, to stand in an alts.
///
/// A design may give one channel to several callers (T7). Whoever closes it then
/// ([`Channels::close_rx`]) ends everybody's timeout: core.async's hazard, which the properties show.
pub trait Timeouts<C: Channels>: Sized + Send + Sync + 'static {
    /// A timer service of its own.
    fn start() -> Self;

    /// A channel without values that closes `delay` from now, `Duration::MAX` never; and with the service
    /// (T8).
    ///
    /// It carries whatever type the caller's other channels carry, for in an [`Alts`](crate::channel::Alts) all clauses
    /// are of one type.
    fn timeout<T: Message>(&self, delay: Duration) -> C::Rx<T>;
}
