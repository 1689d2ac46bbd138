//! The cost of the workload `stream` over a bare loop in std's own API. Both run in turn, several rounds, and the
//! median of their ratios is printed. A ratio from 0.9 to 1.1 is a fair adapter.
//!
//! `cargo run --release -p flowmeter-suites --no-default-features --example against_bare`

#[path = "../tests/families/mod.rs"]
#[allow(dead_code)] // the liars of the tests do not take part
mod families;

use std::hint::black_box;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use families::Tested;
use flowmeter_measure::{WindowSpec, clock};
use flowmeter_suites::catalogue::Catalogue;
use flowmeter_suites::scenario::built_in;

const ROUNDS: usize = 15;
const RAMP: Duration = Duration::from_millis(20);
const WINDOW: Duration = Duration::from_millis(200);

/// A scenario, and its bare loop.
type Bare = (&'static str, fn() -> f64);

/// Messages per second from one thread to another, after a ramp, without any harness.
fn bare<S: Send + 'static>(
    (tx, rx): (S, mpsc::Receiver<u64>),
    send: impl Fn(&S, u64) + Send + 'static,
) -> f64 {
    let starts = Instant::now();
    let producer = thread::spawn(move || {
        let mut next = 0;
        while starts.elapsed() < RAMP + WINDOW {
            for _ in 0..256 {
                send(&tx, next);
                next += 1;
            }
        }
    });
    let (mut count, mut sum) = (0_u64, 0_u64);
    let (mut at_first, mut at_last) = (None, None);
    while let Ok(value) = rx.recv() {
        sum = sum.wrapping_add(value);
        count += 1;
        if count % 256 == 0 && at_last.is_none() {
            let elapsed = starts.elapsed();
            if at_first.is_none() && elapsed >= RAMP {
                at_first = Some((count, elapsed));
            }
            if elapsed >= RAMP + WINDOW {
                at_last = Some((count, elapsed));
            }
        }
    }
    black_box(sum);
    producer.join().expect("a bare producer does not panic");
    let (first, last) = (
        at_first.expect("a window"),
        at_last.unwrap_or((count, starts.elapsed())),
    );
    (last.0 - first.0) as f64 / (last.1 - first.1).as_secs_f64()
}

fn bounded(capacity: usize) -> f64 {
    bare(mpsc::sync_channel(capacity), |tx, value| {
        tx.send(value).expect("the consumer lives");
    })
}

fn unbounded() -> f64 {
    bare(mpsc::channel(), |tx, value| {
        tx.send(value).expect("the consumer lives");
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    clock::calibrate();
    let catalogue = Catalogue::of(Tested);
    let bares: [Bare; 5] = [
        ("channels/spsc-rendezvous", || bounded(0)),
        ("channels/spsc-1", || bounded(1)),
        ("channels/spsc-64", || bounded(64)),
        ("channels/spsc-1024", || bounded(1024)),
        ("channels/spsc-unbounded", unbounded),
    ];
    let scenarios = built_in();
    for (name, bare) in bares {
        let scenario = scenarios.iter().find(|s| s.name == name);
        let scenario = scenario.expect("built in");
        let mut stage = catalogue.stage("std", scenario).expect("std takes part");
        let spec = WindowSpec {
            ramp_nanos: RAMP.as_nanos() as u64,
            nanos: WINDOW.as_nanos() as u64,
            slowed_percent: None,
            seed: 0,
        };
        let (mut ratios, mut rates) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // The order alternates.
            let early = (round % 2 == 0).then(bare);
            let through = stage.window(spec).expect("std is honest").value;
            let alone = early.unwrap_or_else(bare);
            ratios.push(through / alone);
            rates.push(through / 1e6);
        }
        println!(
            "{name:28} {:8.3} M messages/s, {:.3} of the bare loop",
            median(rates),
            median(ratios)
        );
    }
}
