//! The faults that the properties of limiters must find. Semaphores of ours get another quota than they claim, keep
//! unwanted permits, or claim an order that they do not have.

use std::num::NonZeroU32;
use std::time::Duration;

use flowmeter_harness::caps::Claim::{self, PassesOn, RateBound, WaiterFifo, WindowBound};
use flowmeter_harness::limiter::{
    AsyncLimit, Attempt, BlockingLimit, LimitDeadline, LimitError, Limiters, Quota, WeightedLimit,
};
use flowmeter_harness::registry::{Registry, Visitor, mutant};
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_impls::peers::governor::Governor;
use flowmeter_suites::isolation::Model;
use flowmeter_suites::properties::{Checks, judge};

use super::{judged, plan};

/// A limiter with another quota than requested, or another fault; `FAULT` selects it.
struct Misled<L, const FAULT: u8>(L);

const NONE: u8 = 0;
/// One permit more.
const ONE_OVER: u8 = 1;
/// A permit is back a nanosecond before its period is over.
const EARLY: u8 = 2;
/// An acquisition that timed out still gets its permit, later.
const KEPT: u8 = 3;

impl<L: Limiters, const FAULT: u8> Limiters for Misled<L, FAULT> {
    fn with_quota(mut quota: Quota) -> Result<Self, LimitError> {
        match FAULT {
            ONE_OVER => {
                quota.permits = quota.permits.saturating_add(1);
                quota.burst = quota.permits;
            }
            EARLY => quota.period = quota.period.saturating_sub(Duration::from_nanos(1)),
            _ => {}
        }
        L::with_quota(quota).map(Misled)
    }

    fn try_acquire(&self) -> Attempt {
        self.0.try_acquire()
    }
}

impl<L: AsyncLimit, const FAULT: u8> AsyncLimit for Misled<L, FAULT> {
    fn acquire_async(&self) -> impl Future<Output = ()> + Send {
        self.0.acquire_async()
    }
}

impl<L: BlockingLimit, const FAULT: u8> BlockingLimit for Misled<L, FAULT> {
    fn acquire(&self) {
        self.0.acquire();
    }
}

impl<L: LimitDeadline, const FAULT: u8> LimitDeadline for Misled<L, FAULT> {
    fn acquire_until(&self, deadline: Deadline) -> bool {
        let granted = self.0.acquire_until(deadline);
        if !granted && FAULT == KEPT {
            self.0.acquire_until(Deadline::NEVER);
        }
        granted
    }
}

impl<L: WeightedLimit, const FAULT: u8> WeightedLimit for Misled<L, FAULT> {
    fn acquire_weight(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        self.0.acquire_weight(weight)
    }
}

/// The semaphore of one world, correct and with a fault.
struct Field<L>(std::marker::PhantomData<fn() -> L>);

impl<L> Clone for Field<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Field<L> {}

fn field<L>() -> Field<L> {
    Field(std::marker::PhantomData)
}

impl<L: BlockingLimit + LimitDeadline + WeightedLimit> Registry for Field<L> {
    fn limiters<V: Visitor>(self, visitor: &mut V) {
        const ALONE: &[Claim] = &[WindowBound, PassesOn];
        enter::<Misled<L, NONE>, V>(visitor, "sound", ALONE);
        enter::<Misled<L, ONE_OVER>, V>(visitor, "one-over", ALONE);
        enter::<Misled<L, EARLY>, V>(visitor, "early", ALONE);
        enter::<Misled<L, KEPT>, V>(visitor, "kept", ALONE);
        enter::<L, V>(visitor, "in-order", &[WindowBound, WaiterFifo, PassesOn]);
    }
}

fn enter<L: BlockingLimit + LimitDeadline + WeightedLimit, V: Visitor>(
    visitor: &mut V,
    name: &'static str,
    claims: &'static [Claim],
) {
    mutant::<L, _>(visitor, name)
        .limiter()
        .blocking_limit()
        .limit_deadline()
        .weighted_limit()
        .claims(claims)
        .enter();
}

/// A limiter by rate, correct and with a fault.
#[derive(Clone, Copy)]
struct ByRate;

impl Registry for ByRate {
    fn limiters<V: Visitor>(self, visitor: &mut V) {
        mutant::<Misled<Governor, NONE>, _>(visitor, "sound")
            .limiter()
            .async_limit()
            .claims(&[RateBound])
            .enter();
        mutant::<Misled<Governor, ONE_OVER>, _>(visitor, "one-over")
            .limiter()
            .async_limit()
            .claims(&[RateBound])
            .enter();
    }
}

fn judge_one<W: World>(
    registry: impl Registry,
    name: &str,
    property: &str,
    says: &str,
) -> Result<String, String> {
    let checks = Checks::of::<W>(registry);
    let mut cells = checks.cells();
    let cell =
        cells.find(|cell| cell.implementation.name == name && cell.property.name == property);
    let cell = cell.expect("each implementation has a cell for each property of its kind");
    judged(judge::<W>(&cell, &plan::<W>()), says)
}

fn window<W: World, L>(name: &'static str, says: &'static str) -> Model
where
    L: BlockingLimit + LimitDeadline + WeightedLimit,
{
    Model::new(
        format!("{}::semaphore::l1-window::{name}", W::NAME),
        move || judge_one::<W>(field::<L>(), name, "l1-window", says),
    )
}

fn in_sim<L>(name: &'static str, property: &'static str, says: &'static str) -> Model
where
    L: BlockingLimit + LimitDeadline + WeightedLimit,
{
    let what = if says.is_empty() { "sound" } else { "faulty" };
    Model::new(
        format!("sim::semaphore::{property}::{name}::{what}"),
        move || judge_one::<Sim>(field::<L>(), name, property, says),
    )
}

fn rate(name: &'static str, says: &'static str) -> Model {
    Model::new(format!("std::governor::l2-rate::{name}"), move || {
        judge_one::<Std>(ByRate, name, "l2-rate", says)
    })
}

type InStd = flowmeter_impls::limiter::semaphore::FairSemaphore;
type InLoom = flowmeter_impls_loom::limiter::semaphore::FairSemaphore;
type InShuttle = flowmeter_impls_shuttle::limiter::semaphore::FairSemaphore;

type UnfairInShuttle = flowmeter_impls_shuttle::limiter::semaphore::UnfairSemaphore;

/// For every world; a nanosecond shows in virtual time only.
pub fn models() -> Vec<Model> {
    vec![
        window::<Std, InStd>("sound", ""),
        window::<Loom, InLoom>("sound", ""),
        window::<Shuttle, InShuttle>("sound", ""),
        window::<Std, InStd>("one-over", "L1: "),
        window::<Loom, InLoom>("one-over", "L1: "),
        window::<Shuttle, InShuttle>("one-over", "L1: "),
        window::<Loom, InLoom>("early", "L1: "),
        window::<Shuttle, InShuttle>("early", "L1: "),
        in_sim::<InShuttle>("sound", "l3-waiters", ""),
        in_sim::<InShuttle>(
            "kept",
            "l3-waiters",
            "a waiter that timed out kept its permit",
        ),
        in_sim::<InShuttle>("in-order", "l1-waiter-fifo", ""),
        in_sim::<UnfairInShuttle>("in-order", "l1-waiter-fifo", "L1: a try overtook"),
        rate("sound", ""),
        rate("one-over", "L2: "),
    ]
}
