//! What channels and timers hold on the heap, as two tables. Channels: empty ones, a message in the queue, and a take
//! that waits. Timers: an armed one, as a callback or as a future, and what ten million cancelled timers leave behind
//! (T9).
//!
//! ```text
//! cargo bench -p flowmeter-impls --features footprint --bench footprint
//! ```

#![allow(
    clippy::disallowed_methods,
    reason = "it runs against std alone: no checker watches"
)]

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use flowmeter_harness::channel::{Async, Blocking, Buffer, Channels, Offered};
use flowmeter_harness::registry::{Registered, Registry, Visitor};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::{block_on, clock};
use flowmeter_harness::timer::{Cancel, Sleep, Timers};
use flowmeter_impls::registry::All;
use flowmeter_measure::allocation::{Counting, live_bytes, switch_on};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The measured columns, in bytes.
const COLUMNS: [&str; 6] = [
    "rendezvous",
    "`fixed(1)`",
    "`fixed(64)`",
    "unbounded",
    "a message",
    "a waiting take",
];
const MESSAGE: usize = 4;
const WAITER: usize = 5;

/// The bytes of an implementation by column, as far as it supports what the column measures.
type Row = [Option<f64>; COLUMNS.len()];

#[derive(Default)]
struct Table(BTreeMap<&'static str, Row>);

impl Table {
    fn fill(&mut self, implementation: &Registered, column: usize, bytes: Option<f64>) {
        let cell = &mut self.0.entry(implementation.name).or_default()[column];
        *cell = cell.or(bytes);
    }

    fn channels<C: Channels>(&mut self, implementation: &Registered) {
        let buffers = [
            Buffer::Rendezvous,
            Buffer::fixed(1),
            Buffer::fixed(64),
            Buffer::Unbounded,
        ];
        for (column, buffer) in buffers.into_iter().enumerate() {
            self.fill(implementation, column, of_a_channel::<C>(buffer));
        }
        self.fill(implementation, MESSAGE, of_a_message::<C>());
    }
}

impl Visitor for Table {
    fn blocking<C: Blocking>(&mut self, implementation: &Registered) {
        self.channels::<C>(implementation);
    }
    fn asynchronous<C: Async>(&mut self, implementation: &Registered) {
        self.channels::<C>(implementation);
        self.fill(implementation, WAITER, of_a_take::<C>());
    }
}

/// The bytes that one of `many` holds after `act`, and did not before. Measured at the second call, when the crate has
/// allocated its global state.
fn held<R>(many: usize, mut act: impl FnMut() -> Option<R>) -> Option<f64> {
    drop(act()?);
    let before = live_bytes().expect("it is counted");
    let kept = act()?;
    let bytes = live_bytes().expect("it is counted") - before;
    drop(kept);
    Some(bytes as f64 / many as f64)
}

/// A channel with its first halves.
fn of_a_channel<C: Channels>(buffer: Buffer) -> Option<f64> {
    held(1, || C::open::<u64>(buffer))
}

/// A message of 8 bytes, among many in an unbounded channel.
fn of_a_message<C: Channels>() -> Option<f64> {
    const MANY: usize = 10_000;
    let filled = held(MANY, || {
        let (mut tx, rx) = C::open::<u64>(Buffer::Unbounded)?;
        for value in 0..MANY {
            assert_eq!(C::offer(&mut tx, value as u64), Offered::Done);
        }
        Some((tx, rx))
    })?;
    Some(filled - of_a_channel::<C>(Buffer::Unbounded)? / MANY as f64)
}

/// A future that has been polled once, with its own size; the average of many where many takes may wait.
fn of_a_take<C: Async>() -> Option<f64> {
    const MANY: usize = 100;
    let buffers = [Buffer::fixed(64), Buffer::Unbounded];
    let (tx, rx) = buffers.into_iter().find_map(C::open::<u64>)?;
    let further = (1..MANY)
        .map_while(|_| C::another_rx(&rx))
        .collect::<Vec<_>>();
    let mut rxs: Vec<_> = further.into_iter().chain([rx]).collect();
    let many = rxs.len();
    let wait = |rxs: &mut Vec<C::Rx<u64>>| -> i64 {
        let mut context = Context::from_waker(Waker::noop());
        let mut takes: Vec<Pin<Box<dyn Future<Output = _> + Send + '_>>> = Vec::with_capacity(many);
        let before = live_bytes().expect("it is counted");
        for rx in rxs {
            let mut take: Pin<Box<dyn Future<Output = _> + Send + '_>> =
                Box::pin(C::take_async(rx));
            assert!(take.as_mut().poll(&mut context).is_pending());
            takes.push(take);
        }
        live_bytes().expect("it is counted") - before
    };
    wait(&mut rxs);
    let bytes = wait(&mut rxs);
    drop((tx, rxs));
    Some(bytes as f64 / many as f64)
}

/// The table of timers.
#[derive(Default)]
struct Timed(BTreeMap<&'static str, [Option<String>; TIMED.len()]>);

const TIMED: [&str; 4] = [
    "a timer",
    "a sleep",
    "10,000,000 timers called off",
    "10,000,000 sleeps dropped",
];

/// Timers that are armed at once.
const ARMED: usize = 100_000;
const CYCLES: u64 = 10_000_000;
/// The measurement stops at this many bytes: more would show nothing new.
const ENOUGH: i64 = 1 << 30;

impl Timed {
    fn fill(&mut self, implementation: &Registered, column: usize, text: String) {
        self.0.entry(implementation.name).or_default()[column] = Some(text);
    }
}

impl Visitor for Timed {
    fn timer<T: Timers>(&mut self, implementation: &Registered) {
        let timers = T::start();
        let one = |deadline| timers.schedule(deadline, |_| {});
        let bytes = of_a_timer(one, || settle(&timers));
        self.fill(implementation, 0, bytes);
    }

    fn sleep<S: Sleep>(&mut self, implementation: &Registered) {
        let service = S::start();
        let one = |deadline| begun(Box::pin(service.sleep_until(deadline)));
        let settle = || block_on(service.sleep_until(clock::after(SOON)));
        let bytes = of_a_timer(one, settle);
        self.fill(implementation, 1, bytes);
        let left = left_behind(|deadline| drop(one(deadline)), settle);
        self.fill(implementation, 3, left);
    }

    fn cancel<T: Cancel>(&mut self, implementation: &Registered) {
        let timers = T::start();
        let cycle = |deadline| {
            let handle = timers.schedule(deadline, |_| {});
            assert!(timers.cancel(&handle), "it fired an hour early");
        };
        let left = left_behind(cycle, || settle(&timers));
        self.fill(implementation, 2, left);
    }
}

const SOON: std::time::Duration = std::time::Duration::from_millis(1);

/// A deadline of an hour from now or more.
fn far(number: u64) -> Deadline {
    Deadline::from_nanos(clock::now_nanos() + 3_600_000_000_000 + number % 1_000 * 1_000_000_000)
}

/// Waits until the service has processed all earlier requests: a timer that is due now fires after them.
fn settle<T: Timers>(timers: &T) {
    let (call, called) = std::sync::mpsc::channel();
    timers.schedule(clock::after(SOON), move |_| {
        let _ = call.send(());
    });
    called.recv().expect("it fires");
}

/// The future, polled once.
fn begun<F: Future>(mut future: Pin<Box<F>>) -> Pin<Box<F>> {
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
    future
}

/// Bytes of one timer among many. Capacity that growing leaves unused is included; handles are not.
fn of_a_timer<N>(mut arm: impl FnMut(Deadline) -> N, settle: impl Fn()) -> String {
    let mut names = Vec::with_capacity(ARMED);
    drop(arm(far(0)));
    settle();
    let before = live_bytes().expect("it is counted");
    names.extend((0..ARMED as u64).map(|number| arm(far(number))));
    settle();
    let bytes = live_bytes().expect("it is counted") - before;
    format!("{:.0}", bytes as f64 / ARMED as f64)
}

/// The additional bytes that are held after so many timers have come and gone.
fn left_behind(mut cycle: impl FnMut(Deadline), settle: impl Fn()) -> String {
    const LOOK: u64 = 100_000;
    for number in 0..LOOK {
        cycle(far(number));
    }
    settle();
    let before = live_bytes().expect("it is counted");
    let held = || live_bytes().expect("it is counted") - before;
    for number in 0..CYCLES {
        cycle(far(number));
        if number % LOOK == 0 {
            settle();
            if held() > ENOUGH {
                return format!("over {ENOUGH} after {number}");
            }
        }
    }
    settle();
    held().to_string()
}

fn print<const N: usize>(columns: [&str; N], rows: BTreeMap<&str, [Option<String>; N]>) {
    println!("| bytes | {} |", columns.join(" | "));
    println!("|{}", " --- |".repeat(N + 1));
    for (name, row) in rows {
        let cells = row.map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!();
}

fn main() {
    assert!(switch_on(), "this program's allocator counts");
    let mut table = Table::default();
    All.channels(&mut table);
    let rows = table.0.into_iter();
    let text = |row: Row| row.map(|bytes| bytes.map(|bytes| format!("{bytes:.0}")));
    print(COLUMNS, rows.map(|(name, row)| (name, text(row))).collect());
    let mut timed = Timed::default();
    All.timers(&mut timed);
    print(TIMED, timed.0);
}
