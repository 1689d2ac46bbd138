//! Virtual time: it stands still until a timer fires, and then jumps to that timer's deadline.

use ::std::sync::atomic::Ordering;
use ::std::time::Duration;

use super::super::cost::allocations::apart;
use super::super::{Deadline, trace};
use super::census::{self, Timer};

/// Nanoseconds since the execution began. Other threads may see a firing later than it happened, as with any relaxed
/// read.
#[inline]
#[track_caller]
pub fn now_nanos() -> u64 {
    let _apart = apart();
    census::with(census::Census::clock).load()
}

/// As [`now_nanos`], but late by what [`World::lag`](super::super::World::lag) set. So a reader of both clocks sees time
/// go back.
#[inline]
#[track_caller]
pub fn brisk_nanos() -> u64 {
    let _apart = apart();
    let (clock, lag) = census::with(|census| (census.clock(), census.lag));
    clock.load().saturating_sub(lag)
}

/// Sets how far the brisk clock is behind, for the rest of the execution.
pub fn lag(nanos: u64) {
    census::with(|census| census.lag = nanos);
}

/// The moment `delay` from now; what does not fit is [`Deadline::NEVER`].
#[inline]
#[track_caller]
pub fn after(delay: Duration) -> Deadline {
    Deadline::after(now_nanos(), delay)
}

/// Whether the moment has come.
#[inline]
#[track_caller]
pub fn has_passed(deadline: Deadline) -> bool {
    deadline != Deadline::NEVER && now_nanos() >= deadline.as_nanos()
}

/// The time left until then: zero if it has passed, `None` if it never comes.
#[inline]
#[track_caller]
pub fn left(deadline: Deadline) -> Option<Duration> {
    (deadline != Deadline::NEVER)
        .then(|| Duration::from_nanos(deadline.as_nanos().saturating_sub(now_nanos())))
}

/// Announces work to the helper. Call it before leaving the work, which may be newer than everything the helper has
/// seen.
pub fn order() {
    let orders = census::with(|census| census.orders.clone());
    orders.swap(0, Ordering::Release);
}

/// The helper's side of [`order`].
pub fn take_orders() {
    let orders = census::with(|census| census.orders.clone());
    orders.swap(0, Ordering::Acquire);
}

/// Fires the timer if it is still the next one when the checker schedules this.
pub fn fire(timer: &Timer) {
    take_orders();
    timer.gate.touch();
    let Some(clock) =
        census::with(|census| census.take_if_next(timer).then(|| census.clock.clone()))
    else {
        return;
    };
    trace::step(|| format!("the time is {}", timer.deadline), None);
    // Only the helper writes the clock, so the read sees the last write.
    if clock.load() < timer.deadline.as_nanos() {
        clock.store(timer.deadline.as_nanos());
    }
    timer.seat.rouse();
}
