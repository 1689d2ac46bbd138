//! A rate in whole numbers: nothing is rounded, so nothing drifts.
//!
//! Time is counted in *ticks*. A tick is the longest unit that divides both a nanosecond and the time of one permit. At
//! seven permits in 1,000,003 ns a permit takes 1,000,003 ticks and a nanosecond is seven.

use std::time::Duration;

use flowmeter_harness::limiter::{LimitError, Quota};

/// A number of permits in a period, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// Ticks in a nanosecond; they fit in 32 bits.
    pub(super) ticks_per_nano: u64,
    /// Ticks that a permit takes.
    pub(super) ticks_per_permit: u64,
}

impl Rate {
    pub(super) fn of(quota: Quota) -> Result<Rate, LimitError> {
        let permits = u64::from(quota.permits.get());
        let period = nanos(quota.period)?;
        let common = greatest_common_divisor(permits, period);
        Ok(Rate {
            ticks_per_nano: permits / common,
            ticks_per_permit: period / common,
        })
    }

    /// Those ticks in nanoseconds, rounded up.
    #[inline]
    pub(super) fn whole_nanos(self, ticks: u64) -> u64 {
        match self.ticks_per_nano {
            // Most rates have one tick in a nanosecond, and a division is expensive.
            1 => ticks,
            per_nano => ticks.div_ceil(per_nano),
        }
    }
}

/// A period in nanoseconds. A period of zero, or one that does not fit in 64 bits, is refused.
pub(super) fn nanos(period: Duration) -> Result<u64, LimitError> {
    match u64::try_from(period.as_nanos()) {
        Ok(0) | Err(_) => Err(LimitError::ImpossibleRate),
        Ok(nanos) => Ok(nanos),
    }
}

fn greatest_common_divisor(mut of: u64, mut and: u64) -> u64 {
    while and > 0 {
        (of, and) = (and, of % and);
    }
    of
}
