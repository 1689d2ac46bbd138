//! Stand-alone reproductions, through leaky-bucket's own API, of how its limiter treats a rate (L4). They assert the
//! behaviour as it is: once a release changes it, they fail.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a published crate on real threads: no checker watches"
)]

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use leaky_bucket::RateLimiter;

/// More than these tests take.
const MANY: usize = 1_000_000;

fn one_in(interval: Duration) -> RateLimiter {
    RateLimiter::builder()
        .interval(interval)
        .refill(1)
        .max(MANY)
        .initial(0)
        .build()
}

/// Spins until then: a sleeping thread would wake up later.
fn spin_until(moment: Instant) {
    while Instant::now() < moment {
        spin_loop();
    }
}

fn taken(limiter: &RateLimiter) -> u32 {
    let mut taken = 0;
    while limiter.try_acquire(1) {
        taken += 1;
    }
    taken
}

/// After a pause its intervals are counted in whole milliseconds, and the length of an interval is truncated as well.
/// At 1.9 ms this is nearly twice the rate.
#[test]
fn an_interval_is_cut_to_whole_milliseconds() {
    let interval = Duration::from_micros(1_900);
    let began = Instant::now();
    let limiter = one_in(interval);
    spin_until(began + 50 * interval);
    let taken = taken(&limiter);
    let passed = began.elapsed();
    // One more for the end of the interval in which the limiter was asked.
    let most = passed.as_nanos() / interval.as_nanos() + 1;
    assert!(
        u128::from(taken) > most * 3 / 2,
        "{taken} in {passed:?}, in which {most} may be"
    );
}

/// A caller that is late by less than a millisecond shifts the start of the next interval by as much. After 1.9
/// intervals of a millisecond it gets one token, and at 2.1 none.
#[test]
fn what_is_late_by_less_than_a_millisecond_is_lost() {
    let is_lost = || {
        let limiter = one_in(Duration::from_millis(1));
        let began = Instant::now();
        spin_until(began + Duration::from_micros(1_900));
        let first = limiter.try_acquire(1);
        spin_until(began + Duration::from_micros(2_100));
        let second = limiter.try_acquire(1);
        // This thread was not preempted meanwhile.
        let in_time = began.elapsed() < Duration::from_micros(2_800);
        in_time && first && !second
    };
    assert!((0..1_000).any(|_| is_lost()), "two were granted each time");
}
