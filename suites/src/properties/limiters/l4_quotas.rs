//! L4: impossible quotas are refused, odd ones do not drift.

use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::limiter::{Attempt, LimitError, Limiters, Quota};
use flowmeter_harness::sync::World;

use super::{Form, Kept, PERIOD, limiter, nanos, several};
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

pub(super) fn drift_cases<L: Limiters, F: Form<L>, W: World>(kept: Kept) -> Vec<Case> {
    let mut cases = vec![Case::new(format!("{}, odd periods", F::NAME), move || {
        odd_periods::<L, F, W>(kept);
    })];
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
/// A prime number of nanoseconds.
const ODD: Duration = Duration::from_nanos(1_000_003);
const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);

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
    for permits in [1, 2, u32::MAX] {
        let Ok(limiter) = made::<L>(permits, Duration::from_nanos(u64::MAX)) else {
            continue;
        };
        for _ in 0..permits.min(2) {
            holds_eq!(
                limiter.try_acquire(),
                Attempt::Granted,
                "L4: a permit that was free was refused"
            );
        }
        if permits <= 2 {
            holds!(
                matches!(limiter.try_acquire(), Attempt::NotBefore(_)),
                "L4: one more than {permits}"
            );
        }
    }
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
fn odd_periods<L: Limiters, F: Form<L>, W: World>(kept: Kept) {
    const PERMITS: u32 = 7;
    let periods = match W::name() {
        "loom" => 2,
        "shuttle" => 20,
        _ => 10_000 / u64::from(PERMITS),
    };
    let limiter = limiter::<L>(PERMITS, ODD);
    let begin = W::now_nanos();
    let count = periods * u64::from(PERMITS) + 1;
    for _ in 0..count {
        F::acquire(&limiter);
    }
    let after = W::now_nanos() - begin;
    // Nothing is lost by one who is always there.
    let exactly = kept.limit::<W>(PERMITS, ODD).least_for(count);
    holds!(
        after.abs_diff(exactly) < nanos(ODD).div_ceil(PERMITS.into()),
        "L4: {count} of {PERMITS} in {ODD:?} took {after} ns and not {exactly} ns"
    );
}

/// For a world in which nothing takes time.
pub(super) fn million_cases<L: Limiters, F: Form<L>, W: World>(kept: Kept) -> Vec<Case> {
    vec![
        Case::new("a million permits", move || a_million::<L, F, W>(kept)),
        Case::new("centuries without anybody", move || {
            idle_for_centuries::<L, F, W>(kept);
        }),
        Case::new("a queue of centuries", move || {
            queue_of_centuries::<L, F, W>(kept);
        }),
    ]
}

/// Each pause is shorter than what a burst takes to come back, so nothing may be lost: at every moment exactly as
/// many were granted as can be.
fn a_million<L: Limiters, F: Form<L>, W: World>(kept: Kept) {
    const PERMITS: u32 = 997;
    let limit = kept.limit::<W>(PERMITS, ODD);
    let limiter = limiter::<L>(PERMITS, ODD);
    // A window is asked at its ends, where all of it is back.
    let pause = super::limiter::<L>(1, if kept.by_rate { ODD / 3 } else { ODD });
    let begin = W::now_nanos();
    let mut granted = 0;
    while granted < 1_000_000 {
        F::acquire(&pause);
        while limiter.try_acquire() == Attempt::Granted {
            granted += 1;
        }
        let after = W::now_nanos() - begin;
        holds_eq!(granted, limit.most_in(after), "L4: granted in {after} ns");
    }
}

/// Whatever a limiter counts time in, a pause is a pause.
fn idle_for_centuries<L: Limiters, F: Form<L>, W: World>(kept: Kept) {
    const PERMITS: u32 = 3;
    let limiter = limiter::<L>(PERMITS, PERIOD);
    let mut line = kept.line::<W>(PERMITS, true);
    let pause = super::limiter::<L>(1, CENTURY / 2);
    F::acquire(&pause);
    for _ in 0..3 {
        // Half of 64 bits of thirds of a nanosecond are 97 years.
        for _ in 0..3 {
            F::acquire(&pause);
        }
        for _ in 0..=PERMITS {
            line.tries(&limiter);
        }
    }
    line.judge();
}

/// Those in line wait for longer than anything that waits, and not a moment too long.
fn queue_of_centuries<L: Limiters, F: Form<L>, W: World>(kept: Kept) {
    const THREADS: u64 = 8;
    let period = CENTURY / 2;
    let shared = Arc::new(limiter::<L>(1, period));
    let begin = W::now_nanos();
    let waiting: Vec<_> = (0..THREADS)
        .map(|_| {
            let limiter = shared.clone();
            W::spawn(move || {
                F::acquire(&*limiter);
                W::now_nanos()
            })
        })
        .collect();
    let mut served: Vec<u64> = waiting.into_iter().map(W::join).collect();
    served.sort_unstable();
    let limit = kept.limit::<W>(1, period);
    let exactly: Vec<u64> = (1..=THREADS)
        .map(|count| begin + limit.least_for(count))
        .collect();
    holds_eq!(served, exactly, "L4: one in half a century");
}
