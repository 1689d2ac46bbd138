//! The number of permits that may be granted in an interval. Integer arithmetic: nothing is rounded, so nothing drifts
//! (L4).

use std::num::{NonZeroU32, NonZeroU64};

use super::super::Violation;

/// What a limiter promises about every interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// L1: no half-open period, wherever it begins, holds more than `permits` permits.
    Window {
        /// Permits in a period.
        permits: NonZeroU32,
        /// Nanoseconds.
        period: NonZeroU64,
    },
    /// L2: between two moments, both included, no more is granted than the burst plus what the rate adds in between.
    Rate {
        /// What the rate adds in a period.
        permits: NonZeroU32,
        /// Nanoseconds.
        period: NonZeroU64,
        /// Permits available at once.
        burst: NonZeroU32,
    },
}

impl Limit {
    /// Its statement in SEMANTICS.md.
    pub fn id(self) -> &'static str {
        match self {
            Limit::Window { .. } => "L1",
            Limit::Rate { .. } => "L2",
        }
    }

    /// The most permits that may be granted between two moments `nanos` apart, both included.
    pub fn most_in(self, nanos: u64) -> u64 {
        match self {
            // The interval is covered by this many half-open periods.
            Limit::Window { permits, period } => {
                let periods = u128::from(nanos / period) + 1;
                saturated(u128::from(permits.get()) * periods)
            }
            Limit::Rate {
                permits,
                period,
                burst,
            } => {
                let added =
                    u128::from(nanos) * u128::from(permits.get()) / u128::from(period.get());
                saturated(u128::from(burst.get()) + added)
            }
        }
    }

    /// The least distance in nanoseconds between two moments such that `permits` permits may be granted from the one to
    /// the other; `u64::MAX` if it does not fit the clock.
    pub fn least_for(self, permits: u64) -> u64 {
        match self {
            Limit::Window {
                permits: each,
                period,
            } => {
                let periods = permits.div_ceil(each.get().into()).saturating_sub(1);
                saturated(u128::from(periods) * u128::from(period.get()))
            }
            Limit::Rate {
                permits: each,
                period,
                burst,
            } => {
                let added = permits.saturating_sub(burst.get().into());
                let nanos = u128::from(added) * u128::from(period.get());
                saturated(nanos.div_ceil(each.get().into()))
            }
        }
    }

    /// The most permits available at once.
    pub fn at_once(self) -> u64 {
        self.most_in(0)
    }
}

fn saturated(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// A grant, as known from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its earliest possible moment: the call.
    pub from: u64,
    /// Its latest possible moment: the return.
    pub until: u64,
    /// Permits.
    pub weight: u64,
}

/// Whether each of these grants can be placed in its interval such that no two moments enclose more of them than
/// allowed. Exact if the intervals are single moments. Otherwise only grants that certainly lie together are a
/// violation.
///
/// # Errors
/// The number of permits beyond the limit, and the interval that holds them.
pub fn judge(limit: Limit, grants: &[Grant]) -> Result<(), Violation> {
    let mut by_end: Vec<&Grant> = grants.iter().collect();
    by_end.sort_unstable_by_key(|grant| grant.until);
    let mut begins: Vec<u64> = grants.iter().map(|grant| grant.from).collect();
    begins.sort_unstable();
    begins.dedup();
    for begin in begins {
        let mut sum = 0_u64;
        // A grant that begins after `begin` and ends before a moment lies between the two.
        for grant in by_end.iter().filter(|grant| grant.from >= begin) {
            sum = sum.saturating_add(grant.weight);
            let nanos = grant.until.saturating_sub(begin);
            let most = limit.most_in(nanos);
            if sum > most {
                let text = format!(
                    "{sum} acquisitions in {nanos} ns, in which {most} may be of {limit:?}: {grants:?}"
                );
                return Violation::found(limit.id(), text);
            }
        }
    }
    Ok(())
}

/// The most of these sorted moments in one half-open period.
pub fn fullest(period: NonZeroU64, moments: &[u64]) -> u64 {
    let (mut most, mut begins) = (0, 0);
    for (index, moment) in moments.iter().enumerate() {
        while moment.saturating_sub(moments[begins]) >= period.get() {
            begins += 1;
        }
        most = most.max(index - begins + 1);
    }
    most as u64
}
