//! Futures that are dropped, or no longer polled.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use flowmeter_harness::limiter::Attempt;
use flowmeter_harness::spec::limiter::Event;
use flowmeter_harness::sync::world;

use super::super::{Kept, PERIOD, is_virtual, limiter, nanos, pause, time_stands_still};
use super::must_be_back;
use crate::Case;
use crate::design::limiters::{Limiter, Limiters};
use crate::form::Way;

pub(super) fn cases(limiters: Limiters, kept: Kept) -> Vec<Case> {
    let mut cases = vec![
        Case::new("the first is dropped", move || {
            dropped(limiters, kept, true);
        }),
        Case::new("a later one is dropped", move || {
            dropped(limiters, kept, false);
        }),
        Case::new("the last ones are dropped, and another comes", move || {
            dropped_and_replaced(limiters, kept, &[2, 1]);
        }),
        Case::new(
            "one between others is dropped, and another comes",
            move || {
                dropped_and_replaced(limiters, kept, &[1]);
            },
        ),
        Case::new("dropped when the permit is back", move || {
            dropped_late(limiters, kept, false);
        }),
        Case::new(
            "dropped when another has seen that the permit is back",
            move || {
                dropped_late(limiters, kept, true);
            },
        ),
        Case::new(
            "a try is refused, the first is dropped, and another tries",
            move || {
                tries_after_a_drop(limiters, kept);
            },
        ),
        Case::new("the first is not polled any more", move || {
            unpolled(limiters, kept);
        }),
        Case::new("a waker that tries when it is dropped", move || {
            tries_at_drop(limiters, kept);
        }),
    ];
    // Loom has no room for two limiters and their timers.
    if world::name() != "loom" {
        cases.push(Case::new(
            "the first is dropped while another sleeps",
            move || dropped_before_a_sleeper(limiters, kept),
        ));
        cases.push(Case::new("dropped when all is back once more", move || {
            dropped_when_full(limiters, kept);
        }));
    }
    cases
}

fn dropped(limiters: Limiters, kept: Kept, is_first: bool) {
    let limiter = limiter(limiters, 1, PERIOD);
    // Elsewhere the timer of its former place may fire before it is polled again.
    let mut line = kept.line(1, time_stands_still());
    line.tries(&limiter);
    let mut first = limiter.acquire_async();
    let mut second = limiter.acquire_async();
    if line.polls(0, 1, first.as_mut()) || line.polls(1, 1, second.as_mut()) {
        return line.judge();
    }
    if is_first {
        line.drops(0, first);
        line.awaits(1, 1, second);
    } else {
        line.drops(1, second);
        line.awaits(0, 1, first);
    }
    line.judge();
}

/// Three futures wait, some are dropped in that order, and another arrives. The remaining ones are served in their
/// time.
fn dropped_and_replaced(limiters: Limiters, kept: Kept, dropped: &[usize]) {
    const NEWCOMER: usize = 3;
    let limiter = limiter(limiters, 1, PERIOD);
    // Elsewhere the timer of a former place may fire before a future is polled again.
    let mut line = kept.line(1, time_stands_still());
    line.tries(&limiter);
    let mut waiting: Vec<_> = (0..NEWCOMER)
        .map(|_| Some(limiter.acquire_async()))
        .collect();
    for (asker, future) in waiting.iter_mut().enumerate() {
        let future = future.as_mut().expect("no future is dropped yet");
        if line.polls(asker, 1, future.as_mut()) {
            return line.judge();
        }
    }
    for &asker in dropped {
        line.drops(asker, waiting[asker].take());
    }
    let mut registering = limiter.acquire_async();
    if line.polls(NEWCOMER, 1, registering.as_mut()) {
        return line.judge();
    }
    for (asker, future) in waiting.into_iter().enumerate() {
        if let Some(future) = future {
            line.awaits(asker, 1, future);
        }
    }
    line.awaits(NEWCOMER, 1, registering);
    line.judge();
}

