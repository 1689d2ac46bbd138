//! Acquisitions that weigh several permits.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::limiter::{AsyncWeightedLimit, LimitError, Limiters};
use flowmeter_harness::sync::World;

use super::super::{Kept, PERIOD, is_virtual, limiter, several, time_stands_still};
use crate::properties::Case;

pub(in super::super) fn dropped_weight_cases<L: AsyncWeightedLimit, W: World>(
    kept: Kept,
) -> Vec<Case> {
    vec![Case::new(
        "async, a heavy one is dropped before a light one",
        move || heavy_dropped::<L, W>(kept),
    )]
}

pub(in super::super) fn weight_cases<L: Limiters, W: World>(
    kept: Kept,
    form: &'static str,
    acquire: fn(&L, NonZeroU32) -> Result<(), LimitError>,
) -> Vec<Case> {
    let mut cases = vec![
        Case::new(format!("{form}, weights"), move || {
            weights::<L, W>(kept, acquire);
        }),
        Case::new(format!("{form}, light and heavy"), move || {
            light_and_heavy::<L, W>(acquire);
        }),
    ];
    if kept.first_come && time_stands_still::<W>() {
        cases.push(Case::new(
            format!("{form}, heavy ones in line"),
            move || heavy_in_line::<L, W>(kept, acquire),
        ));
    }
    cases
}

fn weights<L: Limiters, W: World>(
    kept: Kept,
    acquire: fn(&L, NonZeroU32) -> Result<(), LimitError>,
) {
    let limiter = limiter::<L>(3, PERIOD);
    let mut line = kept.line::<W>(3, is_virtual::<W>());
    for (who, weight) in [4, u32::MAX, 2, 1, 3].into_iter().enumerate() {
        line.weighs(who, weight, || acquire(&limiter, several(weight)));
    }
    line.judge();
}

/// One waits for all permits while another asks for one: both are served.
fn light_and_heavy<L: Limiters, W: World>(acquire: fn(&L, NonZeroU32) -> Result<(), LimitError>) {
    let shared = Arc::new(limiter::<L>(2, PERIOD));
    let other = shared.clone();
    let heavy = W::spawn(move || acquire(&other, several(2)));
    for _ in 0..2 {
        holds_eq!(
            acquire(&shared, several(1)),
            Ok(()),
            "L3: the burst holds 1"
        );
    }
    holds_eq!(W::join(heavy), Ok(()), "L3: the burst holds 2");
}

/// Light ones come behind heavy ones, which have their turn all the same.
fn heavy_in_line<L: Limiters, W: World>(
    kept: Kept,
    acquire: fn(&L, NonZeroU32) -> Result<(), LimitError>,
) {
    const PERMITS: u32 = 4;
    let shared = Arc::new(limiter::<L>(PERMITS, PERIOD));
    let nanosecond = limiter::<L>(1, Duration::from_nanos(1));
    assert_eq!(acquire(&nanosecond, NonZeroU32::MIN), Ok(()));
    let mut line = kept.line::<W>(PERMITS, true);
    for _ in 0..PERMITS {
        line.tries(&*shared);
    }
    let weights = [PERMITS, 1, 1, 3, 1, PERMITS, 1];
    let waiting: Vec<_> = (weights.into_iter().enumerate())
        .map(|(who, weight)| {
            line.asks(who, weight, None);
            let limiter = shared.clone();
            let waiter = W::spawn(move || {
                let answer = acquire(&limiter, several(weight));
                holds_eq!(answer, Ok(()), "L3: the burst holds {weight}");
                (W::now_nanos(), who)
            });
            // Time passes when it waits.
            assert_eq!(acquire(&nanosecond, NonZeroU32::MIN), Ok(()));
            waiter
        })
        .collect();
    let mut served: Vec<(u64, usize)> = waiting.into_iter().map(W::join).collect();
    served.sort_unstable();
    for (at, who) in served {
        line.granted_at(who, at);
    }
    line.judge();
}

/// A light one waits behind a heavy one, which is dropped: there is a permit at once.
fn heavy_dropped<L: AsyncWeightedLimit, W: World>(kept: Kept) {
    let limiter = limiter::<L>(2, PERIOD);
    // Elsewhere time may pass before it is polled again.
    let mut line = kept.line::<W>(2, time_stands_still::<W>());
    line.tries(&limiter);
    let mut heavy = Box::pin(limiter.acquire_weight_async(several(2)));
    let mut light = Box::pin(limiter.acquire_weight_async(several(1)));
    if line.polls(0, 2, heavy.as_mut()) {
        return line.judge();
    }
    let is_served = line.polls(1, 1, light.as_mut());
    line.drops(0, heavy);
    if !is_served {
        line.weighs(1, 1, || W::block_on(light));
    }
    line.judge();
}
