//! P4: an item that panics or has no result ends alone. An item that never ends occupies its slot and no more.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! n = 1, the call of af(0) panics
//! the pipeline ends with it: the results of 1, 2 and 3 are missing
//!
//! n = 2, item 0 never ends, not ordered
//! item 1 ends
//! item 2 is never begun: item 0 occupies both slots
//! ```

use std::future::pending;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use flowmeter_harness::executor::give_way;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::spec::pipeline::{Event, Terms};
use flowmeter_harness::sync::world;

use super::super::gate::panics;
use super::flight::{
    Flight, Item, at_least_one, come_to_rest, drain, ended_source, finish, finishes, source, take,
    terms,
};
use super::{Case, Cases, Design, ONE, Property, Reliance, What};
use crate::design::executors::Executor;
use crate::design::pipelines::{Delivered, Pipelines, ResultPort};

pub(in super::super) const PROPERTY: Property = Property {
    name: "p4-faults",
    statement: "An item that panics or gives nothing ends alone; one that never ends holds its slot only.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Pipelines(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Pipelines(pipelines) = design.what else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    // In the other worlds the checkers use panics themselves. Here the other cases are the slower ones.
    if world::name() == "std" {
        for n in 1..=2 {
            let name = format!("n = {n}, items that panic");
            cases.push(Case::new(name, move || panicking(pipelines, n)));
        }
        cases.push(Case::new("a refused result whose drop panics", move || {
            refused_drop(pipelines);
        }));
    }
    cases.push(Case::new("an item without results", move || {
        without_results(pipelines)
    }));
    cases.push(Case::new("an item that never ends", move || {
        never_ends(pipelines)
    }));
    // This case is the last: a pipeline that fails the others too takes long to fail here, since it does not end.
    let name = "work that goes on when its item has ended";
    cases.push(Case::new(name, move || goes_on(pipelines)));
    cases
}

fn without_results(pipelines: Pipelines) {
    let work = |input, mut item: Item| async move {
        if input != 1 {
            item.put().await;
        }
    };
    let executor = pipelines.on.executors.with_threads(ONE);
    let seen = all_results(pipelines, &executor, 1, 3, work);
    drop(executor);
    holds_eq!(
        seen,
        [0, 2],
        "P4: an item without results took others along"
    );
}

/// The function drops its port and never returns. Its slot is free, and the pipeline's end does not wait for it.
fn goes_on(pipelines: Pipelines) {
    let work = |_, mut item: Item| async move {
        item.put().await;
        drop(item);
        pending::<()>().await;
    };
    const ITEMS: usize = 3;
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(ITEMS);
    let from = ended_source(pipelines.on, ITEMS);
    let end = flight.start(pipelines, &executor, 1, (from, to), work, AtEnd::Close);
    let ended = finishes(pipelines.on, &executor, &flight, end);
    let came = drain(&flight, &mut results).0.len();
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), ITEMS));
    holds_eq!(
        (came, ended),
        (ITEMS, true),
        "P4: results came beside work that goes on, and whether the pipeline ended"
    );
}

/// One item panics in the call of `af`, one after its result, and one when its future is dropped. Each of them comes
/// first once, and each has items behind it.
fn panicking(pipelines: Pipelines, n: usize) {
    const TURNS: usize = 4;
    for first in 0..3 {
        let faults = move |input: usize| match input < 3 {
            true => Some((input + first) % 3),
            false => None,
        };
        let work = move |input, mut item: Item| {
            let fault = faults(input);
            if fault == Some(0) {
                resume_unwind(Box::new("an item's own fault"));
            }
            let puts = async move {
                // Time for others to begin: this item is in flight meanwhile (P1).
                for _ in 0..TURNS {
                    give_way().await;
                }
                item.put().await;
                if fault == Some(1) {
                    resume_unwind(Box::new("an item's own fault"));
                }
            };
            Work(Box::pin(puts), fault == Some(2))
        };
        let executor = pipelines.on.executors.with_threads(ONE);
        let mut seen = all_results(pipelines, &executor, n, 5, work);
        if !pipelines.ordered() {
            seen.sort_unstable();
        }
        let panics = panics(&executor, 3);
        drop(executor);
        let expected: Vec<_> = (0..5).filter(|input| faults(*input) != Some(0)).collect();
        holds_eq!(seen, expected, "P4: an item that panics took others along");
        holds_eq!(panics, 3, "P4: panics of items were not counted");
    }
}

