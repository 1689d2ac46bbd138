//! Faults injected into limiters: what is granted, and when.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::limiter::{Attempt, LimitError, Quota};
use flowmeter_harness::sync::Deadline;

use super::deadlines::{close_to, other};
use super::future::awaited;
use super::told;
use crate::design::limiters::{Acquires, Design, Limiter, Limiters, Makes, Pending, Weighed};

/// The design with limiters that behave like the real ones, except for one fault.
pub(crate) fn lying(design: Design) -> Design {
    Design {
        limiters: Box::leak(Box::new(LyingLimiters(design.limiters))),
        ..design
    }
}

struct LyingLimiters(Limiters);

struct Lying(Limiter);

/// A quota that every design has.
const PLAIN: Quota = Quota {
    permits: NonZeroU32::MIN,
    period: Duration::from_millis(1),
    burst: NonZeroU32::MIN,
};

fn instead_of(quota: Quota) -> Quota {
    let mut quota = quota;
    if told("a quota has one permit more") {
        quota.permits = quota.permits.saturating_add(1);
        quota.burst = quota.burst.saturating_add(1);
    }
    if told("a quota has one permit fewer") {
        let fewer = |count: NonZeroU32| NonZeroU32::new(count.get() - 1).unwrap_or(count);
        quota.permits = fewer(quota.permits);
        quota.burst = fewer(quota.burst);
    }
    if told("a period is short") {
        quota.period -= quota.period / 8;
    }
    if told("a period is long") {
        quota.period = quota.period.saturating_add(quota.period / 8);
    }
    if told("a period drifts") {
        quota.period = quota.period.saturating_add(Duration::from_nanos(1));
    }
    quota
}

impl Makes for LyingLimiters {
    fn with_quota(&'static self, quota: Quota) -> Result<Limiter, LimitError> {
        if told("a quota is refused") {
            return Err(LimitError::ImpossibleRate);
        }
        let made = match self.0.with_quota(instead_of(quota)) {
            Err(_) if told("an impossible quota is admitted") => self.0.with_quota(PLAIN),
            Err(_) if told("a quota is refused for another reason") => Err(LimitError::AboveBurst),
            answer => answer,
        };
        Ok(Arc::new(Lying(made?)))
    }
}

impl Acquires for Lying {
    fn try_acquire(&self) -> Attempt {
        if told("a try is granted for nothing") {
            return Attempt::Granted;
        }
        if told("a try is refused for nothing") {
            return Attempt::NotBefore(None);
        }
        match self.0.try_acquire() {
            Attempt::Granted if told("a try takes a permit and is refused") => {
                Attempt::NotBefore(None)
            }
            Attempt::Granted => Attempt::Granted,
            Attempt::NotBefore(_) if told("a try that is refused is granted") => Attempt::Granted,
            Attempt::NotBefore(moment) => Attempt::NotBefore(moment.map(close_to)),
        }
    }

    fn acquire(&self) {
        if told("a permit is granted for nothing") {
            return;
        }
        self.0.acquire();
        if told("two permits are taken for one") {
            self.0.acquire();
        }
    }

    fn acquire_until(&self, deadline: Deadline) -> bool {
        unasked().unwrap_or_else(|| {
            let granted = self.0.acquire_until(other(deadline));
            granted ^ told("a permit until a deadline is answered otherwise")
        })
    }

    fn acquire_async(&self) -> Pending<'_, ()> {
        Box::pin(async {
            if told("a permit is granted for nothing") {
                return;
            }
            awaited(self.0.acquire_async()).await;
            if told("two permits are taken for one") {
                self.0.acquire_async().await;
            }
        })
    }

    fn acquire_until_async(&self, deadline: Deadline) -> Pending<'_, bool> {
        Box::pin(async move {
            if let Some(answer) = unasked() {
                return answer;
            }
            let granted = awaited(self.0.acquire_until_async(other(deadline))).await;
            granted ^ told("a permit until a deadline is answered otherwise")
        })
    }

    fn acquire_weight(&self, weight: NonZeroU32) -> Weighed {
        match weighed(weight) {
            Ok(weight) => refused(self.0.acquire_weight(weight)),
            Err(answer) => answer,
        }
    }

    fn acquire_weight_async(&self, weight: NonZeroU32) -> Pending<'_, Weighed> {
        Box::pin(async move {
            match weighed(weight) {
                Ok(weight) => refused(awaited(self.0.acquire_weight_async(weight)).await),
                Err(answer) => answer,
            }
        })
    }
}

/// The answer without asking the limiter.
fn unasked() -> Option<bool> {
    if told("a permit until a deadline is granted for nothing") {
        return Some(true);
    }
    told("a permit until a deadline is refused for nothing").then_some(false)
}

/// The weight that is acquired instead of that one, or the answer without acquiring.
fn weighed(weight: NonZeroU32) -> Result<NonZeroU32, Weighed> {
    if told("a weight is granted for nothing") {
        return Err(Ok(()));
    }
    if told("a weight is refused for nothing") {
        return Err(Err(LimitError::AboveBurst));
    }
    if told("a weight counts as one") {
        return Ok(NonZeroU32::MIN);
    }
    Ok(weight)
}

fn refused(answer: Weighed) -> Weighed {
    match answer {
        Err(_) if told("a weight that is refused is granted") => Ok(()),
        Err(_) if told("a weight is refused for another reason") => Err(LimitError::ImpossibleRate),
        answer => answer,
    }
}
