//! L4: impossible quotas are refused, and odd periods do not drift.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! with_quota(2 permits in 0 s) -> a limiter
//!
//! 7 permits in 1,000,003 ns, 10,000 acquisitions in a row
//! each wait of 142,857.6 ns is rounded up to 143 us: the last one is about ten acquisitions late
//! ```

use std::time::Duration;

use flowmeter_harness::limiter::{Attempt, LimitError};
use flowmeter_harness::sync::world;

use super::{Kept, PERIOD, limiter, nanos, pause, plain, time_stands_still};
use crate::design::limiters::{Design, Limiters};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "l4-quotas",
    statement: "Impossible quotas are refused; over many odd periods the error stays below one acquisition.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Limiters(cases),
};

/// A model of limiters.
type Of = fn(Limiters, Kept);

fn cases(design: &Design) -> Vec<Case> {
    let (limiters, kept) = (design.limiters, Kept::of(design));
    let mut cases = vec![
        Case::new("impossible quotas", move || impossible(limiters)),
        Case::new("a period as long as the clock", move || {
            as_long_as_the_clock(limiters);
        }),
        Case::new("slow and fast rates", move || slow_and_fast(limiters)),
    ];
    for &way in &design.acquires {
        if kept.is_exact() {
            cases.push(Case::new(format!("{way}, odd periods"), move || {
                odd_periods(limiters, way, kept);
            }));
            cases.extend([SLOW, FAST].map(|period| {
                Case::new(format!("{way}, one in {period:?}"), move || {
                    one_by_one(limiters, way, period);
                })
            }));
        }
        if time_stands_still() {
            for period in [EVEN, PERIOD] {
                let name = format!("{way}, bursts about powers of two, {period:?}");
                cases.push(Case::new(name, move || {
                    about_powers_of_two(limiters, way, kept, period);
                }));
            }
        }
        // In that world operations take no time.
        if way == Way::Blocking && time_stands_still() {
            let models: [(_, Of); 3] = [
                ("a million permits", a_million),
                ("idle for centuries", idle_for_centuries),
                ("a queue of centuries", queue_of_centuries),
            ];
            cases
                .extend(models.map(|(name, model)| Case::new(name, move || model(limiters, kept))));
        }
    }
    cases
}

/// Two in a second, and a million.
const SLOW: Duration = Duration::from_millis(500);
const FAST: Duration = Duration::from_micros(1);
/// A prime number of nanoseconds.
const ODD: Duration = Duration::from_nanos(1_000_003);
/// Four permits in it have whole nanoseconds each.
const EVEN: Duration = Duration::from_nanos(2_000_004);
const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);

fn impossible(limiters: Limiters) {
    for period in [
        Duration::ZERO,
        Duration::MAX,
        Duration::from_nanos(u64::MAX) + Duration::from_nanos(1),
    ] {
        holds_eq!(
            limiters.with_quota(plain(2, period)).err(),
            Some(LimitError::ImpossibleRate),
            "L4: two permits in {period:?}"
        );
    }
}

