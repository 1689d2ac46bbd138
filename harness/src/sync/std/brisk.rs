//! A clock that costs a third of the system's to read: the processor's counter, between two readings of the system's
//! clock.
//!
//! Each thread keeps its last reading of both. It adds the counts since then, for at most [`LEASE`]. So nothing drifts,
//! and the error of a counter that jumps, or of another core's counter that is out of step, is bounded by the lease. A
//! reading during which the thread was preempted is not kept.

use ::std::cell::Cell;
use ::std::sync::OnceLock;
use ::std::thread_local;

use quanta::Clock;

use super::clock;

/// How long a reading of the system's clock is valid, in nanoseconds. In that time the error of the counter's rate
/// (some millionths) and the adjustment of the system's clock (at most half a thousandth) amount to 5 ns.
const LEASE: u64 = 10_000;

/// The most that the counter may be read after the system's clock, in nanoseconds. The clock lags by that much. On most
/// machines both readings take a third of it.
const APART: u64 = 100;

#[derive(Clone, Copy)]
struct Reading {
    /// The processor's counter.
    count: u64,
    /// The system's clock, read before the counter.
    nanos: u64,
}

thread_local! {
    static LAST: Cell<Reading> = const { Cell::new(Reading { count: 0, nanos: 0 }) };
}

/// The processor's counter, or the system's clock if there is no reliable one.
struct Counter {
    clock: Clock,
    /// Nanoseconds per 2^32 counts.
    rate: u64,
    /// Counts of a [`LEASE`].
    lease: u64,
}

impl Counter {
    #[inline]
    fn get() -> &'static Counter {
        static COUNTER: OnceLock<Counter> = OnceLock::new();
        COUNTER.get_or_init(|| {
            let clock = Clock::new();
            // At least 1: no counter is fast enough to make it 0.
            let rate = clock.delta_as_nanos(0, 1 << 32).max(1);
            Counter {
                clock,
                rate,
                lease: (LEASE << 32) / rate,
            }
        })
    }
}

/// As `clock::brisk_nanos`.
#[inline]
pub(super) fn nanos() -> u64 {
    let counter = Counter::get();
    let last = LAST.get();
    // A counter that went back looks as if it had counted for centuries.
    let counted = counter.clock.raw().wrapping_sub(last.count);
    if counted < counter.lease {
        last.nanos + ((counted * counter.rate) >> 32)
    } else {
        read(&counter.clock)
    }
}

/// Reads both.
#[cold]
fn read(counter: &Clock) -> u64 {
    let before = counter.raw();
    let nanos = clock::now_nanos();
    let count = counter.raw();
    if counter.delta_as_nanos(before, count) < APART {
        LAST.set(Reading { count, nanos });
    }
    nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reading lags by the distance of the two readings, and leads by the error of the counter's rate, which is
    /// negligible.
    #[test]
    fn it_tells_the_time_of_the_system() {
        for _ in 0..100_000 {
            let before = clock::now_nanos();
            let told = nanos();
            let after = clock::now_nanos();
            assert!(before <= told + APART, "{told} was {before} before");
            assert!(told <= after + APART, "{told} was {after} after");
        }
    }
}
