//! Behaviour that only a million items show: pipelines over days of virtual time, on one thread and in some seconds.
//!
//! The makespan is compared with that of as many servers as may be in flight, each of which takes the next item in
//! the order of inputs as soon as it is free. Moments are exact: time passes when no task can run.

#![expect(clippy::disallowed_types, reason = "these tests run against std alone")]

mod simulation;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_harness::channel::{Async, Buffer, Channels};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_impls::channel::mutex::MutexChannels as C;
use flowmeter_impls::pipeline::windowed::Window;
use flowmeter_impls::pipeline::{CoreAsync, Finishes, Swapped, Unordered, Windowed};

use simulation::Simulation;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;

/// Exponentially distributed nanoseconds, the same each time. Source of the numbers: Marsaglia's xorshift.
fn exponential(mean: u64, items: usize) -> Arc<[u64]> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let one = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // 53 bits, and never zero.
        let uniform = ((state >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        (-uniform.ln() * mean as f64) as u64
    };
    (0..items).map(one).collect()
}

/// One item of ten seconds, and 3,000 of ten milliseconds.
fn slow_head() -> Arc<[u64]> {
    let others = std::iter::repeat_n(SECOND / 100, 3_000);
    std::iter::once(10 * SECOND).chain(others).collect()
}

/// When the last item is done if each of so many servers takes the next one as soon as it is free.
fn ideal(durations: &[u64], servers: usize) -> u64 {
    let mut free: BinaryHeap<Reverse<u64>> = (0..servers).map(|_| Reverse(0)).collect();
    let mut last = 0;
    for duration in durations {
        let Reverse(begins) = free.pop().expect("there is a server");
        last = last.max(begins + duration);
        free.push(Reverse(begins + duration));
    }
    last
}

/// The result of a run.
struct Run {
    /// When the last result was taken, in nanoseconds.
    makespan: u64,
    /// The most in flight at one moment.
    peak: usize,
}

fn run<P: Pipelines<C, Simulation>>(pipeline: P, n: usize, durations: &Arc<[u64]>) -> Run {
    let n = NonZeroUsize::new(n).expect("at least one is in flight");
    let simulation = Simulation::with_threads(NonZeroUsize::MIN);
    let spawner = simulation.spawner();
    let items = durations.len();
    let (mut feed, from) = C::open::<usize>(Buffer::Fixed(n)).expect("it has buffers");
    let (to, mut results) = C::open::<usize>(Buffer::Fixed(n)).expect("it has buffers");
    spawner.spawn(async move {
        for item in 0..items {
            C::put_async(&mut feed, item).await.expect("it is open");
        }
        C::close(&feed);
    });

    let (now, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (flying, most) = (Arc::clone(&now), Arc::clone(&peak));
    let (durations, clock) = (Arc::clone(durations), simulation.clock());
    let af = move |item: usize, mut port: ResultPort<C, usize, P::Permit>| {
        let begun = flying.fetch_add(1, Ordering::Relaxed) + 1;
        most.fetch_max(begun, Ordering::Relaxed);
        let slept = clock.sleep(durations[item]);
        let flying = Arc::clone(&flying);
        async move {
            slept.await;
            let put = port.put(item).await;
            put.expect("nothing closes it");
            flying.fetch_sub(1, Ordering::Relaxed);
        }
    };
    let end = pipeline.start(spawner.clone(), n, from, to, af, AtEnd::Close);
    drop(end);

    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    spawner.spawn(async move {
        while let Ok(item) = C::take_async(&mut results).await {
            let before = counted.fetch_add(1, Ordering::Relaxed);
            assert!(
                !P::ORDERED || item == before,
                "{item} came as the {before}th"
            );
        }
    });
    let makespan = simulation.run();
    assert_eq!(
        taken.load(Ordering::Relaxed),
        items,
        "a result for each item"
    );
    Run {
        makespan,
        peak: peak.load(Ordering::Relaxed),
    }
}

/// Makespan over ideal, of a pipeline that keeps to n.
fn over_ideal<P: Pipelines<C, Simulation>>(pipeline: P, n: usize, durations: &Arc<[u64]>) -> f64 {
    let run = run(pipeline, n, durations);
    assert_eq!(run.peak, n, "in flight");
    run.makespan as f64 / ideal(durations, n) as f64
}

#[test]
fn a_million_exponential_items_over_days_take_what_ten_thousand_servers_need() {
    let durations = exponential(DAY / 24, 1_000_000);
    let n = 10_000;
    let run = run(Windowed::default(), n, &durations);
    assert_eq!(run.peak, n, "in flight");
    assert!(run.makespan > 4 * DAY, "{} s", run.makespan / SECOND);
    let ratio = run.makespan as f64 / ideal(&durations, n) as f64;
    assert!(ratio <= 1.05, "{ratio} times the ideal");
}

#[test]
fn the_recommended_window_is_wide_enough_for_any_n() {
    for n in [1, 4, 64, 1_000] {
        let durations = exponential(SECOND, 100 * n);
        let ratio = over_ideal(Windowed::default(), n, &durations);
        assert!(ratio <= 1.05, "n = {n}: {ratio} times the ideal");
    }
}

/// Otherwise the window would be pointless.
#[test]
fn a_window_of_n_is_not() {
    let durations = exponential(SECOND, 100 * 64);
    let narrow = Windowed::with_window(Window::Times(NonZeroUsize::MIN));
    let ratios = [
        over_ideal(narrow, 64, &durations),
        over_ideal(Finishes::default(), 64, &durations),
    ];
    for ratio in ratios {
        assert!(ratio > 1.5, "{ratio} times the ideal");
    }
}

#[test]
fn a_pipeline_without_order_takes_the_ideal_time() {
    let durations = exponential(SECOND, 100_000);
    let ratio = over_ideal(Unordered::default(), 1_000, &durations);
    assert!((ratio - 1.0).abs() < 1e-9, "{ratio} times the ideal");
}

/// In hundredths of a second; P5 states tenths of them.
fn hundredths<P: Pipelines<C, Simulation>>(pipeline: P, in_flight: usize) -> u64 {
    let run = run(pipeline, 4, &slow_head());
    assert_eq!(run.peak, in_flight, "in flight");
    run.makespan / (SECOND / 100)
}

#[test]
fn a_slow_head_costs_what_the_window_leaves_no_room_for() {
    let window = |items| {
        let items = NonZeroUsize::new(items).expect("it has places");
        Windowed::with_window(Window::Items(items))
    };
    assert_eq!(hundredths(window(3_001), 4), 1_000);
    assert_eq!(hundredths(window(1_024), 4), 1_495);
    assert_eq!(hundredths(window(64), 4), 1_735);
    assert_eq!(hundredths(Finishes::default(), 4), 1_750);
    assert_eq!(hundredths(CoreAsync::default(), 6), 1_500);
    assert_eq!(hundredths(Swapped::default(), 5), 1_600);
    assert_eq!(hundredths(Unordered::default(), 4), 1_000);
}
