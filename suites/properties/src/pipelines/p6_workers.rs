//! P6: a pipeline of transforms delivers all that its function emits for an input, with n calls at a time. What a
//! handler answers to a panic takes the place of the missing results.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! n = 1, the function emits two results for input 1
//! delivers (1, 0), then closes: (1, 1) is missing
//!
//! n = 2, each call waits until both have begun
//! begins the call for 0 only: both wait for ever
//! ```

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::{Emit, Offered, Panic, Polled};
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::sync::world;

use super::super::gate::{Gate, quiesce};
use super::flight::{at_least_one, come_to_rest, ended_source, source};
use super::{Case, Cases, Design, ONE, Property, Reliance, What, several};
use crate::design::executors::Executor;
use crate::design::pipelines::{Delivered, Workers};
use crate::design::{Rx, Tx};

pub(in super::super) const PROPERTY: Property = Property {
    name: "p6-workers",
    statement: "Everything that a function emits for an input is delivered, n calls run at a time, and a handled panic has a result.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Pipelines(cases),
};

const WHOLE: &str = "no thread panics while it holds the lock";

fn cases(design: &Design) -> Vec<Case> {
    let What::Workers(workers) = design.what else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    // Loom has no room for two threads of calls.
    let at_most = if world::name() == "loom" && workers.may_block() {
        1
    } else {
        2
    };
    for n in 1..=at_most {
        let name = format!("n = {n}, many results of an input, or none");
        cases.push(Case::new(name, move || delivered(workers, n)));
    }
    if at_most > 1 {
        cases.push(Case::new(
            "n = 2, calls that wait for each other",
            move || {
                at_a_time(workers, false);
            },
        ));
    }
    if world::name() != "loom" {
        let name = "n = 2, calls that wait for each other, after none";
        cases.push(Case::new(name, move || at_a_time(workers, true)));
    }
    cases.push(Case::new("LeaveOpen", move || left_open(workers)));
    cases.push(Case::new("an output that is closed", move || {
        unwanted(workers);
    }));
    if workers.may_block() && world::name() != "loom" {
        let name = "a call that emits until it is told, and an executor that is dropped";
        cases.push(Case::new(name, move || told(workers)));
    }
    // In the other worlds the checkers use panics themselves.
    if world::name() == "std" {
        cases.push(Case::new("calls that panic", move || panicking(workers)));
    }
    cases
}

/// Emits twice as many results as the number of the input.
fn twice_as_many(input: usize, emit: Emit<'_, Delivered>) {
    let _ = (0..2 * input).try_for_each(|number| emit((input, number)));
}

/// The results of so many inputs, in order.
fn all_of(inputs: usize) -> Vec<Delivered> {
    let of = |input| (0..2 * input).map(move |number| (input, number));
    (0..inputs).flat_map(of).collect()
}

