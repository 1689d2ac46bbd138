//! A limiter alone: as many tries are granted as it has permits, and the next is refused.

use std::num::NonZeroU32;
use std::time::Duration;

use flowmeter_harness::limiter::{Attempt, Limiters, Quota};

/// Tries until one is refused.
pub(crate) fn limiter<L: Limiters>() {
    const PERMITS: NonZeroU32 = NonZeroU32::MIN.saturating_add(2);
    let quota = Quota {
        permits: PERMITS,
        // No permit is back before the tries are over.
        period: Duration::from_secs(3_600),
        burst: PERMITS,
    };
    let limiter = L::with_quota(quota);
    let limiter = limiter.unwrap_or_else(|error| panic!("{quota:?} was refused: {error:?}"));
    for permit in 1..=PERMITS.get() {
        assert_eq!(
            limiter.try_acquire(),
            Attempt::Granted,
            "permit {permit} of {PERMITS} was refused"
        );
    }
    assert!(
        matches!(limiter.try_acquire(), Attempt::NotBefore(_)),
        "more than {PERMITS} permits were granted"
    );
}
