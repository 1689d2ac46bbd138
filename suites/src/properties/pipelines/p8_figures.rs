//! P8: items that take time are done, and delivered, at the moments that bound, order and window come to. Ten tasks of a
//! second take as long as the seed text says of the original, of its lines swapped, and where the bound holds.
//!
//! Time is told by the model ([`Clock`]), so every figure is exact, in a world that runs one schedule.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines};
use flowmeter_harness::spec::pipeline::Terms;
use flowmeter_harness::sync::World;

use super::clock::Clock;
use super::flight::{Flight, ItemOf, Result, ended_source, open, start, terms};
use super::{Case, ONE, Property, Reliance};

pub(in super::super) const PROPERTY: Property = Property {
    name: "p8-figures",
    statement: "Items are delivered at the moments that the bound, the order and the window come to.",
    relied_on_by: Reliance::Nobody,
};

const SECOND: u64 = 1_000;

pub(super) fn cases<P, C, E, W>(extra: usize) -> Vec<Case>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    if W::name() != "sim" {
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
                takes_as_long::<P, C, E, W>(n, extra, &millis);
            }));
        }
    }
    let name = "n = 4, a head of ten seconds, 300 others of ten milliseconds";
    cases.push(Case::new(name, move || {
        let millis = [vec![10 * SECOND], vec![10; 300]].concat();
        takes_as_long::<P, C, E, W>(4, extra, &millis);
    }));
    cases
}

/// When results come, in milliseconds and in their order: as many servers as may be in flight each take the next item, in the
/// order of inputs, as soon as they are free and the window has a place.
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

const WHOLE: &str = "nobody panics with the lock";

fn takes_as_long<P, C, E, W>(n: usize, extra: usize, millis: &[u64])
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let promised = terms::<P, C, E>(n, extra, millis.len());
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let clock = Clock::default();
    let (durations, sleeps) = (millis.to_vec(), clock.clone());
    let work = move |input: usize, mut item: ItemOf<P, C, E>| {
        let (takes, clock) = (durations[input], sleeps.clone());
        async move {
            clock.sleep(takes).await;
            item.put().await;
        }
    };
    let from = ended_source::<C>(millis.len());
    let (to, mut results) = open::<C, Result>(millis.len());
    let _end = start::<P, C, E, _>(&executor, n, (from, to), &flight, work, AtEnd::Close);
    let came = Arc::new(Mutex::new(Vec::new()));
    let (notes, tells) = (Arc::clone(&came), clock.clone());
    executor.spawn(async move {
        while C::take_async(&mut results).await.is_ok() {
            notes.lock().expect(WHOLE).push(tells.now());
        }
    });
    clock.run::<C, W>();
    drop(executor);
    let came = came.lock().expect(WHOLE);
    let expected = scheduled(promised, millis);
    holds_eq!(
        *came,
        expected,
        "P8: results came at other moments than they should"
    );
}
