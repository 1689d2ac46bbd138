//! Deadlines: of one alone, at the edge, and of some of those in line.

use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::limiter::Limiters;
use flowmeter_harness::spec::limiter::Event;
use flowmeter_harness::sync::{Deadline, World};

use super::super::{Kept, PERIOD, is_virtual, limiter, nanos, surely, time_stands_still};
use super::must_be_back;
use crate::properties::Case;

pub(in super::super) fn deadline_cases<L: Limiters, W: World>(
    kept: Kept,
    acquire_until: fn(&L, Deadline) -> bool,
) -> Vec<Case> {
    let mut cases = vec![
        Case::new("deadlines", move || deadlines::<L, W>(kept, acquire_until)),
        Case::new("a deadline at the permit's return", move || {
            at_the_edge::<L, W>(kept, acquire_until);
        }),
        Case::new("a deadline when two permits are back", move || {
            second_at_the_edge::<L, W>(kept, acquire_until);
        }),
    ];
    if time_stands_still::<W>() {
        cases.push(Case::new("deadlines in line", move || {
            in_line::<L, W>(kept, acquire_until);
        }));
    }
    cases
}

pub(in super::super) fn stranded_cases<L: Limiters, W: World>(
    acquire_until: fn(&L, Deadline) -> bool,
) -> Vec<Case> {
    vec![
        Case::new("the first times out", move || {
            timed_out::<L, W>(acquire_until, true);
        }),
        Case::new("a later one times out", move || {
            timed_out::<L, W>(acquire_until, false);
        }),
    ]
}

fn deadlines<L: Limiters, W: World>(kept: Kept, acquire_until: fn(&L, Deadline) -> bool) {
    let limiter = limiter::<L>(1, PERIOD);
    let mut line = kept.line::<W>(1, is_virtual::<W>());
    let begin = W::now_nanos();
    let past = Deadline::from_nanos(0);
    let next = Deadline::after(begin, Duration::from_nanos(1));
    let soon = Deadline::after(begin, PERIOD / 4);
    for (who, deadline) in [past, past, next, soon, Deadline::NEVER]
        .into_iter()
        .enumerate()
    {
        line.acquires_until(who, deadline, |until| acquire_until(&limiter, until));
    }
    line.judge();
}

/// The permit is back at the deadline itself: one who waits for both is granted it.
fn at_the_edge<L: Limiters, W: World>(kept: Kept, acquire_until: fn(&L, Deadline) -> bool) {
    let limiter = limiter::<L>(1, PERIOD);
    let mut line = kept.line::<W>(1, is_virtual::<W>());
    let begin = W::now_nanos();
    for (who, deadline) in [Deadline::NEVER, Deadline::after(begin, PERIOD)]
        .into_iter()
        .enumerate()
    {
        line.acquires_until(who, deadline, |until| acquire_until(&limiter, until));
    }
    line.judge();
}

/// Two permits are back at the deadline of one who waits, perhaps behind another: there is one for each.
fn second_at_the_edge<L: Limiters, W: World>(kept: Kept, acquire_until: fn(&L, Deadline) -> bool) {
    let shared = Arc::new(limiter::<L>(2, PERIOD));
    let begin = W::now_nanos();
    for _ in 0..2 {
        assert!(acquire_until(&shared, Deadline::NEVER));
    }
    let other = shared.clone();
    let patient = W::spawn(move || acquire_until(&other, Deadline::NEVER));
    W::yield_now();
    let is_granted = acquire_until(&shared, Deadline::after(begin, PERIOD));
    must_be_back::<W>(kept.limit::<W>(2, PERIOD), begin);
    holds!(W::join(patient), "L3: timed out before the end of time");
    holds!(
        is_granted || !is_virtual::<W>(),
        "L3: timed out although a permit was free"
    );
}

/// One gives up at its deadline while another waits: that one is served in its time.
fn timed_out<L: Limiters, W: World>(
    acquire_until: fn(&L, Deadline) -> bool,
    spawned_gives_up: bool,
) {
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    let begin = W::now_nanos();
    assert!(acquire_until(&shared, Deadline::NEVER));
    let soon = Deadline::after(begin, PERIOD / 4);
    let (spawned, own) = if spawned_gives_up {
        (soon, Deadline::NEVER)
    } else {
        (Deadline::NEVER, soon)
    };
    let other = shared.clone();
    let waiter = W::spawn(move || acquire_until(&other, spawned));
    let granted = u64::from(acquire_until(&shared, own)) + u64::from(W::join(waiter));
    holds!(
        granted >= 1,
        "L3: the one without a deadline was not served"
    );
    let after = W::now_nanos() - begin;
    holds!(
        after >= surely::<W>(granted * nanos(PERIOD)),
        "L3: {granted} grants too many after {after} ns"
    );
    // Who gave up holds nothing: the next grant comes one period after the last.
    holds!(
        acquire_until(&shared, Deadline::NEVER),
        "L3: timed out before the end of time"
    );
    // Elsewhere one who could be served may be held up until its later timer fires.
    if time_stands_still::<W>() && granted == 1 {
        holds_eq!(
            W::now_nanos() - begin,
            2 * nanos(PERIOD),
            "L3: a waiter that timed out kept its permit"
        );
    }
}

/// Of those in line some have deadlines that pass there, one has its turn at its deadline, and some have none.
fn in_line<L: Limiters, W: World>(kept: Kept, acquire_until: fn(&L, Deadline) -> bool) {
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    let nanosecond = limiter::<L>(1, Duration::from_nanos(1));
    assert!(acquire_until(&nanosecond, Deadline::NEVER));
    let mut line = kept.line::<W>(1, true);
    line.tries(&*shared);
    let begin = W::now_nanos();
    let half_periods = [None, Some(1), None, Some(6), Some(7), None];
    let waiting: Vec<_> = (half_periods.into_iter().enumerate())
        .map(|(who, halves)| {
            let deadline = halves.map_or(Deadline::NEVER, |halves: u32| {
                Deadline::after(begin, PERIOD * halves / 2)
            });
            line.asks(who, 1, halves.map(|_| deadline.as_nanos()));
            let limiter = shared.clone();
            let waiter = W::spawn(move || {
                let is_granted = acquire_until(&limiter, deadline);
                (W::now_nanos(), who, is_granted)
            });
            // Time passes when it waits.
            assert!(acquire_until(&nanosecond, Deadline::NEVER));
            waiter
        })
        .collect();
    let mut answers: Vec<(u64, usize, bool)> = waiting.into_iter().map(W::join).collect();
    answers.sort_unstable();
    for (at, who, is_granted) in answers {
        if is_granted {
            line.granted_at(who, at);
        } else {
            line.write(Event::TimedOut { who, at });
        }
    }
    line.judge();
}
