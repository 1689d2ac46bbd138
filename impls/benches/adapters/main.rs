//! What an adapter costs over a bare loop in its crate's own API. The target is nothing; the limit is 10 %.
//!
//! ```text
//! cargo bench -p flowmeter-impls --features adapter-cost --bench adapters
//! ```
//!
//! There are two workloads of channels at capacity 64: a put and a take on one thread (`uncontended`), and
//! one producer against one consumer (`stream`). There are two of timers: arming a timer hours ahead and
//! cancelling it (`cancel`), and a sleep that is made, polled once and dropped (`sleep`). There is a choice among
//! several channels (`alts`), and tasks that end at once (`spawn`).
//!
//! A round runs the adapter and the bare loop one right after the other, in an order that changes from round
//! to round, and gives one ratio. The output is the median of the times, and of the ratios with their
//! quartiles. Criterion would time all rounds of one, then all of the other. In those seconds a shared
//! machine drifts by more than the 10 % in question.
//!
//! A number after `--` is the number of rounds (default 41); other words select pairs by their names. The
//! program ends with code 1 when a lower quartile lies above 1.10.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crossfire::{mpmc, spsc};
use flowmeter_harness::channel::{Async, Blocking, Buffer};
use flowmeter_harness::sync::std::block_on;
use flowmeter_impls::peers::async_channel::AsyncChannel;
use flowmeter_impls::peers::crossbeam::Crossbeam;
use flowmeter_impls::peers::crossfire::{MpmcArray, SpscArray, Tasks, Threads};
use flowmeter_impls::peers::flume::Flume;
use flowmeter_impls::peers::kanal::Kanal;
use flowmeter_impls::peers::loole::Loole;
use flowmeter_impls::peers::std as mpsc;
use flowmeter_impls::peers::thingbuf as thingbuf_mpsc;
use flowmeter_impls::peers::tokio as tokio_mpsc;

mod executors;
mod select;
mod timers;

const CAPACITY: usize = 64;

/// Runs that many operations and returns how long they took.
type Loop = fn(u64) -> Duration;

struct Pair {
    name: &'static str,
    adapter: Loop,
    bare: Loop,
}

/// One thread: a put, then a take.
fn alone(values: u64, mut round: impl FnMut(u64) -> u64) -> Duration {
    let start = Instant::now();
    for value in 0..values {
        assert_eq!(black_box(round(black_box(value))), value);
    }
    start.elapsed()
}

/// Two threads, timed from the moment both are there to the last value taken.
fn across(produce: impl FnOnce() + Send, consume: impl FnOnce()) -> Duration {
    let ready = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.wait();
            produce();
        });
        ready.wait();
        let start = Instant::now();
        consume();
        start.elapsed()
    })
}

fn open<C: flowmeter_harness::channel::Channels>(buffer: Buffer) -> (C::Tx<u64>, C::Rx<u64>) {
    C::open(buffer).expect("the family has this buffer")
}

const fn buffer(unbounded: bool) -> Buffer {
    if unbounded {
        Buffer::Unbounded
    } else {
        Buffer::fixed(CAPACITY)
    }
}

fn uncontended<C: Blocking, const UNBOUNDED: bool>(values: u64) -> Duration {
    let (mut tx, mut rx) = open::<C>(buffer(UNBOUNDED));
    alone(values, |value| {
        C::put(&mut tx, value).expect("open");
        C::take(&mut rx).expect("open")
    })
}

fn stream<C: Blocking, const UNBOUNDED: bool>(values: u64) -> Duration {
    let (mut tx, mut rx) = open::<C>(buffer(UNBOUNDED));
    across(
        move || (0..values).for_each(|value| C::put(&mut tx, value).expect("open")),
        move || (0..values).for_each(|value| assert_eq!(C::take(&mut rx), Ok(value))),
    )
}

fn uncontended_async<C: Async, const UNBOUNDED: bool>(values: u64) -> Duration {
    let (mut tx, mut rx) = open::<C>(buffer(UNBOUNDED));
    block_on(async move {
        let start = Instant::now();
        for value in 0..values {
            C::put_async(&mut tx, black_box(value)).await.expect("open");
            assert_eq!(black_box(C::take_async(&mut rx).await), Ok(value));
        }
        start.elapsed()
    })
}

