//! P5: behind a slow head items end and free their run permits until the window is full. No more results than that
//! are kept.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! ordered, n = 2, window 3, item 0 waits
//! item 1 ends
//! item 2 never begins      the permit of item 1 was not freed
//!
//! ordered, n = 2, window 3, item 0 waits
//! items 1 and 2 end
//! item 3 begins            the window already holds 0, 1 and 2
//! ```

use std::sync::Arc;

use flowmeter_harness::pipeline::AtEnd;

use super::super::gate::Gate;
use super::flight::{Flight, Item, come_to_rest, drain, source, terms};
use super::{Case, Cases, Design, ONE, Property, Reliance, What};
use crate::design::pipelines::Pipelines;

pub(in super::super) const PROPERTY: Property = Property {
    name: "p5-window",
    statement: "Items behind a slow head free their permits until the window is full; no more items than the window holds are kept.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Pipelines(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Pipelines(pipelines) = design.what else {
        return Vec::new();
    };
    if pipelines.window(ONE).is_none() {
        return Vec::new();
    }
    vec![
        Case::new("a slow head", move || slow_head(pipelines)),
        Case::new("results without takes", move || not_taken(pipelines)),
        Case::new("a slow head, several results of an item", move || {
            several_results(pipelines)
        }),
    ]
}

/// The head waits until no task can go on. By then the window is full, and all items in it but the head have ended.
/// Then the head ends, and there is room for the rest.
fn slow_head(pipelines: Pipelines) {
    const N: usize = 2;
    let window = terms(pipelines, N, 0).window;
    holds!(
        window > N,
        "P5: a window of {window} for {N} in flight is none"
    );
    let items = window + 1;
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let slow = Gate::default();
    let held = slow.clone();
    let work = move |input, mut item: Item| {
        let held = held.clone();
        async move {
            if input == 0 {
                held.pass().await;
            }
            item.put().await;
        }
    };
    let (_open, from) = source(pipelines.on, items);
    let (to, mut results) = pipelines.on.open(items);
    let _end = flight.start(pipelines, &executor, N, (from, to), work, AtEnd::Close);
    come_to_rest(pipelines.on, &executor, || {
        flight.calls() >= window && flight.now() == 1
    });
    let (begun, running) = (flight.calls(), flight.now());
    slow.open();
    come_to_rest(pipelines.on, &executor, || {
        flight.calls() == items && flight.now() == 0
    });
    let came = drain(&flight, &mut results).0.len();
    drop(executor);
    flight.judge(terms(pipelines, N, items));
    holds_eq!(
        (begun, running),
        (window, 1),
        "P5: items begun behind a slow head, and those in flight"
    );
    holds_eq!(came, items, "P5: results came once the head had ended");
}

/// Behind a waiting head, an item with more results than have room waits in flight, and the window does not help it.
/// Once the head ends all results are delivered, those of each item together.
fn several_results(pipelines: Pipelines) {
    const N: usize = 2;
    /// One has room; two have not.
    const EACH: usize = 3;
    let promised = terms(pipelines, N, N + 1);
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let slow = Gate::default();
    let held = slow.clone();
    let work = move |input, mut item: Item| {
        let held = held.clone();
        async move {
            if input == 0 {
                held.pass().await;
            }
            for _ in 0..EACH {
                item.put().await;
            }
        }
    };
    let (_open, from) = source(pipelines.on, promised.inputs);
    let (to, mut results) = pipelines.on.open(promised.inputs * EACH);
    let _end = flight.start(pipelines, &executor, N, (from, to), work, AtEnd::Close);
    come_to_rest(pipelines.on, &executor, || {
        flight.calls() == N && flight.now() == N
    });
    let begun = (flight.calls(), flight.now());
    slow.open();
    come_to_rest(pipelines.on, &executor, || {
        flight.calls() == promised.inputs && flight.now() == 0
    });
    let came = drain(&flight, &mut results).0.len();
    drop(executor);
    flight.judge(promised);
    holds_eq!(
        begun,
        (N, N),
        "P5: items begun behind a slow head, and those in flight"
    );
    holds_eq!(
        came,
        promised.inputs * EACH,
        "P5: results came once the head had ended"
    );
}

/// No result is taken. Items that have ended stay, and the window bounds their number.
fn not_taken(pipelines: Pipelines) {
    // The output has room for one of these.
    let kept = terms(pipelines, 1, 0).window + 1;
    let items = kept + 1;
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let work = |_, mut item: Item| async move { item.put().await };
    let (_open, from) = source(pipelines.on, items);
    let (to, _unread) = pipelines.on.open(1);
    let _end = flight.start(pipelines, &executor, 1, (from, to), work, AtEnd::Close);
    come_to_rest(pipelines.on, &executor, || {
        flight.calls() >= kept && flight.now() == 0
    });
    let begun = flight.calls();
    drop(executor);
    flight.judge(terms(pipelines, 1, items));
    holds_eq!(begun, kept, "P5: items begun while no result was taken");
}
