//! L4: impossible quotas are refused, odd ones do not drift.

use std::time::Duration;

use flowmeter_harness::limiter::{Attempt, LimitError, Limiters, Quota};
use flowmeter_harness::sync::World;

use super::{Form, acquired, limiter, nanos, several};
use crate::properties::{Case, Property, Reliance};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "l4-quotas",
    statement: "Impossible quotas are refused; over many odd periods the error stays below one acquisition.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<L: Limiters>() -> Vec<Case> {
    vec![
        Case::new("impossible quotas", impossible::<L>),
        Case::new("a period as long as the clock", as_long_as_the_clock::<L>),
        Case::new("slow and fast rates", slow_and_fast::<L>),
    ]
}

pub(super) fn drift_cases<L: Limiters, F: Form<L>, W: World>() -> Vec<Case> {
    let mut cases = vec![Case::new(
        format!("{}, odd periods", F::NAME),
        odd_periods::<L, F, W>,
    )];
    for period in [SLOW, FAST] {
        cases.push(Case::new(
            format!("{}, one in {period:?}", F::NAME),
            move || one_by_one::<L, F, W>(period),
        ));
    }
    cases
}

/// Two in a second, and a million.
const SLOW: Duration = Duration::from_millis(500);
const FAST: Duration = Duration::from_micros(1);

fn made<L: Limiters>(permits: u32, period: Duration) -> Result<L, LimitError> {
    L::with_quota(Quota {
        permits: several(permits),
        period,
        burst: several(permits),
    })
}

fn impossible<L: Limiters>() {
    for period in [
        Duration::ZERO,
        Duration::MAX,
        Duration::from_nanos(u64::MAX) + Duration::from_nanos(1),
    ] {
        holds_eq!(
            made::<L>(2, period).err(),
            Some(LimitError::ImpossibleRate),
            "L4: two permits in {period:?}"
        );
    }
}

/// Refused, or kept to: what was taken is not back.
fn as_long_as_the_clock<L: Limiters>() {
    let Ok(limiter) = made::<L>(2, Duration::from_nanos(u64::MAX)) else {
        return;
    };
    for _ in 0..2 {
        holds_eq!(
            limiter.try_acquire(),
            Attempt::Granted,
            "L4: a permit that was free was refused"
        );
    }
    holds!(
        matches!(limiter.try_acquire(), Attempt::NotBefore(_)),
        "L4: the third of two permits"
    );
}

/// These rates can be, in small portions and in large ones.
fn slow_and_fast<L: Limiters>() {
    const SECOND: Duration = Duration::from_secs(1);
    for (permits, period) in [(1, SLOW), (1, FAST), (2, SECOND), (1_000_000, SECOND)] {
        holds_eq!(
            limiter::<L>(permits, period).try_acquire(),
            Attempt::Granted,
            "L4: the first of {permits} in {period:?}"
        );
    }
}

fn one_by_one<L: Limiters, F: Form<L>, W: World>(period: Duration) {
    let limiter = limiter::<L>(1, period);
    let begin = W::now_nanos();
    let periods = if W::name() == "loom" { 2 } else { 50 };
    for _ in 0..=periods {
        F::acquire(&limiter);
    }
    holds_eq!(
        W::now_nanos() - begin,
        nanos(periods * period),
        "L4: {periods} periods of {period:?}"
    );
}

/// A prime number of nanoseconds for a number of permits that does not divide it.
fn odd_periods<L: Limiters, F: Form<L>, W: World>() {
    const PERMITS: u32 = 7;
    const PERIOD: u64 = 1_000_003;
    let periods = match W::name() {
        "loom" => 2,
        "shuttle" => 20,
        _ => 10_000 / u64::from(PERMITS),
    };
    let limiter = limiter::<L>(PERMITS, Duration::from_nanos(PERIOD));
    let begin = W::now_nanos();
    let mut last = begin;
    for _ in 0..=periods * u64::from(PERMITS) {
        last = acquired::<L, F, W>(&limiter).until;
    }
    // The burst is had at the beginning, so this is the moment of the last grant, whatever a design does
    // within a period.
    let (exactly, one_grant) = (periods * PERIOD, PERIOD.div_ceil(PERMITS.into()));
    let after = last - begin;
    holds!(
        after.abs_diff(exactly) < one_grant,
        "L4: {periods} periods of {PERIOD} ns took {after} ns"
    );
}
