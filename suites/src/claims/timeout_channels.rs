//! "Core Async Timeout Channels": the hazards of `timeout`.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::caps::{Capability, Claim::Coalescing};
use flowmeter_harness::channel::{
    Alts, Async, Blocking, Buffer, Chosen, Clause, Order, Patience, Polled, PutError, TakeError,
};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Coalesce, Timeouts};

use super::acts::{Distinct, after, another, are_one, distinct, ms, open, pass};
use super::{Claim, Enactment, Seed};
use crate::properties::Note;

const TOO_LATE: Claim = Claim::new(
    "a response takes longer than 300 ms, in an alts with (timeout 300)",
    "return a :timeout key",
    &[":timeout after 300 ms"],
)
.note("a response after 400 ms; of channels by the deadline of their alts, of timers by a channel that closes");

const IN_TIME: Claim = Claim::new(
    "a response comes faster than 300 ms",
    "the code returns that value",
    &["the value after 200 ms"],
)
.note("a response after 200 ms");

const CLOSED_MEANWHILE: Claim = Claim::new(
    "the late response finds its channel closed",
    "(do (a/close! ch) :timeout)",
    &["the put is refused"],
)
.note("100 ms later; the value comes back to the put, and nothing panics");

const BLOCKS_UNTIL_DUE: Claim = Claim::new(
    "a take from the delay queue blocks until its head is due",
    "10 seconds later",
    &["after 10000 ms"],
)
.note("seen by the channel that the daemon closes then");

const IDENTICAL: Claim = Claim::new(
    "(identical? (timeout 10009) (timeout 10000))",
    "true",
    &["1 channel"],
);

const SIX_OF_20_MS: Claim = Claim::new(
    "10,000 timeouts of 1,000 ms",
    "6 channels in 19.8315 ms",
    &["6 channels"],
)
.note(EVEN_PACE);

const SIX_OF_6_MS: Claim = Claim::new(
    "10,000 timeouts of 1,000 ms, once more",
    "6 channels in 5.797694 ms",
    &["6 channels"],
)
.note(EVEN_PACE);

const EVEN_PACE: &str = "at an even pace in virtual time, from the beginning of a millisecond on";

const MAP: Claim = Claim::new(
    "their keys in timeouts-map",
    "1543110781315 to 1543110781320",
    &["6 channels, 1 ms apart"],
)
.note("by the moments at which the channels close");

const RACE: Claim = Claim::new(
    "two requests at once, before either is in the cache",
    "already passed the caching logic",
    &["2 channels for one deadline"],
)
.note("looked for under random schedules: there is no lock around map and queue");

const CLEANED_UP: Claim = Claim::new(
    "what such a race leaves",
    "the timeout daemon will clean it up",
    &["both close when due, the next request has a new one"],
)
.note("in the executions that show the race");

const TOO_LOW: Claim = Claim::new(
    "a timeout of 1 ms beside one of 10 ms",
    "10ms or lower are too low",
    &["it closes after 10 ms"],
);

const LESS_THAN_10: Claim = Claim::new(
    "timeouts that differ in less than 10 ms",
    "are considered identical",
    &["1 channel"],
)
.note("10000 ms, then 10005 ms");

const OVERFLOW: Claim = Claim::new(
    "(timeout Long/MAX_VALUE)",
    "ArithmeticException integer overflow",
    &["refused"],
)
.note("looked at for a hundred years of virtual time");

const CLOSE: Claim = Claim::new(
    "close! on a timeout channel",
    "close a channel in another go routine",
    &["the other's closes"],
)
.note("one of 10009 ms, beside one of 10000 ms");

const TAKES: Claim = Claim::new(
    "1,025 takes from (timeout 1000)",
    "MAX-QUEUE-SIZE error",
    &["take 1025 is refused"],
)
.note("with an error that says so, where the original fails an assertion");

const SHARED_TAKES: Claim = Claim::new(
    "110 takes from each of 10 timeouts of 10,000 ms",
    "so can this [blow up]",
    &["take 1025 is refused"],
);

/// The note on hazards of faithful coalescing, where no channel is shared.
const OF_ITS_OWN: &str = "T7: a timeout is its caller's alone here, and has none of the hazards";

pub(super) struct TimeoutChannels;