/// Such a quota is refused, or it is kept: acquired permits do not come back.
fn as_long_as_the_clock(limiters: Limiters) {
    for permits in [1, 2, u32::MAX] {
        let Ok(limiter) = limiters.with_quota(plain(permits, Duration::from_nanos(u64::MAX)))
        else {
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

/// These rates are possible, in small portions and in large ones.
fn slow_and_fast(limiters: Limiters) {
    const SECOND: Duration = Duration::from_secs(1);
    for (permits, period) in [(1, SLOW), (1, FAST), (2, SECOND), (1_000_000, SECOND)] {
        holds_eq!(
            limiter(limiters, permits, period).try_acquire(),
            Attempt::Granted,
            "L4: the first of {permits} in {period:?}"
        );
    }
}

fn one_by_one(limiters: Limiters, way: Way, period: Duration) {
    let limiter = limiter(limiters, 1, period);
    let begin = world::now_nanos();
    let periods = if world::name() == "loom" { 2 } else { 50 };
    for _ in 0..=periods {
        way.acquire(&limiter);
    }
    holds_eq!(
        world::now_nanos() - begin,
        nanos(periods * period),
        "L4: {periods} periods of {period:?}"
    );
}

/// A prime number of nanoseconds, and a number of permits that does not divide it.
fn odd_periods(limiters: Limiters, way: Way, kept: Kept) {
    const PERMITS: u32 = 7;
    let periods = match world::name() {
        "loom" => 2,
        "shuttle" => 20,
        _ => 10_000 / u64::from(PERMITS),
    };
    let limiter = limiter(limiters, PERMITS, ODD);
    let begin = world::now_nanos();
    let count = periods * u64::from(PERMITS) + 1;
    for _ in 0..count {
        way.acquire(&limiter);
    }
    let after = world::now_nanos() - begin;
    // A thread that acquires all the time loses no permit.
    let exactly = kept.limit(PERMITS, ODD).least_for(count);
    holds!(
        after.abs_diff(exactly) < nanos(ODD).div_ceil(PERMITS.into()),
        "L4: {count} of {PERMITS} in {ODD:?} took {after} ns and not {exactly} ns"
    );
}

/// Each pause is shorter than the burst takes to come back, so no permit may be lost. At every moment exactly as many
/// were granted as possible.
fn a_million(limiters: Limiters, kept: Kept) {
    const PERMITS: u32 = 997;
    let limit = kept.limit(PERMITS, ODD);
    let limiter = limiter(limiters, PERMITS, ODD);
    // A window is asked at its ends, where all of it is back.
    let pause = super::limiter(limiters, 1, if kept.by_rate { ODD / 3 } else { ODD });
    let begin = world::now_nanos();
    let mut granted = 0;
    while granted < 1_000_000 {
        pause.acquire();
        while limiter.try_acquire() == Attempt::Granted {
            granted += 1;
        }
        let after = world::now_nanos() - begin;
        holds_eq!(granted, limit.most_in(after), "L4: granted in {after} ns");
    }
}

/// A pause of centuries must not overflow the unit in which a limiter counts time.
fn idle_for_centuries(limiters: Limiters, kept: Kept) {
    const PERMITS: u32 = 3;
    let limiter = limiter(limiters, PERMITS, PERIOD);
    let mut line = kept.line(PERMITS, true);
    let pause = super::limiter(limiters, 1, CENTURY / 2);
    pause.acquire();
    for _ in 0..3 {
        // 2^63 thirds of a nanosecond are 97 years.
        for _ in 0..3 {
            pause.acquire();
        }
        for _ in 0..=PERMITS {
            line.tries(&limiter);
        }
    }
    line.judge();
}

/// All permits are taken just before the clock reaches a power of two, where a counter may begin anew, and none is back
/// just after it.
fn about_powers_of_two(limiters: Limiters, way: Way, kept: Kept, period: Duration) {
    const PERMITS: u32 = 4;
    /// No limiter of one permit refuses it.
    const LONGEST: u64 = 1 << 60;
    for bits in 23..64 {
        let before = (1_u64 << bits) - 2;
        while let Some(left) = before.checked_sub(world::now_nanos())
            && left > 0
        {
            pause(limiters, way, Duration::from_nanos(left.min(LONGEST)));
        }
        let limiter = limiter(limiters, PERMITS, period);
        let mut line = kept.line_in(PERMITS, period, true);
        for rest in [Duration::from_nanos(3), period / 3, period] {
            for _ in 0..=PERMITS {
                line.tries(&limiter);
            }
            pause(limiters, way, rest);
        }
        line.acquires(0, &limiter, way);
        line.judge();
    }
}

/// Waiters in line wait longer than the clock's usual sleeps, and exactly as long as they must.
fn queue_of_centuries(limiters: Limiters, kept: Kept) {
    const THREADS: u64 = 8;
    let period = CENTURY / 2;
    let shared = limiter(limiters, 1, period);
    let begin = world::now_nanos();
    let waiting: Vec<_> = (0..THREADS)
        .map(|_| {
            let limiter = shared.clone();
            world::spawn(move || {
                limiter.acquire();
                world::now_nanos()
            })
        })
        .collect();
    let mut served: Vec<u64> = waiting.into_iter().map(world::join).collect();
    served.sort_unstable();
    let limit = kept.limit(1, period);
    let exactly: Vec<u64> = (1..=THREADS)
        .map(|count| begin + limit.least_for(count))
        .collect();
    holds_eq!(served, exactly, "L4: one in half a century");
}
