//! P7: a parallel map returns the outcomes of its inputs as they complete, n at a time. It takes at most n inputs
//! ahead of its consumer, and reports each input without a result, and the end.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! n = 2, input 0 waits for the outcome of 1
//! completed() waits for ever: the outcome of 1 is kept behind 0
//!
//! n = 1, the function panics for input 0
//! completed() -> Ok of input 1: the missing result of 0 is not reported
//! ```

use std::future::{Future, pending, poll_fn};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use flowmeter_harness::executor::give_way;
use flowmeter_harness::parallel_map::{Outcome, Outcomes as _, Throttle, Unfinished};
use flowmeter_harness::sync::world;

use super::super::gate::{Gate, panics};
use super::flight::{at_least_one, come_to_rest};
use super::{Case, Cases, Design, ONE, Property, Reliance, What, several};
use crate::design::executors::Executor;
use crate::design::pipelines::{Outcomes, ParallelMaps};
use crate::patience::{end, until};

pub(in super::super) const PROPERTY: Property = Property {
    name: "p7-map",
    statement: "A parallel map delivers each outcome as it completes, begins at most n, and reports its end.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Pipelines(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::ParallelMaps(maps) = design.what else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    for n in 1..=2 {
        let name = format!("n = {n}, functions that do not end");
        cases.push(Case::new(name, move || held(maps, n)));
        let name = format!("n = {n}, functions that end");
        cases.push(Case::new(name, move || all_of_them(maps, ONE, n)));
    }
    cases.push(Case::new("n = 2, on several threads", move || {
        all_of_them(maps, several(), 2);
    }));
    cases.push(Case::new("no input", move || nothing(maps)));
    cases.push(Case::new("a slow head", move || slow_head(maps)));
    cases.push(Case::new("inputs that wait for their permits", move || {
        throttled(maps);
    }));
    cases.push(Case::new("a consumer that asks again", move || {
        asked_again(maps);
    }));
    if maps.lazy() {
        cases.push(Case::new("an endless input", move || endless(maps)));
    }
    // In the other worlds the checkers use panics themselves.
    if world::name() == "std" {
        cases.push(Case::new("functions that panic", move || panicking(maps)));
        if maps.lazy() {
            let name = "an iterator that panics";
            cases.push(Case::new(name, move || panicking_inputs(maps)));
        }
    }
    cases
}

/// Counts of a map's activity. As with a [`Gate`], no primitive of a world.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Counts>>);

#[derive(Clone, Copy, Default)]
struct Counts {
    taken: usize,
    let_go: bool,
    begun: usize,
    in_flight: usize,
    most: usize,
}

const WHOLE: &str = "no thread panics while it holds the lock";

impl Seen {
    fn now(&self) -> Counts {
        *self.0.lock().expect(WHOLE)
    }

    fn note(&self, note: impl FnOnce(&mut Counts)) {
        note(&mut self.0.lock().expect(WHOLE));
    }

    /// Records that an input begins; it is in flight until the value is dropped.
    fn begin(&self) -> InFlight {
        self.note(|counts| {
            counts.begun += 1;
            counts.in_flight += 1;
            counts.most = counts.most.max(counts.in_flight);
        });
        InFlight(self.clone())
    }

    /// Those inputs, counted as they are taken.
    fn inputs(&self, inputs: std::ops::Range<usize>) -> Inputs {
        Inputs {
            inputs,
            seen: self.clone(),
        }
    }
}

struct InFlight(Seen);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.note(|counts| counts.in_flight -= 1);
    }
}

struct Inputs {
    inputs: std::ops::Range<usize>,
    seen: Seen,
}

impl Iterator for Inputs {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let input = self.inputs.next()?;
        self.seen.note(|counts| counts.taken += 1);
        Some(input)
    }
}

impl Drop for Inputs {
    fn drop(&mut self) {
        self.seen.note(|counts| counts.let_go = true);
    }
}

/// Lets as many inputs pass as were granted.
#[derive(Clone, Default)]
struct Permits(Arc<Mutex<Granted>>);

#[derive(Default)]
struct Granted {
    left: usize,
    wakers: Vec<Waker>,
}

