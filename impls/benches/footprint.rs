//! What channels hold on the heap: empty ones, a message in the queue, and a take that waits. As a table to read.
//!
//! ```text
//! cargo bench -p flowmeter-impls --features footprint --bench footprint
//! ```

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use flowmeter_harness::channel::{Async, Blocking, Buffer, Channels, Offered};
use flowmeter_harness::measure::allocation::{Counting, live_bytes, switch_on};
use flowmeter_harness::registry::{Contestant, Enrol, Registry};
use flowmeter_impls::registry::Everybody;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is measured, in bytes.
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

/// A contestant's bytes by column, as far as it has what they are about.
type Row = [Option<f64>; COLUMNS.len()];

#[derive(Default)]
struct Table(BTreeMap<&'static str, Row>);

impl Table {
    fn fill(&mut self, who: &Contestant, column: usize, bytes: Option<f64>) {
        let cell = &mut self.0.entry(who.name).or_default()[column];
        *cell = cell.or(bytes);
    }

    fn channels<C: Channels>(&mut self, who: &Contestant) {
        let buffers = [
            Buffer::Rendezvous,
            Buffer::fixed(1),
            Buffer::fixed(64),
            Buffer::Unbounded,
        ];
        for (column, buffer) in buffers.into_iter().enumerate() {
            self.fill(who, column, of_a_channel::<C>(buffer));
        }
        self.fill(who, MESSAGE, of_a_message::<C>());
    }
}

impl Enrol for Table {
    fn blocking<C: Blocking>(&mut self, who: &Contestant) {
        self.channels::<C>(who);
    }
    fn asynchronous<C: Async>(&mut self, who: &Contestant) {
        self.channels::<C>(who);
        self.fill(who, WAITER, of_a_take::<C>());
    }
}

/// What is held after `act` that was not before, over so many; of a second time, when what a crate keeps for itself
/// is there already.
fn held<R>(many: usize, mut act: impl FnMut() -> Option<R>) -> Option<f64> {
    drop(act()?);
    let before = live_bytes().expect("it is counted");
    let kept = act()?;
    let bytes = live_bytes().expect("it is counted") - before;
    drop(kept);
    Some(bytes as f64 / many as f64)
}

/// With its first halves.
fn of_a_channel<C: Channels>(buffer: Buffer) -> Option<f64> {
    held(1, || C::open::<u64>(buffer))
}

/// One of 8 bytes, of many in an unbounded channel.
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

/// A future that has been polled once, its own size included; of many where takes may be many.
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

fn main() {
    assert!(switch_on(), "this program's allocator counts");
    let mut table = Table::default();
    Everybody.channels(&mut table);
    println!("| bytes | {} |", COLUMNS.join(" | "));
    println!("|{}", " --- |".repeat(COLUMNS.len() + 1));
    for (name, row) in table.0 {
        let cells = row.map(|bytes| bytes.map_or("-".to_owned(), |bytes| format!("{bytes:.0}")));
        println!("| {name} | {} |", cells.join(" | "));
    }
}
