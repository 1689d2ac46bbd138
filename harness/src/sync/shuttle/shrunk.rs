//! Reduces the switches of a failing schedule by delta debugging over its stretches (Zeller, Hildebrandt 2002). Each
//! attempt is recorded anew, so the result is as exact as the original.

use ::std::time::{Duration, Instant};

use super::super::schedule::{Failure, Schedule, Steps};
use super::recorded::{Follower, stretches};

/// Limit of attempts; each failing one leaks the stacks of its threads. This limit, rather than the time, should end
/// the search: then the result does not depend on the machine.
const ATTEMPTS: u32 = 1_000;

/// Removes stretches, many at a time and then fewer, as long as `fails` still fails. `None` if nothing with fewer
/// switches fails.
pub(super) fn shrink(
    found: &Steps,
    mut fails: impl FnMut(Follower) -> Option<Failure>,
    limit: Duration,
) -> Option<Failure> {
    let began = Instant::now();
    let mut attempts = 0;
    let mut shrunk = None;
    let mut steps = found.clone();
    let mut size = steps.runs.len();
    while size > 0 {
        let (mut from, mut better) = (0, false);
        while from < steps.runs.len() {
            attempts += 1;
            if attempts > ATTEMPTS || began.elapsed() > limit {
                return shrunk;
            }
            let mut kept = stretches(&steps);
            kept.drain(from..kept.len().min(from + size));
            let failed = fails(Follower::along(kept, &steps));
            match failed.as_ref().map(|failed| &failed.schedule) {
                Some(Some(Schedule::Steps(fewer))) if fewer.switches() < steps.switches() => {
                    steps = fewer.clone();
                    shrunk = failed;
                    better = true;
                }
                _ => from += size,
            }
        }
        // Single stretches are tried until none can be removed: each removal may permit further ones.
        size = match size {
            1 if better => 1,
            _ => (size / 2).min(steps.runs.len()),
        };
    }
    shrunk
}
