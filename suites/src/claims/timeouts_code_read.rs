//! "Code Read of core.async Timeouts": the implementation of `timeout`, read from its source.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use flowmeter_harness::caps::Claim::Coalescing;
use flowmeter_harness::channel::{Alts, Async, Blocking, Buffer};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Timeouts, Timers};

use super::acts::{after, another, distinct, ms, open};
use super::{Claim, ENDS, Enactment, Leaving, Seed};

const POOL: Claim = Claim::new(
    "threads of the pool that go blocks run on",
    "2 + number-of-cores",
    &["2 + cores"],
)
.note("counted by go blocks that block their threads");

const STARVED: Claim = Claim::new(
    "go blocks that block the pool's threads starve the others",
    "every thread is blocked",
    &["the next go block never begins"],
)
.note("as many as the pool has threads; one more begins once they are let go");

const HELLO: Claim = Claim::new(
    "a go block takes from (timeout 1000), then puts",
    "\"hello from the future!\" after 1000 ms",
    &["\"hello from the future!\" after 1000 ms"],
)
.note("in a go block of our pool, in virtual time");

const PARKED: Claim = Claim::new(
    "a go block that waits for a timeout holds up no thread",
    "able to release control of the thread",
    &["its thread runs another go block after 0 ms"],
)
.note("on a pool of one thread");

const CEILING: Claim = Claim::new(
    "the entry of an earlier deadline is not found",
    "a key greater than or equal",
    &["2 channels"],
)
.note("10000 ms, then 10009 ms");

const WITHIN: Claim = Claim::new(
    "nor is one whose key is 10 ms later",
    "IS NOT within the resolution (10)",
    &["2 channels"],
)
.note("10010 ms, then 10000 ms");

const SHARED: Claim = Claim::new(
    "1,000 timeouts all 500 ms from now",
    "share a single channel",
    &["1 channel"],
);

const DAEMON: Claim = Claim::new(
    "the timers' thread is a daemon",
    "won't stop the JVM from exiting",
    &[ENDS],
)
.note("a real process returns from main while a timer of an hour is armed and its service was never dropped");

const PUTS_BLOCK: Claim = Claim::new(
    "puts into the timers' queue wait for space",
    "\"can block\"; but of \"an unbounded blocking queue\"",
    &["puts wait", "puts never wait"],
)
.note("10,000 timeouts that cannot share; an unbounded queue has nothing to wait for");

pub(super) struct TimeoutsCodeRead;

impl Seed for TimeoutsCodeRead {
    const FILE: &'static str = "000_ffaacfc00d4fcfbd.txt";
    const TITLE: &'static str = "Code Read of core.async Timeouts";
    const CLAIMS: &'static [&'static Claim] = &[
        &POOL,
        &STARVED,
        &HELLO,
        &PARKED,
        &CEILING,
        &WITHIN,
        &SHARED,
        &DAEMON,
        &PUTS_BLOCK,
    ];

    fn timeouts<S, C, W>(implementation: &Registered) -> Vec<Enactment>
    where
        S: Timeouts<C>,
        C: Alts + Async + Blocking,
        W: World,
    {
        if !implementation.capabilities.claims.contains(&Coalescing) {
            return Vec::new();
        }
        vec![
            CEILING.seen_in(|| distinct::<S, C>([10_000, 10_009])),
            WITHIN.seen_in(|| distinct::<S, C>([10_010, 10_000])),
            SHARED.seen_in(|| distinct::<S, C>([500; 1_000])),
            PUTS_BLOCK.seen_in(puts_of_many::<S, C, W>),
        ]
    }

    fn go_blocks<E, S, C, W>(_: &Registered) -> Vec<Enactment>
    where
        E: Executors,
        S: Timeouts<C>,
        C: Alts + Async + Blocking,
        W: World,
    {
        vec![
            HELLO.seen_in(hello::<E, S, C, W>),
            PARKED.seen_in(parked::<E, S, C, W>),
        ]
    }

    fn executor<E: Executors, C: Async + Blocking, W: World>(_: &Registered) -> Vec<Enactment> {
        // An executor without a default number of threads is no such pool.
        if E::with_default_threads().is_none() {
            return Vec::new();
        }
        let why = "G2: that many are what core.async's pool has; one for computing has a thread for each core";
        vec![
            POOL.seen_in(threads_of_the_pool::<E, C, W>).differing(why),
            STARVED.seen_in(starved::<E, C, W>),
        ]
    }

    fn leaving<T: Timers>() -> Vec<Leaving> {
        vec![Leaving {
            claim: &DAEMON,
            before: leave_a_timer_armed::<T>,
        }]
    }
}

