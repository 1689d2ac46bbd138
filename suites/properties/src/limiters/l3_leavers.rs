//! L3: acquisitions that give up. Permits that were granted to one that did not hear of it, or that were kept for a
//! heavy one, go to those behind it, at once and once. However much time has passed meanwhile, a limiter then has what
//! it would have without that acquisition, and no more.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! a bucket of 1, empty
//! acquire waits, and is granted at 1 period by the look of another
//! at 3 periods the bucket is full, and the acquisition is dropped unheard
//! two tries are granted: the permit was put into a full bucket
//!
//! heavy, 2 of 2           light 1               light 2
//! waits
//!                         waits                 waits
//! gives up: both permits are there
//!                         granted
//!                                               sleeps on
//! ```

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::limiter::Attempt;
use flowmeter_harness::spec::limiter::Event;
use flowmeter_harness::sync::world;

use super::{Kept, limiter, pause, several, time_stands_still};
use crate::bell::Bell;
use crate::design::limiters::{Design, Limiter, Limiters, Pending};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "l3-leavers",
    statement: "The permits of an acquisition that gives up go to those behind it, at once and once, however long it had them unheard.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Limiters(cases),
};

/// Each permit takes whole nanoseconds, and so does the time between any two.
const PERIOD: Duration = Duration::from_nanos(2_000_004);

fn cases(design: &Design) -> Vec<Case> {
    // Elsewhere time passes while a thread runs, and a grant is not seen at its moment.
    if !time_stands_still() || !design.acquires.contains(&Way::Async) {
        return Vec::new();
    }
    let (limiters, kept) = (design.limiters, Kept::of(design));
    let mut cases = vec![Case::new("unheard for some time", move || {
        unheard(limiters, kept, 1);
    })];
    if kept.first_come && kept.passes_on {
        cases.push(Case::new("unheard, before another that waits", move || {
            passed_on(limiters, kept);
        }));
    }
    if kept.first_come && kept.is_exact() {
        for waiters in 2..=3 {
            let name = format!("{waiters} unheard, in every order");
            cases.push(Case::new(name, move || {
                in_every_order(limiters, kept, waiters)
            }));
        }
    }
    if design.weighs.contains(&Way::Async) {
        for permits in 2..=3 {
            let name = format!("{permits} permits at once, unheard for some time");
            cases.push(Case::new(name, move || unheard(limiters, kept, permits)));
        }
        if kept.first_come {
            for permits in 2..=3 {
                let name = format!("a heavy one of {permits} leaves others behind");
                cases.push(Case::new(name, move || {
                    leaves_others(limiters, kept, permits)
                }));
            }
        }
    }
    cases
}

/// An acquisition of all permits is granted at another's look, and dropped unheard some time later. Then as many tries
/// are granted as if it had not been.
fn unheard(limiters: Limiters, kept: Kept, permits: u32) {
    for thirds in 0..4 {
        for halves in 0..8 {
            unheard_for(limiters, kept, permits, (thirds, halves));
        }
    }
}

/// Another looks so many thirds of a period late, and the drop comes that many half periods later.
fn unheard_for(limiters: Limiters, kept: Kept, permits: u32, (thirds, halves): (u32, u32)) {
    let limiter = limiter(limiters, permits, PERIOD);
    let mut line = kept.line_in(permits, PERIOD, true);
    for _ in 0..permits {
        line.tries(&limiter);
    }
    let bell = Arc::<Bell>::default();
    let waker = Waker::from(Arc::clone(&bell));
    let mut late: Pending<'_, ()> = match permits {
        1 => limiter.acquire_async(),
        _ => Box::pin(async {
            let weighed = limiter.acquire_weight_async(several(permits)).await;
            holds!(weighed.is_ok(), "L3: the burst holds {permits}");
        }),
    };
    if line.polls_by(0, permits, late.as_mut(), &waker) {
        return line.judge();
    }
    // Its time comes; the look is another's.
    pause(limiters, Way::Async, PERIOD + PERIOD / 3 * thirds);
    // Where the order is free the try may get what is there.
    if kept.first_come {
        line.tries(&limiter);
    }
    // Some time passes, less than a period or several.
    for _ in 0..halves {
        pause(limiters, Way::Async, PERIOD / 2 + PERIOD / 1_009);
    }
    line.drops(0, late);
    for _ in 0..=permits {
        line.tries(&limiter);
    }
    pause(limiters, Way::Async, PERIOD / 2);
    line.tries(&limiter);
    line.judge();
}

/// Several acquisitions take all permits at another's look, and are dropped unheard in any order and some time later.
/// Then as many tries are granted as are left: under a window all are undone, and under a rate those that are the last
/// when they leave.
fn in_every_order(limiters: Limiters, kept: Kept, waiters: u32) {
    let orders = match waiters {
        2 => &[[0, 1, 2], [1, 0, 2]][..],
        _ => &[
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ],
    };
    for order in orders {
        for halves in 0..4 {
            leave_in_order(limiters, kept, waiters, &order[..waiters as usize], halves);
        }
    }
}