impl Seed for TimeoutChannels {
    const FILE: &'static str = "001_d22df209ee62fd6d.txt";
    const TITLE: &'static str = "Core Async Timeout Channels";
    const CLAIMS: &'static [&'static Claim] = &[
        &TOO_LATE,
        &IN_TIME,
        &CLOSED_MEANWHILE,
        &BLOCKS_UNTIL_DUE,
        &IDENTICAL,
        &SIX_OF_20_MS,
        &SIX_OF_6_MS,
        &MAP,
        &RACE,
        &CLEANED_UP,
        &TOO_LOW,
        &LESS_THAN_10,
        &OVERFLOW,
        &CLOSE,
        &TAKES,
        &SHARED_TAKES,
    ];

    fn alts<C: Alts, W: World>(_: &Registered) -> Vec<Enactment> {
        vec![
            TOO_LATE.seen_in(|| request::<C, W>(SLOW, until_a_deadline::<C, W>).answer),
            IN_TIME.seen_in(|| request::<C, W>(FAST, until_a_deadline::<C, W>).answer),
            CLOSED_MEANWHILE.seen_in(|| request::<C, W>(SLOW, until_a_deadline::<C, W>).put),
        ]
    }

    fn coalesce<T: Coalesce, W: World>(_: &Registered) -> Vec<Enactment> {
        let why = "T7: they share a wake-up where the caller gives a window, and each is called off alone";
        vec![LESS_THAN_10.seen_in(in_a_window::<T, W>).differing(why)]
    }

    fn timeouts<S, C, W>(implementation: &Registered) -> Vec<Enactment>
    where
        S: Timeouts<C>,
        C: Alts + Async + Blocking,
        W: World,
    {
        let of_requests = [
            TOO_LATE.seen_in(|| request::<C, W>(SLOW, until_a_timeout::<S, C>).answer),
            IN_TIME.seen_in(|| request::<C, W>(FAST, until_a_timeout::<S, C>).answer),
            CLOSED_MEANWHILE.seen_in(|| request::<C, W>(SLOW, until_a_timeout::<S, C>).put),
        ];
        let of_all = [
            OVERFLOW
                .seen_in(longest::<S, C, W>)
                .differing("T4: what overflows waits for ever; nothing panics"),
            TAKES.seen_in(takes_from_one::<S, C>),
        ];
        let hazards = [
            TOO_LOW.seen_in(short_beside_longer::<S, C, W>),
            CLOSE.seen_in(closed_by_another::<S, C>),
            SHARED_TAKES.seen_in(takes_from_ten::<S, C>),
        ];
        let mut all = [&of_requests[..], &of_all].concat();
        if implementation.capabilities.claims.contains(&Coalescing) {
            all.extend(hazards);
            all.extend(of_the_cache::<S, C, W>());
        } else if implementation
            .capabilities
            .derived
            .contains(&Capability::SafeCoalescing)
        {
            all.extend(hazards.map(|hazard| hazard.differing(OF_ITS_OWN)));
        }
        all
    }
}

/// For timeouts that share a channel.
fn of_the_cache<S, C, W>() -> Vec<Enactment>
where
    S: Timeouts<C>,
    C: Alts + Blocking,
    W: World,
{
    vec![
        BLOCKS_UNTIL_DUE.seen_in(takes_when_due::<S, C, W>),
        IDENTICAL.seen_in(|| distinct::<S, C>([10_009, 10_000])),
        SIX_OF_20_MS
            .seen_in(|| asked_for_in::<S, C, W>(Duration::from_nanos(19_831_500)).count())
            .differing(
                "T7: a channel for each millisecond with a request; 6 in that time say that most had none",
            ),
        SIX_OF_6_MS.seen_in(|| asked_for_in::<S, C, W>(IN_6_MS).count()),
        MAP.seen_in(closed_one_by_one::<S, C, W>),
        RACE.seen_somewhere_in(|| at_once::<S, C, W>().map(|_| "2 channels for one deadline".into())),
        CLEANED_UP.seen_somewhere_in(at_once::<S, C, W>),
        LESS_THAN_10
            .seen_in(|| distinct::<S, C>([10_000, 10_005]))
            .differing(
                "T7: only a longer one that was asked for first is found, for a request shares a deadline in [t, t + 10 ms)",
            ),
    ]
}

const SLOW: Duration = ms(400);
const FAST: Duration = ms(200);
const PATIENCE: Duration = ms(300);
const IN_6_MS: Duration = Duration::from_nanos(5_797_694);

/// The outcome of the text's request, as text.
struct Requested {
    answer: String,
    put: String,
}

