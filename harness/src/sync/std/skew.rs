//! How far two threads' readings of the clock may differ at one moment.

use ::std::sync::OnceLock;
use ::std::sync::atomic::{AtomicU64, Ordering};
use ::std::thread;

use super::clock::now_nanos;

/// The time by which a processor may reorder around a reading: a store before it that is not visible to others yet, or
/// a load after it that ran earlier. This is far longer than the few hundred instructions in flight take.
const REORDERING_NANOS: u64 = 1_000;

const ROUNDS: u64 = 500;

/// The least difference in nanoseconds between the readings of two threads that shows which is later. It is the largest
/// step back between two threads that pass their readings to each other, plus the time by which processors reorder.
/// Measured once per process, in some milliseconds.
pub fn margin_nanos() -> u64 {
    static MARGIN: OnceLock<u64> = OnceLock::new();
    *MARGIN.get_or_init(|| largest_step_back() + REORDERING_NANOS)
}

/// Two threads pass a reading back and forth. A reading earlier than the one it answers is a step back.
fn largest_step_back() -> u64 {
    let words = [const { AtomicU64::new(0) }; 2];
    let words = &words;
    let side = |mine: usize| {
        let (mut last, mut back) = (0, 0);
        for round in 0..ROUNDS {
            // The first side begins.
            if round > 0 || mine == 1 {
                let mut spun = 0;
                let got = loop {
                    let got = words[1 - mine].load(Ordering::Acquire);
                    if got != last {
                        break got;
                    }
                    spun += 1;
                    match spun % 128 {
                        0 => thread::yield_now(),
                        _ => ::std::hint::spin_loop(),
                    }
                };
                last = got;
                back = back.max(got.saturating_sub(now_nanos() + 1));
            }
            // Always increasing and never zero, which means "nothing yet".
            let before = words[mine].load(Ordering::Relaxed);
            words[mine].store(before.max(now_nanos()) + 1, Ordering::Release);
        }
        back
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| side(1));
        let back = side(0);
        back.max(other.join().expect("it reads a clock"))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_margin_is_small_beside_an_operation_that_waits() {
        assert!((1_000..100_000).contains(&super::margin_nanos()));
    }
}
