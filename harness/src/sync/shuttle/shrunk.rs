//! A failing schedule with fewer switches: delta debugging over its stretches (Zeller, Hildebrandt 2002), each
//! attempt being recorded anew, so that what is left is as exact as what was found.

use ::std::time::{Duration, Instant};

use super::super::schedule::{Failure, Schedule, Steps};
use super::recorded::{Follower, stretches};

/// Attempts at most, each of which leaves the stacks of its threads behind where it fails. They, and not the
/// time, should decide: then the result does not depend on the machine.
const ATTEMPTS: u32 = 1_000;

/// Takes stretches out, many at a time and then fewer, as long as `fails` still fails. `None` when nothing with
/// fewer switches does.
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
        // Single ones are tried until none of them can go: what is left may allow what it did not before.
        size = match size {
            1 if better => 1,
            _ => (size / 2).min(steps.runs.len()),
        };
    }
    shrunk
}