/// Time stands still while any thread can run: a waiting put would wait until the first timeout is due.
fn puts_of_many<S: Timeouts<C>, C: Alts, W: World>() -> String {
    let service = S::start();
    let began = W::now_nanos();
    for number in 1..=10_000 {
        drop(service.timeout::<()>(ms(1_000 * number)));
    }
    let waits = if W::now_nanos() == began {
        "never wait"
    } else {
        "wait"
    };
    format!("puts {waits}")
}

fn hello<E, S, C, W>() -> String
where
    E: Executors,
    S: Timeouts<C>,
    C: Async + Blocking,
    W: World,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let service = Arc::new(S::start());
    let (mut tx, mut rx) = open::<C, &'static str>(Buffer::Rendezvous);
    let began = W::now_nanos();
    let timeouts = Arc::clone(&service);
    executor.spawn(async move {
        let mut timeout = timeouts.timeout::<()>(ms(1_000));
        drop(timeouts);
        let _closed = C::take_async(&mut timeout).await;
        let _ = C::put_async(&mut tx, "hello from the future!").await;
    });
    let heard = C::take(&mut rx);
    let heard = heard.map_or_else(|why| format!("{why:?}"), |heard| format!("{heard:?}"));
    format!("{heard} {}", after::<W>(began))
}

fn parked<E, S, C, W>() -> String
where
    E: Executors,
    S: Timeouts<C>,
    C: Async + Blocking,
    W: World,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let service = S::start();
    let (mut begun, mut begins) = open::<C, ()>(Buffer::fixed(1));
    let (mut tx, mut rx) = open::<C, ()>(Buffer::fixed(1));
    let began = W::now_nanos();
    let mut timeout = service.timeout::<()>(ms(1_000));
    executor.spawn(async move {
        let _ = C::offer(&mut begun, ());
        let _closed = C::take_async(&mut timeout).await;
    });
    let _begun = C::take(&mut begins);
    executor.spawn(async move {
        let _ = C::offer(&mut tx, ());
    });
    let _ran = C::take(&mut rx);
    format!("its thread runs another go block {}", after::<W>(began))
}

fn cores() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

fn threads_of_the_pool<E: Executors, C: Async + Blocking, W: World>() -> String {
    let cores = cores();
    match begun_of_blocking::<E, C, W>(2 * cores + 8) {
        Some(threads) if threads >= cores => format!("{} + cores", threads - cores),
        Some(threads) => format!("{threads}"),
        None => "no number of its own".to_owned(),
    }
}

fn starved<E: Executors, C: Async + Blocking, W: World>() -> String {
    let threads = cores() + 2;
    match begun_of_blocking::<E, C, W>(threads + 1) {
        Some(begun) if begun <= threads => "the next go block never begins".to_owned(),
        Some(begun) => format!("{begun} go blocks begin"),
        None => "no number of its own".to_owned(),
    }
}

/// How many of so many blocking go blocks begin before the first is released, on a pool that chooses its number of
/// threads.
fn begun_of_blocking<E: Executors, C: Async + Blocking, W: World>(blocks: usize) -> Option<usize> {
    let pool = E::with_default_threads()?;
    let (tx, mut rx) = open::<C, ()>(Buffer::fixed(1));
    let begun = Arc::new(AtomicUsize::new(0));
    let when_all_wait = Arc::new(AtomicUsize::new(0));
    for _ in 0..blocks {
        let (begun, mut rx) = (Arc::clone(&begun), another::<C, ()>(&rx));
        pool.spawn(async move {
            // Relaxed: one system thread runs all of a model.
            begun.fetch_add(1, Ordering::Relaxed);
            // A go block must not do this.
            let _closed = C::take(&mut rx);
        });
    }
    let (counted, seen) = (Arc::clone(&begun), Arc::clone(&when_all_wait));
    W::on_quiescence(move || {
        seen.store(counted.load(Ordering::Relaxed), Ordering::Relaxed);
        C::close(&tx);
    });
    let _closed = C::take(&mut rx);
    drop(pool);
    Some(when_all_wait.load(Ordering::Relaxed))
}

fn leave_a_timer_armed<T: Timers>() {
    let service = T::start();
    let in_an_hour = Deadline::after(Std::now_nanos(), ms(3_600_000));
    std::mem::forget(service.schedule(in_an_hour, |_| {}));
    // The original's service is never told to end either.
    std::mem::forget(service);
}