fn stream_async<C: Async, const UNBOUNDED: bool>(values: u64) -> Duration {
    let (mut tx, mut rx) = open::<C>(buffer(UNBOUNDED));
    across(
        move || {
            block_on(async move {
                for value in 0..values {
                    C::put_async(&mut tx, value).await.expect("open");
                }
            });
        },
        move || {
            block_on(async move {
                for value in 0..values {
                    assert_eq!(C::take_async(&mut rx).await, Ok(value));
                }
            });
        },
    )
}

/// The same loops in a crate's own API.
macro_rules! pairs {
    ($name:literal, $family:ty, unbounded $unbounded:literal, $open:expr,
     |$tx:ident, $value:ident| $put:expr, |$rx:ident| $take:expr) => {
        [
            Pair {
                name: concat!("uncontended ", $name),
                adapter: uncontended::<$family, $unbounded>,
                #[allow(unused_mut)] // some crates take by `&`, some by `&mut`
                bare: |values| {
                    let ($tx, mut $rx) = $open;
                    alone(values, |$value: u64| {
                        $put.expect("open");
                        $take.expect("open")
                    })
                },
            },
            Pair {
                name: concat!("stream      ", $name),
                adapter: stream::<$family, $unbounded>,
                #[allow(unused_mut)]
                bare: |values| {
                    let ($tx, mut $rx) = $open;
                    across(
                        move || (0..values).for_each(|$value: u64| $put.expect("open")),
                        move || (0..values).for_each(|value| assert_eq!($take.ok(), Some(value))),
                    )
                },
            },
        ]
    };
    (async $name:literal, $family:ty, unbounded $unbounded:literal, $open:expr,
     |$tx:ident, $value:ident| $put:expr, |$rx:ident| $take:expr) => {
        [
            Pair {
                name: concat!("uncontended ", $name),
                adapter: uncontended_async::<$family, $unbounded>,
                #[allow(unused_mut)]
                bare: |values| {
                    let ($tx, mut $rx) = $open;
                    block_on(async move {
                        let start = Instant::now();
                        for value in 0..values {
                            let $value: u64 = black_box(value);
                            $put.expect("open");
                            assert_eq!(black_box($take), Some(value));
                        }
                        start.elapsed()
                    })
                },
            },
            Pair {
                name: concat!("stream      ", $name),
                adapter: stream_async::<$family, $unbounded>,
                #[allow(unused_mut)]
                bare: |values| {
                    let ($tx, mut $rx) = $open;
                    across(
                        move || {
                            block_on(async move {
                                for $value in 0..values {
                                    $put.expect("open");
                                }
                            });
                        },
                        move || {
                            block_on(async move {
                                for value in 0..values {
                                    assert_eq!($take, Some(value));
                                }
                            });
                        },
                    )
                },
            },
        ]
    };
}

