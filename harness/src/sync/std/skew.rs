//! How far apart two threads' readings of the clock may be at one moment.

use ::std::sync::OnceLock;
use ::std::sync::atomic::{AtomicU64, Ordering};
use ::std::thread;

use super::clock::now_nanos;

/// What a processor reorders around a reading: a store that is not visible to others yet when the clock is
/// read after it, a load that ran before the clock was read before it. Far more than the few hundred
/// instructions that are in flight at once take.
const REORDERING_NANOS: u64 = 1_000;

const ROUNDS: u64 = 500;

/// How much later a reading must be than another thread's for its moment to be the later one, in nanoseconds:
/// the largest step back between two threads that passed their readings on, measured once a process (some
/// milliseconds), and what processors reorder.
pub fn margin_nanos() -> u64 {
    static MARGIN: OnceLock<u64> = OnceLock::new();
    *MARGIN.get_or_init(|| largest_step_back() + REORDERING_NANOS)
}

/// Two threads pass a reading to and fro; one that is earlier than the one it answers is a step back.
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
            // Never twice the same, and never zero, which is "nothing yet".
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
