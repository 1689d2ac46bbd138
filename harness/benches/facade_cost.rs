//! Measures the overhead of the std facade over the bare primitives. The expected overhead is none.
//!
//! Each pair times the same work twice: once on `std`, once on `flowmeter_harness::sync::std`. It runs uncontended, on
//! one thread, with warm caches, and reports nanoseconds per operation. The two results of a pair should agree within
//! the noise of the machine. The pair `placebo` shows that noise: it times the bare work twice.
//!
//! Condition variables are left out. Their calls are system calls, and the kernel's noise exceeds the cost of any
//! wrapper.
//!
//! Plain `cargo bench` does not run this bench:
//!
//! ```text
//! cargo bench -p flowmeter-harness --features facade-cost --bench facade_cost
//! ```

use std::hint::black_box;
use std::sync as bare;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use flowmeter_harness::sync::std as facade;

/// Times both, in turn, as one group of the report.
fn pair(c: &mut Criterion, what: &str, mut bare: impl FnMut(), mut facade: impl FnMut()) {
    let mut group = c.benchmark_group(what);
    group.warm_up_time(Duration::from_millis(300));
    group.measurement_time(Duration::from_millis(1_500));
    group.bench_function(BenchmarkId::from_parameter("bare"), |b| b.iter(&mut bare));
    group.bench_function(BenchmarkId::from_parameter("facade"), |b| {
        b.iter(&mut facade);
    });
    group.finish();
}

fn placebo(c: &mut Criterion) {
    let (one, two) = (bare::Mutex::new(0_u64), bare::Mutex::new(0_u64));
    pair(
        c,
        "placebo",
        || *black_box(&one).lock().expect("no panic while held") += 1,
        || *black_box(&two).lock().expect("no panic while held") += 1,
    );
}

fn locks(c: &mut Criterion) {
    let (one, two) = (bare::Mutex::new(0_u64), facade::Mutex::new(0_u64));
    pair(
        c,
        "mutex lock, add, unlock",
        || *black_box(&one).lock().expect("no panic while held") += 1,
        || *black_box(&two).lock() += 1,
    );
}

fn atomics(c: &mut Criterion) {
    let one = bare::atomic::AtomicU64::new(0);
    let two = facade::atomic::AtomicU64::new(0);
    pair(
        c,
        "atomic fetch_add",
        || {
            black_box(&one).fetch_add(1, Ordering::AcqRel);
        },
        || {
            black_box(&two).fetch_add(1, Ordering::AcqRel);
        },
    );
    let (one, two) = (bare::Arc::new(0), facade::Arc::new(0));
    pair(
        c,
        "arc clone and drop",
        || drop(black_box(bare::Arc::clone(&one))),
        || drop(black_box(facade::Arc::clone(&two))),
    );
    let one = std::cell::UnsafeCell::new(0_u64);
    let two = facade::UnsafeCell::new(0_u64);
    pair(
        c,
        "cell write",
        // SAFETY: one thread, one writer.
        || unsafe { *black_box(&one).get() += 1 },
        // SAFETY: one thread, one writer.
        || black_box(&two).with_mut(|value| unsafe { *value += 1 }),
    );
}

fn parking(c: &mut Criterion) {
    let me = thread::current();
    let parker = facade::Parker::new();
    let unparker = parker.unparker();
    pair(
        c,
        "unpark and park, token there",
        || {
            black_box(&me).unpark();
            thread::park();
        },
        || {
            black_box(&unparker).unpark();
            parker.park();
        },
    );
}

fn clock(c: &mut Criterion) {
    let origin = Instant::now();
    pair(
        c,
        "clock read",
        || {
            black_box(u64::try_from(black_box(origin).elapsed().as_nanos()).unwrap_or(u64::MAX));
        },
        || {
            black_box(facade::clock::now_nanos());
        },
    );
}

criterion_group!(facade_cost, placebo, locks, atomics, parking, clock);
criterion_main!(facade_cost);