fn pairs() -> Vec<Pair> {
    [
        pairs!("crossbeam-channel", Crossbeam, unbounded false, crossbeam_channel::bounded(CAPACITY),
            |tx, value| tx.send(value), |rx| rx.recv()),
        pairs!("kanal", Kanal, unbounded false, kanal::bounded(CAPACITY),
            |tx, value| tx.send(value), |rx| rx.recv()),
        pairs!(async "kanal async", Kanal, unbounded false, kanal::bounded_async(CAPACITY),
            |tx, value| tx.send(value).await, |rx| rx.recv().await.ok()),
        pairs!("flume", Flume, unbounded false, flume::bounded(CAPACITY),
            |tx, value| tx.send(value), |rx| rx.recv()),
        pairs!(async "flume async", Flume, unbounded false, flume::bounded(CAPACITY),
            |tx, value| tx.send_async(value).await, |rx| rx.recv_async().await.ok()),
        pairs!(async "tokio-mpsc async", tokio_mpsc::Bounded, unbounded false,
            tokio::sync::mpsc::channel(CAPACITY),
            |tx, value| tx.send(value).await, |rx| rx.recv().await),
        pairs!(async "tokio-mpsc async unbounded", tokio_mpsc::Unbounded, unbounded true,
            tokio::sync::mpsc::unbounded_channel(),
            |tx, value| tx.send(value), |rx| rx.recv().await),
        pairs!("std-mpsc", mpsc::Sync, unbounded false, std::sync::mpsc::sync_channel(CAPACITY),
            |tx, value| tx.send(value), |rx| rx.recv()),
        pairs!("std-mpsc unbounded", mpsc::Unbounded, unbounded true, std::sync::mpsc::channel(),
            |tx, value| tx.send(value), |rx| rx.recv()),
        pairs!("async-channel", AsyncChannel, unbounded false, async_channel::bounded(CAPACITY),
            |tx, value| tx.send_blocking(value), |rx| rx.recv_blocking()),
        pairs!(async "async-channel async", AsyncChannel, unbounded false,
            async_channel::bounded(CAPACITY),
            |tx, value| tx.send(value).await, |rx| rx.recv().await.ok()),
        pairs!("crossfire", Threads<MpmcArray>, unbounded false,
            mpmc::bounded_blocking(CAPACITY),
            |tx, value| tx.send(value), |rx| rx.recv()),
        pairs!(async "crossfire async", Tasks<MpmcArray>, unbounded false,
            mpmc::bounded_async(CAPACITY),
            |tx, value| tx.send(value).await, |rx| rx.recv().await.ok()),
        pairs!("crossfire-spsc", Threads<SpscArray>, unbounded false,
            spsc::bounded_blocking(CAPACITY),
            |tx, value| tx.send(value), |rx| rx.recv()),
        pairs!(async "crossfire-spsc async", Tasks<SpscArray>, unbounded false,
            spsc::bounded_async(CAPACITY),
            |tx, value| tx.send(value).await, |rx| rx.recv().await.ok()),
        pairs!("loole", Loole, unbounded false, loole::bounded(CAPACITY),
            |tx, value| tx.send(value), |rx| rx.recv()),
        pairs!(async "loole async", Loole, unbounded false, loole::bounded(CAPACITY),
            |tx, value| tx.send_async(value).await, |rx| rx.recv_async().await.ok()),
        pairs!("thingbuf", thingbuf_mpsc::Threads, unbounded false,
            thingbuf::mpsc::blocking::channel(CAPACITY),
            |tx, value| tx.send(value), |rx| rx.recv().ok_or(())),
        pairs!(async "thingbuf async", thingbuf_mpsc::Tasks, unbounded false,
            thingbuf::mpsc::channel(CAPACITY),
            |tx, value| tx.send(value).await, |rx| rx.recv().await),
    ]
    .into_iter()
    .flatten()
    .chain(select::pairs())
    .chain(timers::pairs())
    .chain(executors::pairs())
    .collect()
}

/// The value that the given share of them does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The number of operations that takes the bare loop about ten milliseconds.
fn calibrate(bare: Loop) -> u64 {
    let mut values = 1_000;
    loop {
        let took = bare(values);
        if took >= Duration::from_millis(8) {
            return values;
        }
        values *= 2;
    }
}

fn main() -> ExitCode {
    let words = || std::env::args().skip(1).filter(|word| word != "--bench");
    let rounds = words().find_map(|word| word.parse().ok());
    let rounds: u64 = rounds.unwrap_or(41).max(1);
    let mut pairs = pairs();
    pairs.push(timers::ONE_OWNER);
    for part in words().filter(|word| word.parse::<u64>().is_err()) {
        pairs.retain(|pair| pair.name.contains(&part));
    }
    println!(
        "{:38} {:>8} {:>8}   ratio [quartiles]",
        "ns an operation", "bare", "adapter"
    );
    let mut dear = false;
    for Pair {
        name,
        adapter,
        bare,
    } in pairs
    {
        let values = calibrate(bare);
        adapter(values);
        let nanos = |run: Loop| run(values).as_nanos() as f64 / values as f64;
        let times: Vec<(f64, f64)> = (0..rounds)
            .map(|round| {
                if round % 2 == 0 {
                    let adapter = nanos(adapter);
                    (adapter, nanos(bare))
                } else {
                    let bare = nanos(bare);
                    (nanos(adapter), bare)
                }
            })
            .collect();
        let ratios = sorted(times.iter().map(|(adapter, bare)| adapter / bare));
        let (low, middle, high) = (
            quantile(&ratios, 0.25),
            quantile(&ratios, 0.5),
            quantile(&ratios, 0.75),
        );
        let adapter = quantile(&sorted(times.iter().map(|time| time.0)), 0.5);
        let bare = quantile(&sorted(times.iter().map(|time| time.1)), 0.5);
        println!("{name:38} {bare:8.1} {adapter:8.1}   {middle:.3} [{low:.3}, {high:.3}]");
        dear |= low > 1.10 && name != timers::ONE_OWNER.name;
    }
    if dear {
        println!("an adapter costs more than 10 %");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
