//! Properties of limiters, L1 to L4.
//!
//! What a model sees of an acquisition is when it was called and when it returned; the grant lies somewhere
//! between the two. The specification (`harness::spec::limiter`) judges what is sure of all such moments, which holds
//! in every world. Where only one thread runs, and in a world whose time stands still while anybody can run, a return
//! shows the grant itself, and virtual time makes the judgement exact.

#[cfg(test)]
#[path = "../../cli/new/limiter/property.txt"]
#[allow(dead_code, reason = "it has to compile, and nobody owes it")]
mod begun;
pub(super) mod l1_waiter_fifo;
pub(super) mod l1_window;
pub(super) mod l2_one_wake;
pub(super) mod l2_rate;
pub(super) mod l3_waiters;
pub(super) mod l4_quotas;
mod line;

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, Attempt, BlockingLimit, LimitDeadline,
    Limiters, Quota, WeightedLimit,
};
use flowmeter_harness::registry::Contestant;
use flowmeter_harness::spec::limiter::{Grant, Limit, Terms};
use flowmeter_harness::sync::World;

use super::Owed;
use super::form::{ByFuture, ByThread};
use line::Line;

/// Long enough for a thread to wait, short enough for a model of several; an odd number of nanoseconds, which no
/// coarser unit holds.
const PERIOD: Duration = Duration::from_nanos(2_000_003);

/// How a thread of a model acquires.
pub(super) trait Form<L: Limiters>: 'static {
    const NAME: &'static str;
    fn acquire(limiter: &L);
}

impl<L: BlockingLimit> Form<L> for ByThread {
    const NAME: &'static str = "blocking";
    fn acquire(limiter: &L) {
        limiter.acquire();
    }
}

impl<L: AsyncLimit, W: World> Form<L> for ByFuture<W> {
    const NAME: &'static str = "async";
    fn acquire(limiter: &L) {
        W::block_on(limiter.acquire_async());
    }
}

/// What is known of a grant to a call in that world.
fn grant<W: World>(called: u64, returned: u64) -> Grant {
    Grant {
        // Where a return shows the grant, it is not known only to lie somewhere in the call.
        from: if time_stands_still::<W>() {
            returned
        } else {
            called
        },
        until: returned,
        weight: 1,
    }
}

/// Acquires.
fn acquired<L: Limiters, F: Form<L>, W: World>(limiter: &L) -> Grant {
    let called = W::now_nanos();
    F::acquire(limiter);
    grant::<W>(called, W::now_nanos())
}

/// Tries; what it was granted.
fn tried<L: Limiters, W: World>(limiter: &L) -> Option<Grant> {
    let called = W::now_nanos();
    let is_granted = limiter.try_acquire() == Attempt::Granted;
    is_granted.then(|| grant::<W>(called, W::now_nanos()))
}

/// L1's limit, in time that is sure to pass.
fn window<W: World>(permits: u32, period: Duration) -> Limit {
    Limit::Window {
        permits: several(permits),
        period: NonZeroU64::new(surely::<W>(nanos(period))).expect("models take time"),
    }
}

/// L2's limit, in time that is sure to pass.
fn rate<W: World>(permits: u32, period: Duration, burst: u32) -> Limit {
    Limit::Rate {
        permits: several(permits),
        period: NonZeroU64::new(surely::<W>(nanos(period))).expect("models take time"),
        burst: several(burst),
    }
}

/// What somebody claims that says when others are served.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    by_rate: bool,
    first_come: bool,
    passes_on: bool,
}

impl Kept {
    fn of(who: &Contestant) -> Kept {
        Kept {
            by_rate: claims(who, Claim::RateBound),
            first_come: claims(who, Claim::WaiterFifo),
            passes_on: claims(who, Claim::PassesOn),
        }
    }

    /// What is kept to with a quota of so many permits in a period, all of which may be had at once. Real time shows no
    /// more than the burst and what the rate adds, which is more than a window ever holds.
    fn limit<W: World>(self, permits: u32, period: Duration) -> Limit {
        if self.by_rate || !is_virtual::<W>() {
            rate::<W>(permits, period, permits)
        } else {
            window::<W>(permits, period)
        }
    }

    /// Those who wait for that. `at_once`: whether the thread sees each grant at its moment, and each comes as soon as it
    /// can.
    fn line<W: World>(self, permits: u32, at_once: bool) -> Line<W> {
        Line::new(Terms {
            limit: self.limit::<W>(permits, PERIOD),
            first_come: self.first_come,
            at_once,
            passes_on: self.passes_on,
        })
    }
}

fn several(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("models ask for some")
}

/// So many permits in a period, all of which may be had at once: every design has such a quota.
fn limiter<L: Limiters>(permits: u32, period: Duration) -> L {
    let quota = Quota {
        permits: several(permits),
        period,
        burst: several(permits),
    };
    L::with_quota(quota).unwrap_or_else(|error| violated!("L4: {quota:?} was refused: {error:?}"))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("models are short")
}

/// Lets so much time pass: two acquisitions of the only permit in that time.
fn pause<L: Limiters, F: Form<L>>(duration: Duration) {
    let own = limiter::<L>(1, duration);
    F::acquire(&own);
    F::acquire(&own);
}

/// Whether the world's time stands still while anybody can run, for all threads and in every execution.
fn time_stands_still<W: World>() -> bool {
    W::name() == "sim"
}

