//! The common moment of timers that may be late.

use std::time::Duration;

use flowmeter_harness::sync::Deadline;

/// The roundest moment, in powers of two of a nanosecond, from `deadline` on and at most `window` later. So timers
/// with overlapping windows tend to choose the same moment, without coordination.
///
/// The last moment of all never comes, and is chosen only for a deadline that never comes.
pub(super) fn roundest(deadline: Deadline, window: Duration) -> Deadline {
    let last = Deadline::after(deadline.as_nanos(), window);
    if deadline == Deadline::NEVER || window.is_zero() {
        return deadline;
    }
    let (first, last) = (deadline.as_nanos(), last.as_nanos().min(u64::MAX - 1));
    let Some(before) = first.checked_sub(1) else {
        return deadline;
    };
    // Above the highest bit in which `last` differs from `before`, both are equal. That bit is set in `last` only. So
    // `last` with all lower bits cleared lies between them.
    let kept = u64::MAX << (before ^ last).ilog2();
    Deadline::from_nanos(last & kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(first: u64, window: u64) -> u64 {
        roundest(Deadline::from_nanos(first), Duration::from_nanos(window)).as_nanos()
    }

    #[test]
    fn it_is_the_roundest_of_its_window() {
        for first in 0..200 {
            for window in 0..200 {
                let roundness = |moment: &u64| moment.trailing_zeros();
                let best = (first..=first + window).max_by_key(roundness);
                assert_eq!(
                    chosen(first, window).trailing_zeros(),
                    best.map_or(0, |best| best.trailing_zeros()),
                    "{first} {window}"
                );
                assert!((first..=first + window).contains(&chosen(first, window)));
            }
        }
    }

    #[test]
    fn the_ends_of_time_are_no_exception() {
        assert_eq!(chosen(u64::MAX, 7), u64::MAX);
        assert_eq!(chosen(u64::MAX - 1, 7), u64::MAX - 1);
        assert_eq!(chosen(1, u64::MAX), 1 << 63);
        assert_eq!(
            roundest(Deadline::from_nanos(5), Duration::MAX).as_nanos(),
            1 << 63
        );
    }
}
