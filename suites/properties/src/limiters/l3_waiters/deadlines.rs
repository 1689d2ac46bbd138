//! Deadlines of a single waiter, at the edge, and of several waiters in line.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::spec::limiter::Event;
use flowmeter_harness::sync::{Deadline, world};

use super::super::{Kept, PERIOD, is_virtual, limiter, nanos, pause, surely, time_stands_still};
use super::must_be_back;
use crate::Case;
use crate::design::limiters::Limiters;
use crate::form::Way;

pub(super) fn cases(limiters: Limiters, way: Way, kept: Kept) -> Vec<Case> {
    let mut cases = vec![
        Case::new("deadlines", move || deadlines(limiters, way, kept)),
        Case::new("a deadline at the permit's return", move || {
            at_the_edge(limiters, way, kept);
        }),
        Case::new("a deadline when two permits are back", move || {
            second_at_the_edge(limiters, way, kept);
        }),
    ];
    if time_stands_still() {
        cases.push(Case::new("deadlines in line", move || {
            in_line(limiters, way, kept);
        }));
        if way == Way::Async {
            cases.push(Case::new("polled after its deadline", move || {
                polled_late(limiters);
            }));
        }
    }
    // Loom has no room for two tasks, their timers and a third acquisition.
    if way == Way::Blocking || world::name() != "loom" {
        cases.push(Case::new("the first times out", move || {
            timed_out(limiters, way, true);
        }));
        cases.push(Case::new("a later one times out", move || {
            timed_out(limiters, way, false);
        }));
    }
    cases
}

fn deadlines(limiters: Limiters, way: Way, kept: Kept) {
    let limiter = limiter(limiters, 1, PERIOD);
    let mut line = kept.line(1, is_virtual());
    let begin = world::now_nanos();
    let past = Deadline::from_nanos(0);
    let next = Deadline::after(begin, Duration::from_nanos(1));
    let soon = Deadline::after(begin, PERIOD / 4);
    for (asker, deadline) in [past, past, next, soon, Deadline::NEVER]
        .into_iter()
        .enumerate()
    {
        line.acquires_until(asker, deadline, |until| way.acquire_until(&limiter, until));
    }
    line.judge();
}

/// The permit is back at the deadline itself: the waiter is granted it.
fn at_the_edge(limiters: Limiters, way: Way, kept: Kept) {
    let limiter = limiter(limiters, 1, PERIOD);
    let mut line = kept.line(1, is_virtual());
    let begin = world::now_nanos();
    for (asker, deadline) in [Deadline::NEVER, Deadline::after(begin, PERIOD)]
        .into_iter()
        .enumerate()
    {
        line.acquires_until(asker, deadline, |until| way.acquire_until(&limiter, until));
    }
    line.judge();
}

/// Two permits are back at the deadline of a waiter, perhaps behind another one: there is a permit for each.
fn second_at_the_edge(limiters: Limiters, way: Way, kept: Kept) {
    let shared = limiter(limiters, 2, PERIOD);
    let begin = world::now_nanos();
    for _ in 0..2 {
        assert!(way.acquire_until(&shared, Deadline::NEVER));
    }
    let other = shared.clone();
    let patient = world::spawn(move || way.acquire_until(&other, Deadline::NEVER));
    world::yield_now();
    let is_granted = way.acquire_until(&shared, Deadline::after(begin, PERIOD));
    must_be_back(kept.limit(2, PERIOD), begin);
    holds!(world::join(patient), "L3: timed out before the end of time");
    holds!(
        is_granted || !is_virtual(),
        "L3: timed out although a permit was free"
    );
}

/// One waiter gives up at its deadline while another waits. The other is served in its time.
fn timed_out(limiters: Limiters, way: Way, spawned_gives_up: bool) {
    let shared = limiter(limiters, 1, PERIOD);
    let begin = world::now_nanos();
    assert!(way.acquire_until(&shared, Deadline::NEVER));
    let soon = Deadline::after(begin, PERIOD / 4);
    let (spawned, own) = if spawned_gives_up {
        (soon, Deadline::NEVER)
    } else {
        (Deadline::NEVER, soon)
    };
    let other = shared.clone();
    let waiter = world::spawn(move || way.acquire_until(&other, spawned));
    let granted = u64::from(way.acquire_until(&shared, own)) + u64::from(world::join(waiter));
    holds!(
        granted >= 1,
        "L3: the one without a deadline was not served"
    );
    let after = world::now_nanos() - begin;
    holds!(
        after >= surely(granted * nanos(PERIOD)),
        "L3: {granted} grants too many after {after} ns"
    );
    // The waiter that gave up holds no permit: the next grant comes one period after the last.
    holds!(
        way.acquire_until(&shared, Deadline::NEVER),
        "L3: timed out before the end of time"
    );
    // Elsewhere a waiter that could be served may sleep until its later timer fires.
    if time_stands_still() && granted == 1 {
        holds_eq!(
            world::now_nanos() - begin,
            2 * nanos(PERIOD),
            "L3: a waiter that timed out kept its permit"
        );
    }
}

/// The permit is back before the deadline of a future that is polled only after it. "Timed out" would be wrong: a permit
/// was free in time.
fn polled_late(limiters: Limiters) {
    let limiter = limiter(limiters, 1, PERIOD);
    let begin = world::now_nanos();
    assert!(Way::Async.acquire_until(&limiter, Deadline::NEVER));
    let mut late = limiter.acquire_until_async(Deadline::after(begin, PERIOD * 3));
    let mut context = Context::from_waker(Waker::noop());
    let polled = late.as_mut().poll(&mut context);
    holds!(
        polled.is_pending(),
        "L3: a permit that was away was granted"
    );
    pause(limiters, Way::Async, PERIOD * 4);
    holds_eq!(
        late.as_mut().poll(&mut context),
        Poll::Ready(true),
        "L3: a late poll was not granted a permit that was free in time"
    );
}

/// Some waiters in line have deadlines that pass there, one has its turn at its deadline, and some have no deadline.
fn in_line(limiters: Limiters, way: Way, kept: Kept) {
    let shared = limiter(limiters, 1, PERIOD);
    let nanosecond = limiter(limiters, 1, Duration::from_nanos(1));
    assert!(way.acquire_until(&nanosecond, Deadline::NEVER));
    let mut line = kept.line(1, true);
    line.tries(&shared);
    let begin = world::now_nanos();
    let half_periods = [None, Some(1), None, Some(6), Some(7), None];
    let waiting: Vec<_> = (half_periods.into_iter().enumerate())
        .map(|(asker, halves)| {
            let deadline = halves.map_or(Deadline::NEVER, |halves: u32| {
                Deadline::after(begin, PERIOD * halves / 2)
            });
            line.asks(asker, 1, halves.map(|_| deadline.as_nanos()));
            let limiter = shared.clone();
            let waiter = world::spawn(move || {
                let is_granted = way.acquire_until(&limiter, deadline);
                (world::now_nanos(), asker, is_granted)
            });
            // Time passes during this wait.
            assert!(way.acquire_until(&nanosecond, Deadline::NEVER));
            waiter
        })
        .collect();
    let mut answers: Vec<(u64, usize, bool)> = waiting.into_iter().map(world::join).collect();
    answers.sort_unstable();
    for (at, asker, is_granted) in answers {
        if is_granted {
            line.granted_at(asker, at);
        } else {
            line.write(Event::TimedOut { asker, at });
        }
    }
    line.judge();
}