/// The text's first example. `wait` is its alts, and returns the response if it came in time.
fn request<C: Alts, W: World>(
    takes: Duration,
    wait: impl FnOnce(&C::Rx<&'static str>) -> Option<&'static str>,
) -> Requested {
    let (mut tx, mut rx) = open::<C, &'static str>(Buffer::fixed(1));
    let began = W::now_nanos();
    let server = W::spawn(move || {
        pass::<C, W>(takes);
        C::put(&mut tx, "the value")
    });
    let answer = wait(&rx).unwrap_or_else(|| {
        C::close_rx(&mut rx);
        ":timeout"
    });
    let answer = format!("{answer} {}", after::<W>(began));
    let put = match W::join(server) {
        Ok(()) => "the put is accepted",
        Err(PutError::Closed(_)) => "the put is refused",
        Err(PutError::TooManyWaiters(_)) => "too many puts wait",
    };
    Requested {
        answer,
        put: put.to_owned(),
    }
}

/// With the deadline of an alts.
fn until_a_deadline<C: Alts, W: World>(rx: &C::Rx<&'static str>) -> Option<&'static str> {
    let until = Patience::Until(Deadline::after(W::now_nanos(), PATIENCE));
    response::<C>(&[Clause::Take(rx)], until)
}

/// As in the text: with a timeout as the other clause.
fn until_a_timeout<S: Timeouts<C>, C: Alts>(rx: &C::Rx<&'static str>) -> Option<&'static str> {
    let service = S::start();
    let timeout = service.timeout::<&'static str>(PATIENCE);
    response::<C>(
        &[Clause::Take(rx), Clause::Take(&timeout)],
        Patience::Forever,
    )
}

/// The value of the first clause, if it won.
fn response<C: Alts>(
    clauses: &[Clause<'_, C, &'static str>],
    patience: Patience,
) -> Option<&'static str> {
    let mut slots = vec![None; clauses.len()];
    let chosen = C::run(
        &mut C::prepare(clauses, Order::Random),
        &mut slots,
        patience,
    );
    match chosen.expect("a slot for each clause") {
        Chosen::Took { clause: 0, value } => Some(value.expect("nothing closes it before")),
        _ => None,
    }
}

fn takes_when_due<S: Timeouts<C>, C: Blocking, W: World>() -> String {
    let service = S::start();
    let began = W::now_nanos();
    closed::<C, W>(&mut service.timeout(ms(10_000)), began)
}

/// When a timeout closes.
fn closed<C: Blocking, W: World>(timeout: &mut C::Rx<()>, began: u64) -> String {
    match C::take(timeout) {
        Err(TakeError::Closed) => after::<W>(began),
        other => format!("{other:?}"),
    }
}

/// Ten thousand requests, ten at a time, so that the last come when that time has passed.
fn ask_at_an_even_pace<S: Timeouts<C>, C: Alts, W: World>(
    service: &S,
    within: Duration,
) -> Distinct<C> {
    const TIMES: u64 = 1_000;
    // A request at a whole millisecond belongs to the one before, since deadlines are rounded up.
    pass::<C, W>(Duration::from_nanos(1));
    let began = W::now_nanos();
    let mut distinct = Distinct::default();
    for time in 1..=TIMES {
        let until = began + within.as_nanos() as u64 * time / TIMES;
        pass::<C, W>(Duration::from_nanos(until - W::now_nanos()));
        for _ in 0..10 {
            distinct.add(service.timeout(ms(1_000)));
        }
    }
    distinct
}

fn asked_for_in<S: Timeouts<C>, C: Alts, W: World>(within: Duration) -> Distinct<C> {
    ask_at_an_even_pace::<S, C, W>(&S::start(), within)
}

fn closed_one_by_one<S: Timeouts<C>, C: Alts, W: World>() -> String {
    let service = S::start();
    let mut distinct = ask_at_an_even_pace::<S, C, W>(&service, IN_6_MS);
    let moments = distinct.0.iter_mut().map(|timeout| {
        let _closed = C::take(timeout);
        W::now_nanos()
    });
    let moments: Vec<u64> = moments.collect();
    let apart = moments
        .windows(2)
        .all(|pair| pair[1] - pair[0] == 1_000_000);
    let apart = if apart {
        "1 ms apart"
    } else {
        "apart otherwise"
    };
    format!("{}, {apart}", distinct.count())
}

/// Two requests at the same moment, and the outcome where they do not share a channel.
fn at_once<S: Timeouts<C>, C: Alts, W: World>() -> Option<String> {
    let service = Arc::new(S::start());
    let began = W::now_nanos();
    let asking = Arc::clone(&service);
    let other = W::spawn(move || asking.timeout::<()>(ms(10_000)));
    let mut one = service.timeout::<()>(ms(10_000));
    let mut other = W::join(other);
    if W::now_nanos() != began || are_one::<C>(&one, &other) {
        return None;
    }
    let closed = [&mut one, &mut other].map(|timeout| closed::<C, W>(timeout, began));
    let next = service.timeout::<()>(ms(10_000));
    let is_new = [&one, &other].iter().all(|old| !are_one::<C>(old, &next));
    Some(match (closed, is_new) {
        ([one, other], true) if one == "after 10000 ms" && other == one => {
            "both close when due, the next request has a new one".to_owned()
        }
        ([one, other], _) => format!("one closes {one}, one {other}; the next is new: {is_new}"),
    })
}

fn short_beside_longer<S: Timeouts<C>, C: Alts, W: World>() -> String {
    let service = S::start();
    let began = W::now_nanos();
    let _longer = service.timeout::<()>(ms(10));
    let mut short = service.timeout::<()>(ms(1));
    format!("it closes {}", closed::<C, W>(&mut short, began))
}

/// Two that may be late by 10 ms, 5 ms apart.
fn in_a_window<T: Coalesce, W: World>() -> String {
    let service = T::start();
    let notes = [(); 2].map(|()| Note::new());
    let began = W::now_nanos();
    let armed = [(10_000, &notes[0]), (10_005, &notes[1])].map(|(delay, note)| {
        let deadline = Deadline::after(began, ms(delay));
        service.schedule_within(deadline, ms(10), note.callback())
    });
    let dues = notes.each_ref().map(|note| note.wait().fired.due);
    let wake_ups = if dues[0] == dues[1] {
        "one wake-up"
    } else {
        "two wake-ups"
    };
    drop(armed);
    // The same again, with one of them cancelled.
    let notes = [(); 2].map(|()| Note::new());
    let deadline = Deadline::after(W::now_nanos(), ms(10_000));
    let armed = notes
        .each_ref()
        .map(|note| service.schedule_within(deadline, ms(10), note.callback()));
    let alone = service.cancel(&armed[0]) && notes[1].wait_for_end().is_some();
    let handles = if alone { "a handle each" } else { "one handle" };
    format!("{wake_ups}, {handles}")
}

fn longest<S: Timeouts<C>, C: Alts, W: World>() -> String {
    const A_CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
    let service = S::start();
    let began = W::now_nanos();
    let timeout = service.timeout::<()>(Duration::from_millis(i64::MAX as u64));
    let until = Patience::Until(Deadline::after(began, A_CENTURY));
    let clauses = [Clause::Take(&timeout)];
    let chosen = C::run(&mut C::prepare(&clauses, Order::Random), &mut [None], until);
    match chosen {
        Ok(Chosen::TimedOut) => "it never closes".to_owned(),
        other => format!("{other:?} {}", after::<W>(began)),
    }
}

fn closed_by_another<S: Timeouts<C>, C: Alts>() -> String {
    let service = S::start();
    let [mut one, mut other] = [10_009, 10_000].map(|delay| service.timeout::<()>(ms(delay)));
    C::close_rx(&mut one);
    match C::poll(&mut other) {
        Polled::Closed => "the other's closes".to_owned(),
        _ => "the other's stays open".to_owned(),
    }
}

fn takes_from_one<S: Timeouts<C>, C: Async>() -> String {
    let service = S::start();
    takes::<C>(&[service.timeout(ms(1_000))], 1_025)
}

fn takes_from_ten<S: Timeouts<C>, C: Async>() -> String {
    let service = S::start();
    let timeouts: Vec<C::Rx<()>> = (0..10).map(|_| service.timeout(ms(10_000))).collect();
    takes::<C>(&timeouts, 110)
}

/// So many takes from each channel in turn, all of them pending.
fn takes<C: Async>(timeouts: &[C::Rx<()>], of_each: usize) -> String {
    let mut context = Context::from_waker(Waker::noop());
    let of_one = |timeout| (0..of_each).map(move |_| another::<C, ()>(timeout));
    let mut halves: Vec<C::Rx<()>> = timeouts.iter().flat_map(of_one).collect();
    let mut waiting: Vec<Pin<Box<_>>> = Vec::new();
    for half in &mut halves {
        let mut take = Box::pin(C::take_async(half));
        match take.as_mut().poll(&mut context) {
            Poll::Pending => waiting.push(take),
            Poll::Ready(Err(TakeError::TooManyWaiters)) => {
                return format!("take {} is refused", waiting.len() + 1);
            }
            Poll::Ready(other) => return format!("take {}: {other:?}", waiting.len() + 1),
        }
    }
    format!("all {} wait", waiting.len())
}
