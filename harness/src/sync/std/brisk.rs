//! A clock that costs a third of the system's to read: the processor's counter, from one reading of the system's clock
//! to the next.
//!
//! Each thread keeps its last reading of both. What the counter has counted since then is added to it for [`LEASE`] at
//! most, whatever the counter says: so nothing drifts, and a counter that jumps, or another core's that is out of step,
//! is wrong by no more. Of a reading during which the thread was held up nothing is kept.

use ::std::cell::Cell;
use ::std::sync::OnceLock;
use ::std::thread_local;

use quanta::Clock;

use super::clock;

/// How long a reading of the system's clock is good for, nanoseconds. What the counter's rate is wrong by, some millionths,
/// and what the system's is adjusted by, half a thousandth at most, come to 5 ns in it.
const LEASE: u64 = 10_000;

/// How far the counter may be read after the system's clock, nanoseconds: by that much time is told too early. On most
/// machines both take a third of it.
const APART: u64 = 100;

#[derive(Clone, Copy)]
struct Reading {
    /// Of the counter.
    count: u64,
    /// Of the system's clock, made before.
    nanos: u64,
}

thread_local! {
    static LAST: Cell<Reading> = const { Cell::new(Reading { count: 0, nanos: 0 }) };
}

/// The processor's, or the system's clock where there is none to rely on.
struct Counter {
    clock: Clock,
    /// Nanoseconds of 2^32 counts.
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
            // Never nothing, which no counter is as fast as.
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
    // A counter that went back seems to have counted for centuries.
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

    /// A reading is behind by what the two were apart, and ahead by what the counter's rate is wrong by, next to nothing.
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
