//! As `std::time`, with the clock of the explored world.

pub use ::std::time::{Duration, SystemTime, SystemTimeError, TryFromFloatSecsError, UNIX_EPOCH};

use ::std::cmp::Ordering;
use ::std::ops::{Add, AddAssign, Sub, SubAssign};

use flowmeter_core::engine::{compared_with, now};
use flowmeter_harness::sync::Deadline;

/// What the clock shows when an execution begins: some days, since a machine has run for a while too.
const BEGAN: Duration = Duration::from_secs(1_000_000);

/// As `std::time::Instant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instant(Duration);

/// That moment; `None` if it never comes.
#[must_use]
pub fn instant(deadline: Deadline) -> Option<Instant> {
    (deadline != Deadline::NEVER)
        .then(|| Instant(BEGAN + Duration::from_nanos(deadline.as_nanos())))
}

#[allow(missing_docs, reason = "std documents them")]
impl Instant {
    #[must_use]
    #[track_caller]
    pub fn now() -> Instant {
        Instant(BEGAN + Duration::from_nanos(now()))
    }

    #[must_use]
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    #[must_use]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }

    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    #[must_use]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        told(self, &earlier);
        self.0.checked_sub(earlier.0)
    }

    #[must_use]
    pub fn checked_add(&self, time: Duration) -> Option<Instant> {
        // std's goes as far, so that an addition of the longest duration fails here too.
        let sum = self.0.checked_add(time)?;
        i64::try_from(sum.as_secs()).ok().map(|_| Instant(sum))
    }

    #[must_use]
    pub fn checked_sub(&self, time: Duration) -> Option<Instant> {
        self.0.checked_sub(time).map(Instant)
    }
}

/// A thread that compares two moments, and then yields, waits for the later one.
fn told(one: &Instant, other: &Instant) {
    let later = one.0.max(other.0).saturating_sub(BEGAN);
    compared_with(u64::try_from(later.as_nanos()).unwrap_or(u64::MAX));
}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Instant) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Instant {
    fn cmp(&self, other: &Instant) -> Ordering {
        told(self, other);
        self.0.cmp(&other.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[track_caller]
    fn add(self, time: Duration) -> Instant {
        let sum = self.checked_add(time);
        sum.expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, time: Duration) {
        *self = *self + time;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    #[track_caller]
    fn sub(self, time: Duration) -> Instant {
        let difference = self.checked_sub(time);
        difference.expect("overflow when subtracting duration from instant")
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, time: Duration) {
        *self = *self - time;
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}