fn leave_in_order(limiters: Limiters, kept: Kept, permits: u32, order: &[usize], halves: u32) {
    let limiter = limiter(limiters, permits, PERIOD);
    let tries = || {
        let granted = (0..=permits).filter(|_| limiter.try_acquire() == Attempt::Granted);
        u32::try_from(granted.count()).expect("there are few")
    };
    holds_eq!(tries(), permits, "L3: not the burst at the beginning");
    let bell = Waker::from(Arc::<Bell>::default());
    let mut context = Context::from_waker(&bell);
    let mut waiting: Vec<_> = (0..permits)
        .map(|_| {
            let mut future = limiter.acquire_async();
            let polled = future.as_mut().poll(&mut context);
            assert!(polled.is_pending(), "the burst is taken");
            Some(future)
        })
        .collect();
    pause(limiters, Way::Async, PERIOD);
    // Another's look.
    holds_eq!(tries(), 0, "L3: a try overtook those that wait");
    for _ in 0..halves {
        pause(limiters, Way::Async, PERIOD / 2);
    }
    let mut last = permits as usize;
    let mut kept_by_none = 0;
    for &one in order {
        drop(waiting[one].take());
        if one + 1 == last {
            last -= 1;
        } else {
            kept_by_none += 1;
        }
    }
    let expected = match kept.by_rate {
        true => permits.min(permits + halves * permits / 2 - kept_by_none),
        false => permits,
    };
    holds_eq!(
        tries(),
        expected,
        "L3: granted after acquisitions that were dropped unheard in the order {order:?}"
    );
    pause(limiters, Way::Async, PERIOD);
    holds_eq!(tries(), permits, "L3: granted a period later");
}

/// An acquisition is granted at another's look, and dropped unheard. The one that waits behind it has the permit at
/// once: it is woken before its own time.
fn passed_on(limiters: Limiters, kept: Kept) {
    let limiter = limiter(limiters, 1, PERIOD);
    let mut line = kept.line_in(1, PERIOD, true);
    line.tries(&limiter);
    let bells = [(); 2].map(|()| Arc::<Bell>::default());
    let wakers = bells.each_ref().map(|bell| Waker::from(Arc::clone(bell)));
    let (mut late, mut behind) = (limiter.acquire_async(), limiter.acquire_async());
    let waits = !line.polls_by(0, 1, late.as_mut(), &wakers[0])
        && !line.polls_by(1, 1, behind.as_mut(), &wakers[1]);
    holds!(waits, "L3: two permits in a period of one");
    pause(limiters, Way::Async, PERIOD + PERIOD / 3);
    line.tries(&limiter);
    line.drops(0, late);
    holds!(
        bells[1].is_rung(),
        "L3: the permit of an acquisition that was dropped unheard was not passed on"
    );
    let is_served = line.polls_by(1, 1, behind.as_mut(), &wakers[1]);
    holds!(is_served, "L3: a waiter was woken, and there was no permit");
    line.judge();
}

/// A heavy acquisition waits before light ones on other threads, and gives up at any moment: before its permits are
/// there, as they come back, or after.
fn leaves_others(limiters: Limiters, kept: Kept, permits: u32) {
    let early = [PERIOD / 2, PERIOD * 3 / 2, PERIOD * 5 / 2];
    let steps = Duration::from_nanos(u64::from(2 * permits));
    let edges = (0..4 * permits).map(|step| PERIOD - steps + Duration::from_nanos(step.into()));
    for patience in edges.chain(early) {
        for (lights, first) in [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)] {
            leaves(limiters, kept, permits, patience, (lights, first));
        }
    }
}

/// The heavy one comes at place `first` among the light ones.
fn leaves(
    limiters: Limiters,
    kept: Kept,
    permits: u32,
    patience: Duration,
    (lights, first): (usize, usize),
) {
    let shared = limiter(limiters, permits, PERIOD);
    let nanosecond = limiter(limiters, 1, Duration::from_nanos(1));
    let a_little = || world::block_on(nanosecond.acquire_async());
    a_little();
    let mut line = kept.line_in(permits, PERIOD, true);
    // The permits come back one after the other.
    for _ in 0..permits {
        line.tries(&shared);
        a_little();
    }
    let mut waiting = Vec::new();
    let mut leaver = None;
    for asker in 0..=lights {
        let weight = if asker == first { permits } else { 1 };
        line.asks(asker, weight, None);
        let limiter = shared.clone();
        if asker == first {
            leaver = Some(world::spawn(move || {
                gives_up(limiters, &limiter, permits, patience)
            }));
        } else {
            waiting.push(world::spawn(move || {
                world::block_on(limiter.acquire_async());
                (world::now_nanos(), asker)
            }));
        }
        a_little();
    }
    let leaver = leaver.expect("one is heavy");
    let (at, is_granted) = world::join(leaver);
    let mut events: Vec<(u64, usize, bool)> = vec![(at, first, is_granted)];
    events.extend((waiting.into_iter().map(world::join)).map(|(at, asker)| (at, asker, true)));
    // At one moment the one that gives up comes first: those behind it are served because of it.
    events.sort_unstable_by_key(|(at, asker, is_granted)| (*at, *is_granted, *asker));
    for (at, asker, is_granted) in events {
        match is_granted {
            true => line.granted_at(asker, at),
            false => line.write(Event::Dropped { asker, at }),
        }
    }
    line.judge();
}

/// Waits for all permits, for that time; when that was over, and whether they were granted.
fn gives_up(
    limiters: Limiters,
    limiter: &Limiter,
    permits: u32,
    patience: Duration,
) -> (u64, bool) {
    let clock = super::limiter(limiters, 1, patience);
    world::block_on(clock.acquire_async());
    let mut over = clock.acquire_async();
    let mut heavy = limiter.acquire_weight_async(several(permits));
    let is_granted = world::block_on(poll_fn(|context: &mut Context<'_>| {
        if heavy.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        over.as_mut().poll(context).map(|()| false)
    }));
    drop(heavy);
    (world::now_nanos(), is_granted)
}