/// What an item does, and whether its drop panics.
struct Work(Pin<Box<dyn Future<Output = ()> + Send>>, bool);

impl Future for Work {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.1 {
            resume_unwind(Box::new("an item's own fault"));
        }
    }
}

/// The output is closed, and the drop of what it refuses panics. It was seen closed all the same (P3): a loop that waits
/// for input takes none.
fn refused_drop(pipelines: Pipelines) {
    struct Fragile;
    impl Drop for Fragile {
        fn drop(&mut self) {
            resume_unwind(Box::new("a result's own fault"));
        }
    }
    let executor = pipelines.on.executors.with_threads(ONE);
    let (mut input, from) = source(pipelines.on, 1);
    let (to, results) = pipelines.on.open::<Delivered>(1);
    // Closed once the item has begun: a pipeline may look at its output before it takes any.
    let results = Mutex::new(Some(results));
    let calls = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&calls);
    let work = move |_, mut port: ResultPort| {
        counts.fetch_add(1, Relaxed);
        drop(results.lock().ok().and_then(|mut results| results.take()));
        async move { port.put_unwanted(Fragile).await }
    };
    let _end = pipelines.start(&executor, at_least_one(2), (from, to), work, AtEnd::Close);
    let panicked = panics(&executor, 1);
    // Until it is polled again, a take that was told to end may be handed a value.
    come_to_rest(pipelines.on, &executor, || true);
    let _ = input.offer(1);
    come_to_rest(pipelines.on, &executor, || true);
    let calls = calls.load(Relaxed);
    drop(executor);
    holds_eq!(
        (calls, panicked),
        (1, 1),
        "P3: items begun, and panics, where the drop of a refused result panics"
    );
}

/// The results that a pipeline delivers. Where n = 1, only one order is possible.
fn all_results<F>(
    pipelines: Pipelines,
    executor: &Executor,
    n: usize,
    items: usize,
    work: impl Fn(usize, Item) -> F + Send + Sync + 'static,
) -> Vec<usize>
where
    F: Future<Output = ()> + Send + 'static,
{
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(items);
    let from = ended_source(pipelines.on, items);
    let end = flight.start(pipelines, executor, n, (from, to), work, AtEnd::Close);
    finish(&flight, end);
    let (seen, _) = drain(&flight, &mut results);
    flight.judge(terms(pipelines, n, items));
    seen.into_iter().map(|(item, _)| item).collect()
}

/// The head never ends. In an ordered pipeline items begin up to its window; in others all further items are begun
/// and delivered.
fn never_ends(pipelines: Pipelines) {
    const N: usize = 2;
    let promised = terms(pipelines, N, 0);
    // The number of items that begin where the others wait for the head, and one more.
    let held_up = if pipelines.ordered() {
        promised.window
    } else {
        promised.bound
    };
    let items = held_up + 1;
    let work = |input, mut item: Item| async move {
        if input == 0 {
            pending::<()>().await;
        }
        item.put().await;
    };
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(items);
    let (_open, from) = source(pipelines.on, items);
    let _end = flight.start(pipelines, &executor, N, (from, to), work, AtEnd::Close);
    if !pipelines.ordered() {
        // One result of each item that the head does not delay.
        for _ in 0..items - 1 {
            take(&flight, &mut results);
        }
    }
    let begun = if pipelines.ordered() { held_up } else { items };
    come_to_rest(pipelines.on, &executor, || {
        flight.calls() >= begun && flight.now() == 1
    });
    let (calls, now) = (flight.calls(), flight.now());
    flight.write(Event::Rest);
    let _ = drain(&flight, &mut results);
    drop(executor);
    flight.judge(Terms {
        inputs: items,
        ..promised
    });
    holds_eq!(
        now,
        1,
        "P4: an item that never ends holds more than its slot"
    );
    holds_eq!(calls, begun, "P4: items begun beside one that never ends");
}
