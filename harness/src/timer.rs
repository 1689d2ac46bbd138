//! Timers: callbacks and futures that complete at a deadline and never before.

use std::future::Future;
use std::time::Duration;

use crate::channel::{Channels, Message};
use crate::sync::Deadline;

/// When a timer was due and when the design noticed. Lateness splits into due -> claimed -> called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// When it was due: the last requested deadline, or the moment chosen within a window.
    pub due: Deadline,
    /// When the timer thread noticed that the timer, or its round, was due, in nanoseconds of the world's clock. `None`
    /// where the design does not say.
    pub claimed_nanos: Option<u64>,
}

/// A design that calls back at deadlines.
///
/// Dropping it drops all armed timers without calling them, and then joins its threads. A drop inside one of its own
/// callbacks cannot join that thread, which ends by itself (T8).
pub trait Timers: Sized + Send + Sync + 'static {
    /// Names one armed timer.
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

/// Timers that can be cancelled (T2).
pub trait Cancel: Timers {
    /// `true`: it will not fire. `false`: it had fired, was cancelled before, or belongs to another service.
    fn cancel(&self, handle: &Self::Handle) -> bool;
}

/// Timers that can be moved to another deadline with the same handle (T3).
pub trait Reset: Timers {
    /// `true`: it now fires at `deadline` instead. `false`: it had fired, was cancelled before, or belongs to another
    /// service.
    fn reset(&self, handle: &Self::Handle, deadline: Deadline) -> bool;
}

/// Timers that may be delayed within a window, so that several share a wake-up. Each keeps its own handle (T7).
pub trait Coalesce: Cancel {
    /// Calls `then` once, at `deadline` or up to `window` later. The due time that it receives is the moment that was
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

    /// Ready at `deadline` or later; dropping the future cancels the timer.
    ///
    /// After its service is dropped, it is also ready where the design claims
    /// [`Claim::AnswersSleepers`](crate::caps::Claim::AnswersSleepers) (T8). Elsewhere a poll does what the design
    /// does: it may panic, as tokio's does.
    fn sleep_until(&self, deadline: Deadline) -> impl Future<Output = ()> + Send + 'static;
}

/// Timers that threads can wait for.
pub trait BlockingSleep: Sized + Send + Sync + 'static {
    /// A timer service of its own.
    fn start() -> Self;

    /// Blocks the calling thread until `deadline` or later.
    fn sleep_until(&self, deadline: Deadline);
}

/// core.async's `timeout`: a channel that closes after a delay, for use in an alts.
///
/// A design may give one channel to several callers (T7). Closing it ([`Channels::close_rx`]) then ends the timeout for
/// all of them. core.async has this hazard, and the properties show it.
pub trait Timeouts<C: Channels>: Sized + Send + Sync + 'static {
    /// A timer service of its own.
    fn start() -> Self;

    /// A channel without values that closes after `delay`, or when the service is dropped (T8). `Duration::MAX` never
    /// elapses.
    ///
    /// Its message type is that of the caller's other channels, because in an [`Alts`](crate::channel::Alts) all
    /// clauses have one type.
    fn timeout<T: Message>(&self, delay: Duration) -> C::Rx<T>;
}
