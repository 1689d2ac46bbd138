//! How many permits may be granted in a length of time, in whole numbers: nothing is rounded, so nothing drifts (L4).

use std::num::{NonZeroU32, NonZeroU64};

use super::super::Violation;

/// What a limiter promises about any length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// L1: no half-open period, wherever it begins, holds more than so many permits.
    Window {
        /// Permits in a period.
        permits: NonZeroU32,
        /// Nanoseconds.
        period: NonZeroU64,
    },
    /// L2: between two moments, both included, no more is granted than the burst and what the rate adds meanwhile.
    Rate {
        /// What the rate adds in a period.
        permits: NonZeroU32,
        /// Nanoseconds.
        period: NonZeroU64,
        /// What may be had at once.
        burst: NonZeroU32,
    },
}

impl Limit {
    /// The statement of SEMANTICS.md that it is.
    pub fn id(self) -> &'static str {
        match self {
            Limit::Window { .. } => "L1",
            Limit::Rate { .. } => "L2",
        }
    }

    /// The most that may be granted between two moments, both included, that lie so many nanoseconds apart.
    pub fn most_in(self, nanos: u64) -> u64 {
        match self {
            // That many half-open periods cover it.
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

    /// How far apart two moments must be at least, in nanoseconds, for so many permits to be granted from the one to
    /// the other; what no clock holds is `u64::MAX`.
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

    /// The most that can be had at once.
    pub fn at_once(self) -> u64 {
        self.most_in(0)
    }
}

fn saturated(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// A grant, as far as is known from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The earliest moment at which it can have been: the call.
    pub from: u64,
    /// The latest: the return.
    pub until: u64,
    /// Permits.
    pub weight: u64,
}

/// Whether these grants can be placed in the time that is known of each without more of them between any two moments
/// than may be. Exact where that time is one moment; elsewhere it convicts only what surely lies together.
///
/// # Errors
/// More permits than may be, and in how much time.
pub fn judge(limit: Limit, grants: &[Grant]) -> Result<(), Violation> {
    let mut by_end: Vec<&Grant> = grants.iter().collect();
    by_end.sort_unstable_by_key(|grant| grant.until);
    let mut begins: Vec<u64> = grants.iter().map(|grant| grant.from).collect();
    begins.sort_unstable();
    begins.dedup();
    for begin in begins {
        let mut sum = 0_u64;
        // What begins after it and ends before a moment lies between the two.
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

/// How many of these moments, which stand in their order, the fullest half-open period holds.
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