/// Starts the pipeline with its default configuration, and waits for its end.
fn run(
    workers: Workers,
    executor: &Executor,
    n: usize,
    ports: (Rx<usize>, Tx<Delivered>),
    transform: impl Fn(usize, Emit<'_, Delivered>) + Send + Sync + 'static,
    handler: impl Fn(Panic) -> Option<Delivered> + Send + Sync + 'static,
    at_end: AtEnd,
) {
    let n = at_least_one(n);
    let end = workers.start(executor, n, ports, transform, handler, at_end);
    world::block_on(end);
}

fn nothing_instead(_: Panic) -> Option<Delivered> {
    None
}

/// All results in the output, by input, and the state of the output after them.
fn drain(results: &mut Rx<Delivered>, ordered: bool) -> (Vec<Delivered>, Polled<Delivered>) {
    let mut came = Vec::new();
    let rest = loop {
        match results.poll() {
            Polled::Done(result) => came.push(result),
            rest => break rest,
        }
    };
    if !ordered {
        // A stable sort: the results of one input keep their order.
        came.sort_by_key(|(input, _)| *input);
    }
    (came, rest)
}

/// All results are delivered, those of each input in order, and the output closes after them.
fn delivered(workers: Workers, n: usize) {
    let inputs = match world::name() {
        "std" => 8,
        "loom" => 2,
        _ => 3,
    };
    let executor = workers.on.executors.with_threads(ONE);
    let expected = all_of(inputs);
    let (to, mut results) = workers.on.open(expected.len());
    let ports = (ended_source(workers.on, inputs), to);
    run(
        workers,
        &executor,
        n,
        ports,
        twice_as_many,
        nothing_instead,
        AtEnd::Close,
    );
    let (came, rest) = drain(&mut results, workers.ordered());
    drop(executor);
    holds_eq!(came, expected, "P6: what was emitted of each input");
    holds_eq!(rest, Polled::Closed, "P6: the output was not closed");
}

/// Two calls each wait until both have begun, and no more than two run at once. `idle`: the inputs arrive when all
/// workers wait.
fn at_a_time(workers: Workers, idle: bool) {
    const N: usize = 2;
    let inputs = if world::name() == "loom" { N } else { N + 2 };
    // Where a call runs in a task it blocks the thread of that task.
    let threads = if workers.may_block() { ONE } else { several() };
    let executor = workers.on.executors.with_threads(threads);
    let (under_way, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let both = Gate::default();
    let (gate, highest) = (both.clone(), Arc::clone(&most));
    let transform = move |input, emit: Emit<'_, Delivered>| {
        let now = under_way.fetch_add(1, Ordering::Relaxed) + 1;
        highest.fetch_max(now, Ordering::Relaxed);
        if now == N {
            gate.open();
        }
        world::block_on(gate.pass());
        under_way.fetch_sub(1, Ordering::Relaxed);
        let _ = emit((input, 0));
    };
    let (mut feed, from) = workers.on.open(inputs);
    let mut fill = || {
        for input in 0..inputs {
            assert_eq!(feed.offer(input), Offered::Done, "there is room");
        }
        feed.close();
    };
    let (to, mut results) = workers.on.open(inputs);
    if !idle {
        fill();
    }
    let end = workers.start(
        &executor,
        at_least_one(N),
        (from, to),
        transform,
        nothing_instead,
        AtEnd::Close,
    );
    if idle {
        come_to_rest(workers.on, &executor, || true);
        fill();
    }
    let mut met = N;
    // In the other worlds a call that waits alone is a deadlock.
    if world::name() == "std" {
        quiesce(workers.on.channels, || most.load(Ordering::Relaxed) >= N);
        met = most.load(Ordering::Relaxed);
        both.open();
    }
    world::block_on(end);
    let came = drain(&mut results, workers.ordered()).0.len();
    drop(executor);
    holds_eq!(came, inputs, "P6: a result of each call");
    let most = most.load(Ordering::Relaxed);
    holds_eq!(
        (met, most),
        (N, N),
        "P6: calls that met, and the most at a time"
    );
}

fn left_open(workers: Workers) {
    let executor = workers.on.executors.with_threads(ONE);
    let (to, mut results) = workers.on.open(2);
    let stays = to.another();
    let ports = (ended_source(workers.on, 2), to);
    run(
        workers,
        &executor,
        1,
        ports,
        twice_as_many,
        nothing_instead,
        AtEnd::LeaveOpen,
    );
    let (_, rest) = drain(&mut results, workers.ordered());
    drop(executor);
    if stays.is_some() {
        holds_eq!(rest, Polled::WouldWait, "P6: the output was not left open");
    }
}

/// The output is closed. The call that finds that out is the last, and the pipeline ends though its input stays open.
fn unwanted(workers: Workers) {
    let executor = workers.on.executors.with_threads(ONE);
    let (_open, from) = source(workers.on, 2);
    let (to, mut results) = workers.on.open(1);
    results.close();
    drop(results);
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let transform = move |input, emit: Emit<'_, Delivered>| {
        counted.fetch_add(1, Ordering::Relaxed);
        // More results than have room anywhere.
        let _ = (0..3).try_for_each(|number| emit((input, number)));
    };
    // A take that keeps waiting is a deadlock here.
    run(
        workers,
        &executor,
        1,
        (from, to),
        transform,
        nothing_instead,
        AtEnd::Close,
    );
    drop(executor);
    let calls = calls.load(Ordering::Relaxed);
    holds_eq!(calls, 1, "P6: calls without a consumer");
}

/// The call emits far more than has room. It is told once no more is wanted, and ends before the drop returns.
fn told(workers: Workers) {
    const MOST: usize = 50;
    let executor = workers.on.executors.with_threads(ONE);
    let (_open, from) = source(workers.on, 1);
    let (to, mut results) = workers.on.open(1);
    let answers = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&answers);
    let transform = move |input, emit: Emit<'_, Delivered>| {
        let told = (0..MOST).try_for_each(|number| emit((input, number)));
        seen.lock().expect(WHOLE).push(told.is_break());
    };
    let _end = workers.start(
        &executor,
        at_least_one(1),
        (from, to),
        transform,
        nothing_instead,
        AtEnd::Close,
    );
    let first = world::block_on(results.take_async());
    drop(executor);
    let answers = answers.lock().expect(WHOLE).clone();
    holds_eq!(
        (first, answers),
        (Ok((0, 0)), vec![true]),
        "P6: the first result, and whether the call was told that no more is wanted"
    );
}

/// All but the last input emit a result and panic. For one of the three panics the handler answers `None`.
fn panicking(workers: Workers) {
    const INPUTS: usize = 4;
    const INSTEAD: usize = 9;
    let executor = workers.on.executors.with_threads(ONE);
    let transform = |input: usize, emit: Emit<'_, Delivered>| {
        let _ = emit((input, 0));
        if input < INPUTS - 1 {
            resume_unwind(Box::new(input));
        }
    };
    let asked = Arc::new(Mutex::new(0));
    let counts = Arc::clone(&asked);
    let handler = move |panic: Panic| {
        *counts.lock().expect(WHOLE) += 1;
        let input = *panic.downcast::<usize>().expect("it panics with its input");
        (input != 1).then_some((input, INSTEAD))
    };
    let (to, mut results) = workers.on.open(2 * INPUTS);
    let ports = (ended_source(workers.on, INPUTS), to);
    run(
        workers,
        &executor,
        2,
        ports,
        transform,
        handler,
        AtEnd::Close,
    );
    let (came, _) = drain(&mut results, workers.ordered());
    drop(executor);
    holds_eq!(
        came,
        [(0, 0), (0, INSTEAD), (1, 0), (2, 0), (2, INSTEAD), (3, 0)],
        "P6: what was emitted, and what stands in for the rest"
    );
    let asked = *asked.lock().expect(WHOLE);
    holds_eq!(
        asked,
        INPUTS - 1,
        "P6: panics that the handler was asked about"
    );
}
