//! Spinning and sleeping for a time.

use ::std::hint::spin_loop;
use ::std::sync::atomic::{AtomicU32, Ordering};
use ::std::thread;
use ::std::time::{Duration, Instant};

/// The period for which the number of spin hints is known, in nanoseconds.
const PERIOD: u32 = 1 << 20;

/// Spins for about so many nanoseconds: as many spin hints as take this long, and at least one. How long a hint takes depends
/// on the processor. The first call of a process measures it, and believes 1 to 250 ns.
#[inline]
pub fn spin_for(nanos: u32) {
    /// Zero until it was measured.
    static HINTS_IN_PERIOD: AtomicU32 = AtomicU32::new(0);
    let mut in_period = HINTS_IN_PERIOD.load(Ordering::Relaxed);
    if in_period == 0 {
        in_period = hints_in_period();
        HINTS_IN_PERIOD.store(in_period, Ordering::Relaxed);
    }
    let scaled = u64::from(nanos) * u64::from(in_period) + u64::from(PERIOD / 2);
    let hints = scaled / u64::from(PERIOD);
    (0..hints.max(1)).for_each(|_| spin_loop());
}

/// Sleeps for at least so many nanoseconds. Linux adds some 50 us (the timer's slack), and other systems up to milliseconds.
/// It leaves the thread's park token alone, so a future may call it as it is polled.
#[inline]
pub fn sleep_for(nanos: u32) {
    thread::sleep(Duration::from_nanos(nanos.into()));
}

/// By the shortest of some measurements: other threads may interrupt one.
#[cold]
fn hints_in_period() -> u32 {
    const HINTS: u32 = 128;
    let measured = (0..4).map(|_| {
        let began = Instant::now();
        (0..HINTS).for_each(|_| spin_loop());
        began.elapsed()
    });
    let took = measured.min().unwrap_or_default().as_nanos();
    let took = took.clamp(HINTS.into(), u128::from(HINTS) * 250) as u32;
    PERIOD / took * HINTS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shortest of several attempts, since other threads may interrupt one.
    #[test]
    fn it_takes_about_as_long_as_asked() {
        for asked in [10_000, 100_000] {
            let took = (0..50).map(|_| {
                let began = Instant::now();
                spin_for(asked);
                began.elapsed().as_nanos()
            });
            let shortest = took.min().expect("fifty attempts");
            let asked = u128::from(asked);
            assert!(
                (asked / 2..=asked * 2).contains(&shortest),
                "{shortest} ns, and {asked} were asked for"
            );
        }
    }
}
