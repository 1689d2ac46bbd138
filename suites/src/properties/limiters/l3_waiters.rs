//! L3: weights, deadlines and waiters that give up. Whatever becomes of one who waits, the others are served.

use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use flowmeter_harness::limiter::{AsyncLimit, AsyncWeightedLimit, Attempt, LimitError, Limiters};
use flowmeter_harness::spec::limiter::{Event, Limit};
use flowmeter_harness::sync::{Deadline, World};

use super::line::Line;
use super::{
    Form, PERIOD, is_virtual, limiter, nanos, pause, several, surely, time_stands_still, window,
};
use crate::properties::form::ByFuture;
use crate::properties::{Case, Property, Reliance};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "l3-waiters",
    statement: "Deadlines are kept, weights are granted whole or refused at once, and who gives up strands nobody.",
    relied_on_by: Reliance::Nobody,
};

/// What every design keeps to in that world: where those by rate take part what the burst and the rate add up to, which
/// is more than a window ever holds.
fn promised<W: World>(permits: u32) -> Limit {
    match window::<W>(permits, PERIOD) {
        Limit::Window { permits, period } if !is_virtual::<W>() => Limit::Rate {
            permits,
            period,
            burst: permits,
        },
        limit => limit,
    }
}

/// A permit acquired then or later was granted again: its period must be over. That happens where a thread is
/// held up, or time passes while it runs.
fn must_be_back<W: World>(acquired: u64) {
    holds!(
        W::now_nanos() - acquired >= surely::<W>(nanos(PERIOD)),
        "L3: a permit that was away was granted"
    );
}

pub(super) fn cases<L: Limiters, F: Form<L>, W: World>() -> Vec<Case> {
    let form = F::NAME;
    vec![
        Case::new(format!("{form}, not before"), not_before::<L, F, W>),
        Case::new(format!("{form}, everybody is served"), everybody::<L, F, W>),
    ]
}

/// A refused try names the moment at which the next can succeed, or none.
fn not_before<L: Limiters, F: Form<L>, W: World>() {
    let limiter = limiter::<L>(1, PERIOD);
    let begin = W::now_nanos();
    F::acquire(&limiter);
    match limiter.try_acquire() {
        Attempt::Granted => must_be_back::<W>(begin),
        Attempt::NotBefore(None) => {}
        Attempt::NotBefore(Some(moment)) => {
            F::acquire(&limiter);
            let granted = W::now_nanos();
            let moment = moment.as_nanos();
            // By as much as a clock of its own may differ.
            let tolerance = nanos(PERIOD) - surely::<W>(nanos(PERIOD));
            let latest = if is_virtual::<W>() { moment } else { u64::MAX };
            holds!(
                (moment - tolerance..=latest).contains(&granted),
                "L3: granted at {granted}, and a try named {moment}"
            );
        }
    }
}

fn everybody<L: Limiters, F: Form<L>, W: World>() {
    let threads = match W::name() {
        // Timers of tasks leave loom no room for more.
        "loom" if F::NAME == "async" => 1,
        "loom" => 2,
        _ => 4,
    };
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    F::acquire(&shared);
    let waiting: Vec<_> = (0..threads)
        .map(|_| {
            let limiter = shared.clone();
            W::spawn(move || F::acquire(&limiter))
        })
        .collect();
    // A lost wake-up is a deadlock here.
    waiting.into_iter().for_each(W::join);
}

pub(super) fn deadline_cases<L: Limiters, W: World>(
    acquire_until: fn(&L, Deadline) -> bool,
) -> Vec<Case> {
    vec![
        Case::new("deadlines", move || deadlines::<L, W>(acquire_until)),
        Case::new("a deadline at the permit's return", move || {
            at_the_edge::<L, W>(acquire_until);
        }),
        Case::new("a deadline when two permits are back", move || {
            second_at_the_edge::<L, W>(acquire_until);
        }),
    ]
}

