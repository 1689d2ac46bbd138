//! What the crate's names cost over the channel below: nothing but the renaming of answers. `cargo bench -p alts
//! --features names-cost`.
//!
//! Both loops send and receive one value on one thread, by turns. The shortest of many rounds counts. The two should
//! differ by no more than two runs of one of them do.

use std::hint::black_box;
use std::time::{Duration, Instant};

use flowmeter_impls::channel::Buffer;
use flowmeter_impls::channel::lock_free::Channel;

const PAIRS: u32 = 100_000;
const ROUNDS: usize = 200;

fn timed(mut pair: impl FnMut(u64)) -> Duration {
    let began = Instant::now();
    for value in 0..PAIRS {
        pair(u64::from(value));
    }
    began.elapsed()
}

fn main() {
    let (tx, rx) = alts::bounded(64);
    let (producer, consumer) = Channel::split(Buffer::fixed(64));
    let (mut named, mut bare) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        named = named.min(timed(|value| {
            tx.send(black_box(value)).expect("it has a receiver");
            black_box(rx.recv()).expect("it has a sender");
        }));
        bare = bare.min(timed(|value| {
            producer.put(black_box(value)).expect("it is open");
            black_box(consumer.take()).expect("it is open");
        }));
    }
    let nanos = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(PAIRS);
    println!(
        "send and recv: {:.2} ns, put and take: {:.2} ns",
        nanos(named),
        nanos(bare)
    );
}
