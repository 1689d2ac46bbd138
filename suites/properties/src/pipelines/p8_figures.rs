//! P8: items with durations complete, and are delivered, at the moments that follow from bound, order and window. Ten
//! tasks of a second take as long as the seed text says: of the original, with its lines swapped, and where the bound
//! holds.
//!
//! The smallest history that violates it:
//!
//! ```text
//! n = 1, k = 0, two items of a second
//! clock    pipeline
//!  0 s     calls af(0), calls af(1): two in flight
//!  1 s     delivers both; the second was due at 2 s
//! ```
//!
//! The model drives the clock ([`Clock`]), so every figure is exact, in a world that runs one schedule.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::spec::pipeline::Terms;
use flowmeter_harness::sync::world;

use super::clock::Clock;
use super::flight::{Flight, Item, ended_source, terms};
use super::{Case, Cases, Design, ONE, Property, Reliance, What};
use crate::design::pipelines::Pipelines;

pub(in super::super) const PROPERTY: Property = Property {
    name: "p8-figures",
    statement: "Items are delivered at the times that bound, order and window determine.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Pipelines(cases),
};

const SECOND: u64 = 1_000;

fn cases(design: &Design) -> Vec<Case> {
    let What::Pipelines(pipelines) = design.what else {
        return Vec::new();
    };
    if world::name() != "sim" {
        return Vec::new();
    }
    let mut cases = Vec::new();
    for n in [1, 3] {
        let of = |head, others| [vec![head * SECOND], vec![others * SECOND; 9]].concat();
        for (name, millis) in [
            ("ten tasks of a second", of(1, 1)),
            ("a head of ten seconds", of(10, 0)),
            ("a head of ten seconds, others of one", of(10, 1)),
        ] {
            cases.push(Case::new(format!("n = {n}, {name}"), move || {
                takes_as_long(pipelines, n, &millis);
            }));
        }
    }
    let name = "n = 4, a head of ten seconds, 300 others of ten milliseconds";
    cases.push(Case::new(name, move || {
        let millis = [vec![10 * SECOND], vec![10; 300]].concat();
        takes_as_long(pipelines, 4, &millis);
    }));
    cases
}

/// When results arrive, in milliseconds and in order. There are as many servers as items may be in flight. Each takes
/// the next item, in input order, as soon as it is free and the window has a place.
fn scheduled(terms: Terms, millis: &[u64]) -> Vec<u64> {
    let mut free: BinaryHeap<Reverse<u64>> = (0..terms.bound).map(|_| Reverse(0)).collect();
    let mut delivered: Vec<u64> = Vec::new();
    for (item, takes) in millis.iter().enumerate() {
        let Reverse(server) = free
            .pop()
            .expect("a pipeline has at least one item in flight");
        let place = item
            .checked_sub(terms.window)
            .map_or(0, |before| delivered[before]);
        let ends = server.max(place) + takes;
        free.push(Reverse(ends));
        let before = delivered.last().filter(|_| terms.ordered);
        delivered.push(before.map_or(ends, |before| ends.max(*before)));
    }
    delivered.sort_unstable();
    delivered
}

const WHOLE: &str = "no thread panics while it holds the lock";

fn takes_as_long(pipelines: Pipelines, n: usize, millis: &[u64]) {
    let promised = terms(pipelines, n, millis.len());
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let clock = Clock::default();
    let (durations, sleeps) = (millis.to_vec(), clock.clone());
    let work = move |input: usize, mut item: Item| {
        let (takes, clock) = (durations[input], sleeps.clone());
        async move {
            clock.sleep(takes).await;
            item.put().await;
        }
    };
    let from = ended_source(pipelines.on, millis.len());
    let (to, mut results) = pipelines.on.open(millis.len());
    let _end = flight.start(pipelines, &executor, n, (from, to), work, AtEnd::Close);
    let came = Arc::new(Mutex::new(Vec::new()));
    let (notes, tells) = (Arc::clone(&came), clock.clone());
    executor.spawn(async move {
        while results.take_async().await.is_ok() {
            notes.lock().expect(WHOLE).push(tells.now());
        }
    });
    clock.run(pipelines.on.channels);
    drop(executor);
    let came = came.lock().expect(WHOLE);
    let expected = scheduled(promised, millis);
    holds_eq!(
        *came,
        expected,
        "P8: results came at other moments than they should"
    );
}
