//! L1 (`WaiterFifo`): who waits for a permit is served first come, first served.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::limiter::{AsyncLimit, Attempt, BlockingLimit};
use flowmeter_harness::spec::limiter::Event;
use flowmeter_harness::sync::World;

use super::line::Line;
use super::{Form, Kept, PERIOD, acquired, limiter, pause, time_stands_still};
use crate::properties::form::ByThread;
use crate::properties::{Case, Property, Reliance};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "l1-waiter-fifo",
    statement: "Those who wait for a permit are served in the order in which they began to wait.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn async_cases<L: AsyncLimit, W: World>(kept: Kept) -> Vec<Case> {
    vec![Case::new("async, by hand", move || by_hand::<L, W>(kept))]
}

/// For a world in which a thread that lets time pass finds that all others wait.
pub(super) fn blocking_cases<L: BlockingLimit, W: World>(kept: Kept) -> Vec<Case> {
    vec![
        Case::new("blocking, in turn", move || in_turn::<L, W>(kept)),
        Case::new("blocking, a try does not overtake", move || {
            try_behind::<L, W>(kept);
        }),
    ]
}

fn in_line<W: World>(kept: Kept) -> Line<W> {
    kept.line(1, time_stands_still::<W>())
}

/// Futures polled by hand make the order of waiting certain; the first is always asked last, after one that
/// waits behind it and one that only just comes.
fn by_hand<L: AsyncLimit, W: World>(kept: Kept) {
    let limiter = limiter::<L>(1, PERIOD);
    let mut line = in_line::<W>(kept);
    line.tries(&limiter);
    let mut first = pin!(limiter.acquire_async());
    let mut second = pin!(limiter.acquire_async());
    if line.polls(FIRST, 1, first.as_mut()) {
        return line.judge();
    }
    loop {
        if line.polls(SECOND, 1, second.as_mut()) {
            line.awaits(FIRST, 1, first);
            return line.judge();
        }
        {
            let mut newcomer = Box::pin(limiter.acquire_async());
            if line.polls(NEWCOMER, 1, newcomer.as_mut()) {
                // Their turn came first, and nobody asked them since.
                return line.judge();
            }
            line.drops(NEWCOMER, newcomer);
        }
        if line.polls(FIRST, 1, first.as_mut()) {
            break;
        }
        W::yield_now();
    }
    line.awaits(SECOND, 1, second);
    line.judge();
}

const FIRST: usize = 0;
const SECOND: usize = 1;
const NEWCOMER: usize = 2;

fn in_turn<L: BlockingLimit, W: World>(kept: Kept) {
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    let mut line = in_line::<W>(kept);
    line.acquires::<L, ByThread>(0, &shared);
    let waiting: Vec<_> = (1..7)
        .map(|who| {
            let limiter = shared.clone();
            line.asks(who, 1, None);
            let waiter = W::spawn(move || (acquired::<L, ByThread, W>(&limiter).until, who));
            pause::<L, ByThread>(Duration::from_nanos(1));
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

/// The permit is back, and somebody waits for it: of two timers at one moment the try's was armed first, so it
/// comes before the waiter is awake.
fn try_behind<L: BlockingLimit, W: World>(kept: Kept) {
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    let mut line = in_line::<W>(kept);
    line.acquires::<L, ByThread>(0, &shared);
    let limiter = shared.clone();
    let waiter = W::spawn(move || {
        pause::<L, ByThread>(PERIOD / 2);
        let asked = W::now_nanos();
        ByThread::acquire(&*limiter);
        (asked, W::now_nanos())
    });
    pause::<L, ByThread>(PERIOD);
    let tried = W::now_nanos();
    let granted = shared.try_acquire() == Attempt::Granted;
    let (asked, served) = W::join(waiter);
    line.asked_at(1, 1, None, asked);
    line.write(Event::Tried {
        granted,
        from: tried,
        at: tried,
    });
    line.granted_at(1, served);
    line.judge();
}
