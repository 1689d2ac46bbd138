//! A rate in whole numbers: nothing is rounded, so nothing drifts.
//!
//! Time is counted in *ticks*, the longest unit of which a nanosecond and what a permit takes both hold a whole number:
//! seven permits in 1,000,003 ns are 1,000,003 ticks for each permit and seven for each nanosecond.

use std::time::Duration;

use flowmeter_harness::limiter::{LimitError, Quota};

/// So many permits a period, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// Ticks of a nanosecond; they fit in 32 bits.
    pub(super) ticks_per_nano: u64,
    /// Ticks of what a permit takes.
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

    /// Nanoseconds that those ticks have begun.
    #[inline]
    pub(super) fn whole_nanos(self, ticks: u64) -> u64 {
        match self.ticks_per_nano {
            // That of most rates; a division is dear.
            1 => ticks,
            per_nano => ticks.div_ceil(per_nano),
        }
    }
}

/// A period in nanoseconds. None of no length is a rate, nor one that the clock does not hold.
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