/// A thread sleeps behind a future. When that future is dropped, the thread is served in time, though it slept for
/// longer.
fn dropped_before_a_sleeper(limiters: Limiters, kept: Kept) {
    let shared = limiter(limiters, 1, PERIOD);
    let mut line = kept.line(1, time_stands_still());
    line.tries(&shared);
    let mut first = shared.acquire_async();
    if line.polls(0, 1, first.as_mut()) {
        return line.judge();
    }
    let limiter = shared.clone();
    let sleeper = world::spawn(move || {
        let asked = world::now_nanos();
        world::block_on(limiter.acquire_async());
        (asked, world::now_nanos())
    });
    // Meanwhile the thread falls asleep; certainly so where time stands still.
    pause(limiters, Way::Async, PERIOD / 2);
    drop(first);
    let dropped = world::now_nanos();
    let (asked, served) = world::join(sleeper);
    line.asked_at(1, 1, None, asked);
    line.write(Event::Dropped {
        asker: 0,
        at: dropped,
    });
    line.granted_at(1, served);
    line.judge();
}

/// A future is dropped when its time has come, whether or not it was handed the permit. The next waiter gets the
/// permit.
fn dropped_late(limiters: Limiters, kept: Kept, is_seen: bool) {
    let limiter = limiter(limiters, 1, PERIOD);
    let mut line = kept.line(1, is_virtual());
    let begin = world::now_nanos();
    line.tries(&limiter);
    let mut first = limiter.acquire_async();
    if line.polls(0, 1, first.as_mut()) {
        return line.judge();
    }
    while world::now_nanos() - begin < nanos(PERIOD) {
        world::yield_now();
    }
    if is_seen && line.tries(&limiter) {
        return line.judge();
    }
    line.drops(0, first);
    line.awaits(1, 1, limiter.acquire_async());
    line.judge();
}

/// A future is dropped that was granted without being polled. A try then finds the permit, though an earlier try was
/// refused.
fn tries_after_a_drop(limiters: Limiters, kept: Kept) {
    let limiter = limiter(limiters, 1, PERIOD);
    let mut line = kept.line(1, is_virtual());
    let begin = world::now_nanos();
    line.tries(&limiter);
    let mut first = limiter.acquire_async();
    if line.polls(0, 1, first.as_mut()) {
        return line.judge();
    }
    while world::now_nanos() - begin < nanos(PERIOD) {
        world::yield_now();
    }
    if line.tries(&limiter) {
        return line.judge();
    }
    line.drops(0, first);
    line.tries(&limiter);
    line.judge();
}

/// A future is dropped long after it was granted. Its permit is back anyway, and no further one.
fn dropped_when_full(limiters: Limiters, kept: Kept) {
    let limiter = limiter(limiters, 2, PERIOD);
    // A try comes after the grant, which no poll has observed.
    let kept = Kept {
        first_come: false,
        ..kept
    };
    let mut line = kept.line(2, time_stands_still());
    for _ in 0..2 {
        line.tries(&limiter);
    }
    let mut late = limiter.acquire_async();
    if line.polls(0, 1, late.as_mut()) {
        return line.judge();
    }
    pause(limiters, Way::Async, 3 * PERIOD);
    line.tries(&limiter);
    pause(limiters, Way::Async, PERIOD);
    for _ in 0..2 {
        line.tries(&limiter);
    }
    line.drops(0, late);
    line.tries(&limiter);
    line.judge();
}

/// Two permits are back and two futures wait; the first is never polled again. The other is served in time.
fn unpolled(limiters: Limiters, kept: Kept) {
    let limiter = limiter(limiters, 2, PERIOD);
    let mut line = kept.line(2, is_virtual());
    for _ in 0..2 {
        line.tries(&limiter);
    }
    let mut first = limiter.acquire_async();
    if line.polls(0, 1, first.as_mut()) {
        return line.judge();
    }
    line.awaits(1, 1, limiter.acquire_async());
    line.judge();
}

/// A waker is code of the executor: its drop may use the limiter.
struct Tries(Limiter);

impl Wake for Tries {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Tries {
    fn drop(&mut self) {
        self.0.try_acquire();
    }
}

/// If the limiter drops a waker with its lock held, this deadlocks.
fn tries_at_drop(limiters: Limiters, kept: Kept) {
    let shared = limiter(limiters, 1, PERIOD);
    let begin = world::now_nanos();
    assert_eq!(shared.try_acquire(), Attempt::Granted);
    {
        let mut waiting = shared.acquire_async();
        // The second waker replaces the first, and is dropped with the future.
        for _ in 0..2 {
            let waker = Waker::from(Arc::new(Tries(shared.clone())));
            let poll = waiting.as_mut().poll(&mut Context::from_waker(&waker));
            if poll.is_ready() {
                return must_be_back(kept.limit(1, PERIOD), begin);
            }
        }
    }
    world::block_on(shared.acquire_async());
    must_be_back(kept.limit(1, PERIOD), begin);
}
