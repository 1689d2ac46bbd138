//! Workloads of limiters: tries, and waits by threads or tasks.

mod acquirers;
pub mod at_once;
pub mod burst;
pub mod steady;
pub mod try_cost;
pub mod wakes;

use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::limiter::{LimitError, Limiters, Quota};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::spec::limiter::{Limit, fullest};
use flowmeter_measure::StageError;
use flowmeter_records::Excess;
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroU64};

use super::ledger::disproved;
use super::refused;
use crate::scenario::{Form, Threads, Within};

pub use acquirers::{Acquiring, ByTask, ByThread, Grant};

/// Checks that the fullest period holds no more than it may.
fn within(excess: Excess, most: u64) -> Result<Excess, StageError> {
    if excess.worst <= most {
        return Ok(excess);
    }
    Err(disproved(format!(
        "a period held {} acquisitions, and at most {most} keep to its quota",
        excess.worst
    )))
}

/// How permits are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitForm {
    /// By blocking the thread.
    Blocking,
    /// By tasks.
    Async,
}

impl From<LimitForm> for Form {
    fn from(form: LimitForm) -> Form {
        match form {
            LimitForm::Blocking => Form::Blocking,
            LimitForm::Async => Form::Async,
        }
    }
}

/// So many permits a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Acquisitions in a period, and at once after a pause.
    pub permits: Within<1, 1_000_000_000>,
    /// Length of the period.
    pub period_micros: Within<1, 3_600_000_000>,
}

impl Rate {
    /// For constants.
    const fn of(permits: u64, period_micros: u64) -> Rate {
        Rate {
            permits: Within::known(permits),
            period_micros: Within::known(period_micros),
        }
    }

    /// As a quota.
    pub fn quota(self) -> Quota {
        let permits = NonZeroU32::new(self.permits.get() as u32).unwrap_or(NonZeroU32::MIN);
        Quota {
            permits,
            period: Duration::from_micros(self.period_micros.get()),
            burst: permits,
        }
    }

    /// A limiter for it.
    ///
    /// # Errors
    /// Where the design refuses the rate.
    pub fn limiter<L: Limiters>(self) -> Result<L, StageError> {
        L::with_quota(self.quota()).map_err(|why| match why {
            LimitError::ImpossibleRate | LimitError::AboveBurst => {
                refused("a limiter of that rate")
            }
        })
    }

    /// Period, nanoseconds.
    pub fn period_nanos(self) -> u64 {
        self.period().get()
    }

    fn period(self) -> NonZeroU64 {
        NonZeroU64::new(self.period_micros.get() * 1_000).unwrap_or(NonZeroU64::MIN)
    }

    /// The most that a half-open period may hold at an implementation with those claims, as so many acquirers see it.
    /// Each of them may see one grant late.
    fn fullest(self, asker: &Registered, waiters: Threads) -> u64 {
        let Quota { permits, burst, .. } = self.quota();
        let period = self.period();
        // An implementation that claims neither has a bucket too, and may fill it at once.
        let limit = match asker.capabilities.claims.contains(&Claim::WindowBound) {
            true => Limit::Window { permits, period },
            false => Limit::Rate {
                permits,
                period,
                burst,
            },
        };
        waiters.get() + limit.most_in(period.get() - 1)
    }

    /// Permits a second.
    pub fn per_second(self) -> u64 {
        self.permits.get() * 1_000_000 / self.period_micros.get()
    }

    /// How full the fullest half-open period was. `grants` are in order of time.
    pub fn excess(self, grants: &[Grant]) -> Excess {
        let moments: Vec<u64> = grants.iter().map(|grant| grant.at).collect();
        let period_nanos = self.period_nanos();
        Excess {
            period_nanos,
            allowed: self.permits.get(),
            worst: fullest(self.period(), &moments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_period_is_half_open() {
        let rate = Rate {
            permits: Within::try_from(2).expect("within"),
            period_micros: Within::try_from(1).expect("within"),
        };
        let worst = |moments: &[u64]| {
            let grant = |at: &u64| Grant {
                at: *at,
                by: 0,
                wakes: 1,
            };
            let grants: Vec<Grant> = moments.iter().map(grant).collect();
            rate.excess(&grants).worst
        };
        assert_eq!(worst(&[]), 0);
        assert_eq!(worst(&[0, 999, 1_000]), 2);
        assert_eq!(worst(&[0, 998, 999, 1_000]), 3);
    }
}