/// Whether nothing but a timer moves the clock, so that a thread alone sees the moments of its grants.
fn is_virtual<W: World>() -> bool {
    W::name() != "std"
}

/// What is sure to pass on the world's clock while `duration` passes on the limiter's own: in the std world a
/// limiter may have a clock of its own, whose rate is let differ by a thousandth.
fn surely<W: World>(duration: u64) -> u64 {
    if is_virtual::<W>() {
        duration
    } else {
        duration - duration / 1_000
    }
}

fn claims(who: &Contestant, claim: Claim) -> bool {
    who.capabilities.claims.contains(&claim)
}

pub(super) fn limiter_owes<L: Limiters, W: World>(who: &Contestant) -> Owed {
    let mut owed = vec![(&l4_quotas::PROPERTY, l4_quotas::cases::<L>())];
    if claims(who, Claim::WindowBound) {
        owed.push((&l1_window::PROPERTY, l1_window::try_cases::<L, W>()));
    }
    if claims(who, Claim::RateBound) {
        owed.push((&l2_rate::PROPERTY, l2_rate::try_cases::<L, W>()));
    }
    owed
}

pub(super) fn blocking_limit_owes<L: BlockingLimit, W: World>(who: &Contestant) -> Owed {
    let mut owed = form_owes::<L, ByThread, W>(who);
    if claims(who, Claim::WaiterFifo) && time_stands_still::<W>() {
        let cases = l1_waiter_fifo::blocking_cases::<L, W>(Kept::of(who));
        owed.push((&l1_waiter_fifo::PROPERTY, cases));
    }
    if time_stands_still::<W>() {
        let cases = l4_quotas::million_cases::<L, ByThread, W>(Kept::of(who));
        owed.push((&l4_quotas::PROPERTY, cases));
    }
    owed
}

pub(super) fn async_limit_owes<L: AsyncLimit, W: World>(who: &Contestant) -> Owed {
    let mut owed = form_owes::<L, ByFuture<W>, W>(who);
    let dropped = l3_waiters::dropped_cases::<L, W>(Kept::of(who));
    owed.push((&l3_waiters::PROPERTY, dropped));
    if claims(who, Claim::WaiterFifo) {
        let cases = l1_waiter_fifo::async_cases::<L, W>(Kept::of(who));
        owed.push((&l1_waiter_fifo::PROPERTY, cases));
    }
    if claims(who, Claim::WakesOnce) && time_stands_still::<W>() {
        let cases = l2_one_wake::cases::<L, W>(Kept::of(who));
        owed.push((&l2_one_wake::PROPERTY, cases));
    }
    owed
}

fn form_owes<L: Limiters, F: Form<L>, W: World>(who: &Contestant) -> Owed {
    let kept = Kept::of(who);
    let waiting = l3_waiters::cases::<L, F, W>(kept);
    let mut owed = vec![(&l3_waiters::PROPERTY, waiting)];
    if claims(who, Claim::WindowBound) {
        owed.push((&l1_window::PROPERTY, l1_window::cases::<L, F, W>()));
    }
    if claims(who, Claim::RateBound) {
        owed.push((&l2_rate::PROPERTY, l2_rate::cases::<L, F, W>()));
    }
    if is_virtual::<W>() {
        let cases = l4_quotas::drift_cases::<L, F, W>(kept);
        owed.push((&l4_quotas::PROPERTY, cases));
    }
    owed
}

pub(super) fn limit_deadline_owes<L: LimitDeadline, W: World>(who: &Contestant) -> Owed {
    let acquire_until = |limiter: &L, deadline| limiter.acquire_until(deadline);
    let mut cases = l3_waiters::deadline_cases::<L, W>(Kept::of(who), acquire_until);
    cases.extend(l3_waiters::stranded_cases::<L, W>(acquire_until));
    vec![(&l3_waiters::PROPERTY, cases)]
}

pub(super) fn async_limit_deadline_owes<L: AsyncLimitDeadline, W: World>(who: &Contestant) -> Owed {
    let acquire_until = |limiter: &L, deadline| W::block_on(limiter.acquire_until_async(deadline));
    let mut cases = l3_waiters::deadline_cases::<L, W>(Kept::of(who), acquire_until);
    // Loom has no room for two tasks, their timers and a third acquisition.
    if W::name() != "loom" {
        cases.extend(l3_waiters::stranded_cases::<L, W>(acquire_until));
    }
    vec![(&l3_waiters::PROPERTY, cases)]
}

pub(super) fn weighted_limit_owes<L: WeightedLimit, W: World>(who: &Contestant) -> Owed {
    let cases = l3_waiters::weight_cases::<L, W>(Kept::of(who), "blocking", |limiter, weight| {
        limiter.acquire_weight(weight)
    });
    vec![(&l3_waiters::PROPERTY, cases)]
}

pub(super) fn async_weighted_limit_owes<L: AsyncWeightedLimit, W: World>(who: &Contestant) -> Owed {
    let kept = Kept::of(who);
    let mut cases = l3_waiters::weight_cases::<L, W>(kept, "async", |limiter, weight| {
        W::block_on(limiter.acquire_weight_async(weight))
    });
    cases.extend(l3_waiters::dropped_weight_cases::<L, W>(kept));
    vec![(&l3_waiters::PROPERTY, cases)]
}
