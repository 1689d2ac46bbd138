//! What the properties of limiters must find: semaphores of ours that are given another quota than they
//! promise to keep.

use std::num::NonZeroU32;
use std::time::Duration;

use flowmeter_harness::caps::Claim::{RateBound, WindowBound};
use flowmeter_harness::limiter::{
    AsyncLimit, Attempt, BlockingLimit, LimitDeadline, LimitError, Limiters, Quota, WeightedLimit,
};
use flowmeter_harness::record::{Proof, Verdict};
use flowmeter_harness::registry::{Enrol, Registry, mutant};
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Deadline, Exploration, World};
use flowmeter_impls::peers::governor::Governor;
use flowmeter_suites::properties::{Checks, judge};

/// A limiter with another quota than was asked for; `FAULT` says which.
struct Misled<L, const FAULT: u8>(L);

const NONE: u8 = 0;
/// One permit more.
const ONE_OVER: u8 = 1;
/// A permit is back a nanosecond before its period is over.
const EARLY: u8 = 2;

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
        self.0.acquire_until(deadline)
    }
}

impl<L: WeightedLimit, const FAULT: u8> WeightedLimit for Misled<L, FAULT> {
    fn acquire_weight(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        self.0.acquire_weight(weight)
    }
}

/// The semaphore of one world, sound and misled.
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
    fn limiters<H: Enrol>(self, hall: &mut H) {
        enter::<Misled<L, NONE>, H>(hall, "sound");
        enter::<Misled<L, ONE_OVER>, H>(hall, "one-over");
        enter::<Misled<L, EARLY>, H>(hall, "early");
    }
}

fn enter<L: BlockingLimit + LimitDeadline + WeightedLimit, H: Enrol>(
    hall: &mut H,
    name: &'static str,
) {
    mutant::<L, _>(hall, name)
        .limiter()
        .blocking_limit()
        .limit_deadline()
        .weighted_limit()
        .claims(&[WindowBound])
        .enter();
}

/// A limiter by rate, sound and misled.
#[derive(Clone, Copy)]
struct ByRate;

impl Registry for ByRate {
    fn limiters<H: Enrol>(self, hall: &mut H) {
        mutant::<Misled<Governor, NONE>, _>(hall, "sound")
            .limiter()
            .async_limit()
            .claims(&[RateBound])
            .enter();
        mutant::<Misled<Governor, ONE_OVER>, _>(hall, "one-over")
            .limiter()
            .async_limit()
            .claims(&[RateBound])
            .enter();
    }
}

fn proof<W: World>(registry: impl Registry, name: &str, property: &str) -> Proof {
    let checks = Checks::<W>::of(registry);
    let mut cells = checks.cells();
    let cell = cells.find(|cell| cell.who.name == name && cell.property.name == property);
    let plan = Exploration {
        executions: 100,
        time: Duration::from_secs(5),
        ..Exploration::default()
    };
    judge::<W>(
        &cell.expect("everybody has a cell for each property"),
        &plan,
    )
}

fn caught<W: World, L>(name: &str)
where
    L: BlockingLimit + LimitDeadline + WeightedLimit,
{
    let proof = proof::<W>(field::<L>(), name, "l1-window");
    assert_eq!(proof.verdict, Verdict::Fail, "{name} in {}", W::NAME);
    let told = proof.detail.expect("a failure says what was violated");
    assert!(told.contains("L1: "), "{name} in {}: {told}", W::NAME);
}

fn passes<W: World, L>()
where
    L: BlockingLimit + LimitDeadline + WeightedLimit,
{
    let proof = proof::<W>(field::<L>(), "sound", "l1-window");
    assert_eq!(
        proof.verdict,
        Verdict::Pass,
        "{}: {:?}",
        W::NAME,
        proof.detail
    );
}

type InStd = flowmeter_impls::limiter::semaphore::FairSemaphore;
type InLoom = flowmeter_impls_loom::limiter::semaphore::FairSemaphore;
type InShuttle = flowmeter_impls_shuttle::limiter::semaphore::FairSemaphore;

#[test]
fn a_semaphore_that_keeps_its_window_passes() {
    passes::<Std, InStd>();
    passes::<Loom, InLoom>();
    passes::<Shuttle, InShuttle>();
}

#[test]
fn a_semaphore_one_over_its_window_is_caught_in_every_world() {
    caught::<Std, InStd>("one-over");
    caught::<Loom, InLoom>("one-over");
    caught::<Shuttle, InShuttle>("one-over");
}

#[test]
fn a_permit_back_a_nanosecond_early_is_caught_in_virtual_time() {
    caught::<Loom, InLoom>("early");
    caught::<Shuttle, InShuttle>("early");
}

#[test]
fn a_burst_above_the_quota_is_caught() {
    let sound = proof::<Std>(ByRate, "sound", "l2-rate");
    assert_eq!(sound.verdict, Verdict::Pass, "{:?}", sound.detail);
    let misled = proof::<Std>(ByRate, "one-over", "l2-rate");
    assert_eq!(misled.verdict, Verdict::Fail);
    let told = misled.detail.expect("a failure says what was violated");
    assert!(told.contains("L2: "), "{told}");
}
