//! The engine's clock: nanoseconds that never go back, read from the time-stamp counter where there is a
//! steady one (about 10 ns a read where `Instant::now` costs 24), else from the system's monotonic clock.
//!
//! The counter is calibrated against the system's clock once a process; [`calibrate`] does that at a moment
//! of one's choice, so that no window pays for it.

use std::sync::OnceLock;

use quanta::Clock;

struct Source {
    clock: Clock,
    origin: u64,
}

#[inline]
fn source() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| {
        let clock = Clock::new();
        let origin = clock.raw();
        Source { clock, origin }
    })
}

/// Calibrates the clock now (up to 200 ms, once a process) rather than at the first read.
pub fn calibrate() {
    source();
}

/// Nanoseconds since the clock was first used in this process.
#[inline]
pub fn now_nanos() -> u64 {
    let source = source();
    source
        .clock
        .delta_as_nanos(source.origin, source.clock.raw())
}

/// Spins until the clock shows `nanos`, and says what it shows then.
#[inline]
pub fn spin_until(nanos: u64) -> u64 {
    loop {
        let now = now_nanos();
        if now >= nanos {
            return now;
        }
        std::hint::spin_loop();
    }
}
