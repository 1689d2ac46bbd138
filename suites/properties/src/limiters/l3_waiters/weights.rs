//! Acquisitions that weigh several permits.

use std::time::Duration;

use flowmeter_harness::sync::world;

use super::super::{Kept, PERIOD, is_virtual, limiter, several, time_stands_still};
use crate::Case;
use crate::design::limiters::Limiters;
use crate::form::Way;

pub(super) fn cases(limiters: Limiters, way: Way, kept: Kept) -> Vec<Case> {
    let mut cases = vec![
        Case::new(format!("{way}, weights"), move || {
            weights(limiters, way, kept);
        }),
        Case::new(format!("{way}, light and heavy"), move || {
            light_and_heavy(limiters, way);
        }),
    ];
    if kept.first_come && time_stands_still() {
        cases.push(Case::new(format!("{way}, heavy ones in line"), move || {
            heavy_in_line(limiters, way, kept);
        }));
    }
    if way == Way::Async {
        cases.push(Case::new(
            "async, a heavy one is dropped before a light one",
            move || heavy_dropped(limiters, kept),
        ));
    }
    cases
}

fn weights(limiters: Limiters, way: Way, kept: Kept) {
    let limiter = limiter(limiters, 3, PERIOD);
    let mut line = kept.line(3, is_virtual());
    for (asker, weight) in [4, u32::MAX, 2, 1, 3].into_iter().enumerate() {
        line.weighs(asker, weight, || way.acquire_weight(&limiter, weight));
    }
    line.judge();
}

/// One thread waits for all permits while another acquires one at a time: both are served.
fn light_and_heavy(limiters: Limiters, way: Way) {
    let shared = limiter(limiters, 2, PERIOD);
    let other = shared.clone();
    let heavy = world::spawn(move || way.acquire_weight(&other, 2));
    for _ in 0..2 {
        holds_eq!(
            way.acquire_weight(&shared, 1),
            Ok(()),
            "L3: the burst holds 1"
        );
    }
    holds_eq!(world::join(heavy), Ok(()), "L3: the burst holds 2");
}

/// Light acquisitions wait behind heavy ones, which get their turn.
fn heavy_in_line(limiters: Limiters, way: Way, kept: Kept) {
    const PERMITS: u32 = 4;
    let shared = limiter(limiters, PERMITS, PERIOD);
    let nanosecond = limiter(limiters, 1, Duration::from_nanos(1));
    assert_eq!(way.acquire_weight(&nanosecond, 1), Ok(()));
    let mut line = kept.line(PERMITS, true);
    for _ in 0..PERMITS {
        line.tries(&shared);
    }
    let weights = [PERMITS, 1, 1, 3, 1, PERMITS, 1];
    let waiting: Vec<_> = (weights.into_iter().enumerate())
        .map(|(asker, weight)| {
            line.asks(asker, weight, None);
            let limiter = shared.clone();
            let waiter = world::spawn(move || {
                let answer = way.acquire_weight(&limiter, weight);
                holds_eq!(answer, Ok(()), "L3: the burst holds {weight}");
                (world::now_nanos(), asker)
            });
            // Time passes during this wait.
            assert_eq!(way.acquire_weight(&nanosecond, 1), Ok(()));
            waiter
        })
        .collect();
    let mut served: Vec<(u64, usize)> = waiting.into_iter().map(world::join).collect();
    served.sort_unstable();
    for (at, asker) in served {
        line.granted_at(asker, at);
    }
    line.judge();
}

/// A light acquisition waits behind a heavy one. When that is dropped, the light one is granted at once.
fn heavy_dropped(limiters: Limiters, kept: Kept) {
    let limiter = limiter(limiters, 2, PERIOD);
    // Elsewhere time may pass before it is polled again.
    let mut line = kept.line(2, time_stands_still());
    line.tries(&limiter);
    let mut heavy = limiter.acquire_weight_async(several(2));
    let mut light = limiter.acquire_weight_async(several(1));
    if line.polls(0, 2, heavy.as_mut()) {
        return line.judge();
    }
    let is_served = line.polls(1, 1, light.as_mut());
    line.drops(0, heavy);
    if !is_served {
        line.weighs(1, 1, || world::block_on(light));
    }
    line.judge();
}
