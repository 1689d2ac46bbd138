//! L2 (`RateBound`): at rate r with burst b, any interval has at most b + r · length grants.

use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::limiter::{Limiters, Quota};
use flowmeter_harness::spec::limiter::{Grant, Limit, judge};
use flowmeter_harness::sync::World;

use super::{Form, acquired, is_virtual, nanos, pause, rate, several, tried};
use crate::properties::{Case, Property, Reliance, obeys};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "l2-rate",
    statement: "No interval holds more acquisitions than the burst and what the rate adds in it.",
    relied_on_by: Reliance::Everybody,
};

/// Two at once, and one more in each millisecond.
const PERMITS: u32 = 4;
const BURST: u32 = 2;
const PERIOD: Duration = Duration::from_millis(4);

pub(super) fn try_cases<L: Limiters, W: World>() -> Vec<Case> {
    vec![Case::new("tries", tries::<L, W>)]
}

pub(super) fn cases<L: Limiters, F: Form<L>, W: World>() -> Vec<Case> {
    let form = F::NAME;
    vec![
        Case::new(format!("{form}, alone"), alone::<L, F, W>),
        Case::new(
            format!("{form}, several threads"),
            several_threads::<L, F, W>,
        ),
        Case::new(
            format!("{form}, a burst after a pause"),
            after_a_pause::<L, F, W>,
        ),
    ]
}

fn fresh<L: Limiters>() -> L {
    let quota = Quota {
        permits: several(PERMITS),
        period: PERIOD,
        burst: several(BURST),
    };
    L::with_quota(quota).unwrap_or_else(|error| violated!("L4: {quota:?} was refused: {error:?}"))
}

fn limit<W: World>() -> Limit {
    rate::<W>(PERMITS, PERIOD, BURST)
}

fn tries<L: Limiters, W: World>() {
    let limiter = fresh::<L>();
    let mut grants = Vec::new();
    let begin = W::now_nanos();
    // Virtual time does not pass while nobody waits.
    let most = if is_virtual::<W>() {
        3 * BURST
    } else {
        u32::MAX
    };
    for tries in 0..most {
        // The burst is there, however late this thread is.
        if tries >= BURST && W::now_nanos() - begin >= nanos(PERIOD) {
            break;
        }
        grants.extend(tried::<L, W>(&limiter));
    }
    holds!(
        grants.len() >= BURST as usize,
        "L2: a burst that was there was refused"
    );
    obeys(judge(limit::<W>(), &grants));
}

fn alone<L: Limiters, F: Form<L>, W: World>() {
    let limiter = fresh::<L>();
    let grants: Vec<Grant> = (0..BURST + 3)
        .map(|_| acquired::<L, F, W>(&limiter))
        .collect();
    obeys(judge(limit::<W>(), &grants));
}

fn several_threads<L: Limiters, F: Form<L>, W: World>() {
    let (threads, each) = if W::name() == "loom" { (2, 2) } else { (4, 2) };
    let shared = Arc::new(fresh::<L>());
    let acquiring: Vec<_> = (0..threads)
        .map(|_| {
            let limiter = shared.clone();
            W::spawn(move || {
                let grants = (0..each).map(|_| acquired::<L, F, W>(&limiter));
                grants.collect::<Vec<_>>()
            })
        })
        .collect();
    let grants: Vec<Grant> = acquiring.into_iter().flat_map(W::join).collect();
    obeys(judge(limit::<W>(), &grants));
}

/// No more than the burst is saved up.
fn after_a_pause<L: Limiters, F: Form<L>, W: World>() {
    let limiter = fresh::<L>();
    let mut grants = vec![acquired::<L, F, W>(&limiter)];
    pause::<L, F>(PERIOD);
    for _ in 0..BURST + 2 {
        grants.push(acquired::<L, F, W>(&limiter));
    }
    obeys(judge(limit::<W>(), &grants));
}