pub(super) fn stranded_cases<L: Limiters, W: World>(
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

fn deadlines<L: Limiters, W: World>(acquire_until: fn(&L, Deadline) -> bool) {
    let limiter = limiter::<L>(1, PERIOD);
    let mut line = Line::<W>::new(promised::<W>(1), false, is_virtual::<W>());
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
fn at_the_edge<L: Limiters, W: World>(acquire_until: fn(&L, Deadline) -> bool) {
    let limiter = limiter::<L>(1, PERIOD);
    let mut line = Line::<W>::new(promised::<W>(1), false, is_virtual::<W>());
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
fn second_at_the_edge<L: Limiters, W: World>(acquire_until: fn(&L, Deadline) -> bool) {
    let shared = Arc::new(limiter::<L>(2, PERIOD));
    let begin = W::now_nanos();
    for _ in 0..2 {
        assert!(acquire_until(&shared, Deadline::NEVER));
    }
    let other = shared.clone();
    let patient = W::spawn(move || acquire_until(&other, Deadline::NEVER));
    W::yield_now();
    let is_granted = acquire_until(&shared, Deadline::after(begin, PERIOD));
    must_be_back::<W>(begin);
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

pub(super) fn dropped_cases<L: AsyncLimit, W: World>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("the first is dropped", || dropped::<L, W>(true)),
        Case::new("a later one is dropped", || dropped::<L, W>(false)),
        Case::new("dropped when the permit is back", || {
            dropped_late::<L, W>(false);
        }),
        Case::new(
            "dropped when another has seen that the permit is back",
            || {
                dropped_late::<L, W>(true);
            },
        ),
        Case::new("the first is not polled any more", unpolled::<L, W>),
        Case::new(
            "a waker that tries when it is dropped",
            tries_at_drop::<L, W>,
        ),
    ];
    // Loom has no room for two limiters and their timers.
    if W::name() != "loom" {
        cases.push(Case::new(
            "the first is dropped while another sleeps",
            dropped_before_a_sleeper::<L, W>,
        ));
    }
    cases
}

pub(super) fn dropped_weight_cases<L: AsyncWeightedLimit, W: World>() -> Vec<Case> {
    vec![Case::new(
        "async, a heavy one is dropped before a light one",
        heavy_dropped::<L, W>,
    )]
}

fn dropped<L: AsyncLimit, W: World>(is_first: bool) {
    let limiter = limiter::<L>(1, PERIOD);
    // Elsewhere the timer of its old place may fire before it is polled again.
    let mut line = Line::<W>::new(promised::<W>(1), false, time_stands_still::<W>());
    line.tries(&limiter);
    let mut first = Box::pin(limiter.acquire_async());
    let mut second = Box::pin(limiter.acquire_async());
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

/// One who sleeps behind another is served in its time when that one is dropped, though it was to sleep for longer.
fn dropped_before_a_sleeper<L: AsyncLimit, W: World>() {
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    let mut line = Line::<W>::new(promised::<W>(1), false, time_stands_still::<W>());
    line.tries(&*shared);
    let mut first = Box::pin(shared.acquire_async());
    if line.polls(0, 1, first.as_mut()) {
        return line.judge();
    }
    let limiter = shared.clone();
    let sleeper = W::spawn(move || {
        let asked = W::now_nanos();
        W::block_on(limiter.acquire_async());
        (asked, W::now_nanos())
    });
    // In the meantime it falls asleep, where time stands still for sure.
    pause::<L, ByFuture<W>>(PERIOD / 2);
    drop(first);
    let dropped = W::now_nanos();
    let (asked, served) = W::join(sleeper);
    line.asked_at(1, 1, None, asked);
    line.write(Event::Dropped {
        who: 0,
        at: dropped,
    });
    line.granted_at(1, served);
    line.judge();
}

/// One future is dropped when its time has come, whether or not it was handed the permit: the next has it.
fn dropped_late<L: AsyncLimit, W: World>(is_seen: bool) {
    let limiter = limiter::<L>(1, PERIOD);
    let mut line = Line::<W>::new(promised::<W>(1), false, is_virtual::<W>());
    let begin = W::now_nanos();
    line.tries(&limiter);
    let mut first = Box::pin(limiter.acquire_async());
    if line.polls(0, 1, first.as_mut()) {
        return line.judge();
    }
    while W::now_nanos() - begin < nanos(PERIOD) {
        W::yield_now();
    }
    if is_seen && line.tries(&limiter) {
        return line.judge();
    }
    line.drops(0, first);
    line.awaits(1, 1, limiter.acquire_async());
    line.judge();
}

/// Two permits are back and two wait, the first of whom is never polled again: the other is served in time.
fn unpolled<L: AsyncLimit, W: World>() {
    let limiter = limiter::<L>(2, PERIOD);
    let mut line = Line::<W>::new(promised::<W>(2), false, is_virtual::<W>());
    for _ in 0..2 {
        line.tries(&limiter);
    }
    let mut first = Box::pin(limiter.acquire_async());
    if line.polls(0, 1, first.as_mut()) {
        return line.judge();
    }
    line.awaits(1, 1, limiter.acquire_async());
    line.judge();
}

/// A waker is the executor's code: its drop may use the limiter.
struct Tries<L: Limiters>(Arc<L>);

impl<L: Limiters> Wake for Tries<L> {
    fn wake(self: Arc<Self>) {}
}

impl<L: Limiters> Drop for Tries<L> {
    fn drop(&mut self) {
        self.0.try_acquire();
    }
}

/// Where the limiter drops a waker with its lock held, this ends in a deadlock.
fn tries_at_drop<L: AsyncLimit, W: World>() {
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    let begin = W::now_nanos();
    assert_eq!(shared.try_acquire(), Attempt::Granted);
    {
        let mut waiting = pin!(shared.acquire_async());
        // The second waker takes the first one's place, and is dropped with the future.
        for _ in 0..2 {
            let waker = Waker::from(Arc::new(Tries(shared.clone())));
            let poll = waiting.as_mut().poll(&mut Context::from_waker(&waker));
            if poll.is_ready() {
                return must_be_back::<W>(begin);
            }
        }
    }
    W::block_on(shared.acquire_async());
    must_be_back::<W>(begin);
}

pub(super) fn weight_cases<L: Limiters, W: World>(
    form: &'static str,
    acquire: fn(&L, NonZeroU32) -> Result<(), LimitError>,
) -> Vec<Case> {
    vec![
        Case::new(format!("{form}, weights"), move || weights::<L, W>(acquire)),
        Case::new(format!("{form}, light and heavy"), move || {
            light_and_heavy::<L, W>(acquire);
        }),
    ]
}

fn weights<L: Limiters, W: World>(acquire: fn(&L, NonZeroU32) -> Result<(), LimitError>) {
    let limiter = limiter::<L>(3, PERIOD);
    let mut line = Line::<W>::new(promised::<W>(3), false, is_virtual::<W>());
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

/// A light one waits behind a heavy one, which is dropped: there is a permit at once.
fn heavy_dropped<L: AsyncWeightedLimit, W: World>() {
    let limiter = limiter::<L>(2, PERIOD);
    // Elsewhere time may pass before it is polled again.
    let mut line = Line::<W>::new(promised::<W>(2), false, time_stands_still::<W>());
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