impl Permits {
    fn grant(&self, permits: usize) {
        let mut granted = self.0.lock().expect(WHOLE);
        granted.left += permits;
        let wakers = std::mem::take(&mut granted.wakers);
        drop(granted);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Throttle for Permits {
    fn pass(&self) -> impl Future<Output = ()> + Send {
        poll_fn(|context| {
            let mut granted = self.0.lock().expect(WHOLE);
            if let Some(left) = granted.left.checked_sub(1) {
                granted.left = left;
                return Poll::Ready(());
            }
            granted.wakers.push(context.waker().clone());
            Poll::Pending
        })
    }
}

/// Starts the map with its default configuration.
fn start<F: Future<Output = usize> + Send + 'static>(
    maps: ParallelMaps,
    executor: &Executor,
    n: usize,
    throttle: impl Throttle + Sync,
    inputs: Inputs,
    function: impl Fn(usize) -> F + Send + Sync + 'static,
) -> Outcomes {
    maps.start(executor, at_least_one(n), throttle, inputs, function)
}

fn next(outcomes: &mut Outcomes) -> Option<Outcome<usize>> {
    world::block_on(outcomes.completed())
}

/// All outcomes up to the end; a further call reports the end again.
fn rest(outcomes: &mut Outcomes) -> Vec<Outcome<usize>> {
    let mut all = Vec::new();
    while let Some(outcome) = next(outcomes) {
        all.push(outcome);
    }
    holds_eq!(next(outcomes), None, "P7: something came after the end");
    all
}

/// All outcomes up to the end, or up to a moment at which real threads have waited too long for one.
fn rest_in_time(outcomes: &mut Outcomes) -> Vec<Outcome<usize>> {
    let mut context = Context::from_waker(Waker::noop());
    let mut all = Vec::new();
    let end = end();
    loop {
        let next = until(end, || {
            match pin!(outcomes.completed()).poll(&mut context) {
                Poll::Ready(outcome) => Some(outcome),
                Poll::Pending => None,
            }
        });
        match next.flatten() {
            Some(outcome) => all.push(outcome),
            None => return all,
        }
    }
}

/// Functions that never end: when no task can go on exactly n have begun. A lazy map has taken no other input. Then
/// the executor is dropped, and each of them is reported.
fn held(maps: ParallelMaps, n: usize) {
    let executor = maps.on.executors.with_threads(ONE);
    let seen = Seen::default();
    let counts = seen.clone();
    let function = move |input| {
        let in_flight = counts.begin();
        async move {
            let _in_flight = in_flight;
            pending::<()>().await;
            input
        }
    };
    let inputs = seen.inputs(0..n + 2);
    let mut outcomes = start(maps, &executor, n, (), inputs, function);
    come_to_rest(maps.on, &executor, || seen.now().begun >= n);
    let taken = seen.now().taken;
    drop(executor);
    let mut unfinished = rest(&mut outcomes);
    unfinished.sort_by_key(|outcome| outcome.map_err(|unfinished| unfinished.input));
    if maps.lazy() {
        holds_eq!(taken, n, "P7: inputs taken where none ends");
    }
    let each: Vec<_> = (0..n).map(|input| Err(missing(input))).collect();
    holds_eq!(
        unfinished,
        each,
        "P7: told of what had begun where none ends, and the executor has gone"
    );
}

fn missing(input: usize) -> Unfinished {
    let input = input as u64;
    Unfinished { input }
}

/// Every result arrives once, and then the end. At most n are in flight.
fn all_of_them(maps: ParallelMaps, threads: NonZeroUsize, n: usize) {
    let inputs = match world::name() {
        "std" => 32,
        // Exhausted in a second.
        "loom" if threads > ONE => n,
        "loom" => n + 1,
        _ => n + 2,
    };
    let executor = maps.on.executors.with_threads(threads);
    let seen = Seen::default();
    let counts = seen.clone();
    let function = move |input| {
        let in_flight = counts.begin();
        async move {
            give_way().await;
            drop(in_flight);
            10 * input
        }
    };
    let all = seen.inputs(0..inputs);
    let mut outcomes = start(maps, &executor, n, (), all, function);
    let mut results = rest(&mut outcomes);
    drop(executor);
    results.sort_by_key(|outcome| outcome.map_err(|unfinished| unfinished.input));
    let each: Vec<_> = (0..inputs).map(|input| Ok(10 * input)).collect();
    holds_eq!(results, each, "P7: a result for each input");
    let most = seen.now().most;
    holds!(most <= n, "P7: {most} in flight where n = {n}");
}

fn nothing(maps: ParallelMaps) {
    let executor = maps.on.executors.with_threads(ONE);
    let inputs = Seen::default().inputs(0..0);
    let mut outcomes = start(maps, &executor, 2, (), inputs, |input| async move { input });
    let none = rest(&mut outcomes);
    drop(executor);
    holds_eq!(none, [], "P7: there was no input");
}

/// The head waits until the outcome of the input behind it was taken.
fn slow_head(maps: ParallelMaps) {
    let executor = maps.on.executors.with_threads(ONE);
    let slow = Gate::default();
    let held = slow.clone();
    let function = move |input| {
        let held = held.clone();
        async move {
            if input == 0 {
                held.pass().await;
            }
            input
        }
    };
    let inputs = Seen::default().inputs(0..2);
    let mut outcomes = start(maps, &executor, 2, (), inputs, function);
    let first = next(&mut outcomes);
    slow.open();
    let head = rest(&mut outcomes);
    drop(executor);
    holds_eq!(
        (first, head),
        (Some(Ok(1)), vec![Ok(0)]),
        "P7: results as they complete"
    );
}

/// As many inputs begin as there are permits, each with one of its own. After the consumer is dropped, no further one
/// begins.
fn throttled(maps: ParallelMaps) {
    const N: usize = 3;
    let executor = maps.on.executors.with_threads(ONE);
    let seen = Seen::default();
    let counts = seen.clone();
    let function = move |input| {
        drop(counts.begin());
        async move { input }
    };
    let permits = Permits::default();
    permits.grant(1);
    let inputs = seen.inputs(0..N + 1);
    let outcomes = start(maps, &executor, N, permits.clone(), inputs, function);
    come_to_rest(maps.on, &executor, || seen.now().begun >= 1);
    let one = seen.now().begun;
    permits.grant(1);
    come_to_rest(maps.on, &executor, || seen.now().begun >= 2);
    let two = seen.now().begun;
    drop(outcomes);
    come_to_rest(maps.on, &executor, || true);
    permits.grant(1);
    come_to_rest(maps.on, &executor, || true);
    let Counts { begun, let_go, .. } = seen.now();
    drop(executor);
    holds_eq!(
        (one, two, begun, let_go),
        (1, 2, 2, true),
        "P7: begun with one permit, with two, and without a consumer; inputs let go"
    );
}

/// A consumer that stops waiting, and asks again, hears no outcome sooner, and misses none.
fn asked_again(maps: ParallelMaps) {
    let executor = maps.on.executors.with_threads(ONE);
    let seen = Seen::default();
    let counts = seen.clone();
    let function = move |input| {
        drop(counts.begin());
        async move { input }
    };
    let permits = Permits::default();
    permits.grant(1);
    let inputs = seen.inputs(0..2);
    let mut outcomes = start(maps, &executor, 2, permits.clone(), inputs, function);
    come_to_rest(maps.on, &executor, || seen.now().begun >= 1);
    let mut context = Context::from_waker(Waker::noop());
    let mut came = Vec::new();
    for _ in 0..3 {
        let polled = pin!(outcomes.completed()).poll(&mut context);
        if let Poll::Ready(outcome) = polled {
            came.extend(outcome);
        }
    }
    let early = came.len();
    permits.grant(1);
    came.extend(rest(&mut outcomes));
    drop(executor);
    holds!(
        maps.lazy() || early == 0,
        "P7: handed over to a consumer that asks again, before the last input has begun"
    );
    holds_eq!(
        came,
        [Ok(0), Ok(1)],
        "P7: outcomes for a consumer that asks again"
    );
}

/// At most n inputs are taken ahead of the outcomes. After the consumer is dropped, no further one is taken.
fn endless(maps: ParallelMaps) {
    const N: usize = 2;
    /// Practically endless: no map should come near it.
    const INPUTS: usize = 100;
    let wanted = if world::name() == "loom" { 1 } else { 3 };
    let executor = maps.on.executors.with_threads(ONE);
    let seen = Seen::default();
    let inputs = seen.inputs(0..INPUTS);
    let mut outcomes = start(maps, &executor, N, (), inputs, |input| async move { input });
    let mut ahead = Vec::new();
    for handed_over in 0..wanted {
        come_to_rest(maps.on, &executor, || seen.now().taken >= handed_over + N);
        ahead.push(seen.now().taken - handed_over);
        next(&mut outcomes);
    }
    come_to_rest(maps.on, &executor, || seen.now().taken >= wanted + N);
    drop(outcomes);
    come_to_rest(maps.on, &executor, || seen.now().let_go);
    let Counts { taken, let_go, .. } = seen.now();
    drop(executor);
    holds_eq!(ahead, vec![N; wanted], "P7: inputs taken ahead");
    holds_eq!(
        (taken, let_go),
        (wanted + N, true),
        "P7: inputs taken without a consumer, and let go"
    );
}

/// One panics in the call of its function, one in the future after it.
fn panicking(maps: ParallelMaps) {
    let function = |input| {
        if input == 0 {
            resume_unwind(Box::new("a function's own fault"));
        }
        async move {
            give_way().await;
            if input == 1 {
                resume_unwind(Box::new("a function's own fault"));
            }
            input
        }
    };
    let executor = maps.on.executors.with_threads(ONE);
    let inputs = Seen::default().inputs(0..4);
    let mut outcomes = start(maps, &executor, 1, (), inputs, function);
    let came = rest_in_time(&mut outcomes);
    holds_eq!(
        came,
        [Err(missing(0)), Err(missing(1)), Ok(2), Ok(3)],
        "P7: outcomes beside functions that panic"
    );
    let panics = panics(&executor, 2);
    drop(executor);
    holds_eq!(panics, 2, "P7: panics of functions were not counted");
}

/// The iterator panics instead of returning its second input.
fn panicking_inputs(maps: ParallelMaps) {
    let executor = maps.on.executors.with_threads(ONE);
    let inputs = (0..3).inspect(|input| {
        if *input == 1 {
            resume_unwind(Box::new("an iterator's own fault"));
        }
    });
    let mut outcomes = maps.start(&executor, ONE, (), inputs, |input| async move { input });
    let came = rest_in_time(&mut outcomes);
    drop(executor);
    holds_eq!(
        came,
        [Ok(0), Err(missing(1))],
        "P7: outcomes where the iterator panics"
    );
}
