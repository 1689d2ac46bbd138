//! The properties find a pipeline with one item too many in flight, and one that claims more than it reaches. They
//! find ones that deliver out of order, close too early or do not let an item end.

use std::future::{Future, pending};
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::registry::{Registry, Visitor, mutant};
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_harness::sync::std::Std;
use flowmeter_suites::isolation::Model;
use flowmeter_suites::properties::{Checks, judge};

use super::{judged, plan};

/// The same pipeline, with one more at a time than requested.
#[derive(Default)]
struct OneMore<P>(P);

impl<C: Async, E: Executors, P: Pipelines<C, E>> Pipelines<C, E> for OneMore<P> {
    const ORDERED: bool = P::ORDERED;
    type Permit = P::Permit;

    fn start<I: Message, O: Message, A, F>(
        self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        A: Fn(I, ResultPort<C, O, P::Permit>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let more = parallelism.saturating_add(1);
        self.0.start(spawner, more, from, to, af, at_end)
    }
}

/// The same pipeline, with a fault between it and its items; `FAULT` selects it.
#[derive(Default)]
struct Between<P, const FAULT: u8>(P);

const NONE: u8 = 0;
/// It claims to keep the order, as `P` does.
const ORDERED: u8 = 1;
/// The output closes when the first item has ended.
const CLOSES: u8 = 2;
/// The ports of items are kept.
const KEEPS: u8 = 3;

impl<C: Async, E: Executors, P: Pipelines<C, E>, const FAULT: u8> Pipelines<C, E>
    for Between<P, FAULT>
where
    E::Spawner: Sync,
{
    const ORDERED: bool = P::ORDERED || FAULT == ORDERED;
    type Permit = ();

    fn start<I: Message, O: Message, A, F>(
        self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let output = Arc::new(Mutex::new(C::another_tx(&to)));
        let works = spawner.clone();
        let between = move |input, mut port: ResultPort<C, O, P::Permit>| {
            let (own, mut results) = C::open(Buffer::fixed(1)).expect("the family has room");
            works.spawn(af(input, ResultPort::new(own)));
            let output = Arc::clone(&output);
            async move {
                while let Ok(result) = C::take_async(&mut results).await {
                    let _ = port.put(result).await;
                }
                if FAULT == CLOSES {
                    let first = output
                        .lock()
                        .expect("no thread panics while it holds the lock")
                        .take();
                    first.map(|output| C::close(&output));
                }
                if FAULT == KEEPS {
                    pending::<()>().await;
                }
            }
        };
        self.0
            .start(spawner, parallelism, from, to, between, at_end)
    }
}

/// A pipeline over those channels and on that executor, registered with that bound.
struct Entered<P, C, E>(usize, PhantomData<(P, C, E)>);

impl<P, C, E> Clone for Entered<P, C, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, C, E> Copy for Entered<P, C, E> {}

impl<P, C, E> Registry for Entered<P, C, E>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    fn pipelines<V: Visitor>(self, visitor: &mut V) {
        mutant::<P, _>(visitor, "mutant")
            .pipeline::<C, E>(self.0)
            .enter();
    }
}

/// Checks that `p1-bound` fails with those words.
fn caught<P, C, E, W>(name: &str, bound_over_n: usize, words: &'static str) -> Model
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    judged_by::<P, C, E, W>("p1-bound", name, bound_over_n, words)
}

fn judged_by<P, C, E, W>(
    property: &'static str,
    name: &str,
    bound_over_n: usize,
    words: &'static str,
) -> Model
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    Model::new(format!("{}::{name}", W::NAME), move || {
        let checks = Checks::of::<W>(Entered::<P, C, E>(bound_over_n, PhantomData));
        let cell = checks.cells().find(|cell| cell.property.name == property);
        let cell = cell.expect("pipelines have a bound");
        judged(judge::<W>(&cell, &plan::<W>()), words)
    })
}

/// The models of one world, in which copies of our implementations are in a crate of their own.
macro_rules! models {
    ($impls:ident, $world:ty) => {{
        use $impls::channel::mutex::MutexChannels as C;
        use $impls::executor::fixed_pool::FixedPool as E;
        use $impls::pipeline::{CoreAsync, Unordered};

        [
            caught::<OneMore<Unordered>, C, E, $world>(
                "unordered_with_one_more",
                0,
                "P1: 2 items in flight, where the bound is 1",
            ),
            caught::<OneMore<CoreAsync>, C, E, $world>(
                "core_async_with_one_more",
                2,
                "P1: 4 items in flight, where the bound is 3",
            ),
            judged_by::<Between<CoreAsync, NONE>, C, E, $world>(
                "p2-order",
                "core_async_with_something_between",
                2,
                "",
            ),
            judged_by::<Between<Unordered, ORDERED>, C, E, $world>(
                "p2-order",
                "unordered_as_if_it_were_ordered",
                0,
                "out of the order of inputs",
            ),
            judged_by::<Between<Unordered, CLOSES>, C, E, $world>(
                "p3-close",
                "unordered_that_closes_early",
                0,
                "P3: ",
            ),
            caught::<CoreAsync, C, E, $world>(
                "core_async_as_if_it_kept_to_n",
                0,
                "items in flight, where the bound is 1",
            ),
        ]
    }};
}

/// For every world.
pub fn models() -> Vec<Model> {
    let mut models = Vec::new();
    models.extend(models!(flowmeter_impls, Std));
    models.extend(models!(flowmeter_impls_shuttle, Shuttle));
    models.extend(models!(flowmeter_impls_loom, Loom));
    // In the std world these would hang.
    models.push(judged_by::<
        Between<flowmeter_impls_shuttle::pipeline::Unordered, KEEPS>,
        flowmeter_impls_shuttle::channel::mutex::MutexChannels,
        flowmeter_impls_shuttle::executor::fixed_pool::FixedPool,
        Shuttle,
    >(
        "p4-faults", "unordered_that_keeps_ports", 0, "deadlock"
    ));
    models.push(judged_by::<
        Between<flowmeter_impls_loom::pipeline::Unordered, KEEPS>,
        flowmeter_impls_loom::channel::mutex::MutexChannels,
        flowmeter_impls_loom::executor::fixed_pool::FixedPool,
        Loom,
    >(
        "p4-faults", "unordered_that_keeps_ports", 0, "deadlock"
    ));
    // In the std world the wait for an event that never comes would be long.
    models.push(caught::<
        flowmeter_impls_shuttle::pipeline::Unordered,
        flowmeter_impls_shuttle::channel::mutex::MutexChannels,
        flowmeter_impls_shuttle::executor::fixed_pool::FixedPool,
        Shuttle,
    >(
        "unordered_as_if_it_went_to_n_and_2",
        2,
        "P1: 1 items hold a place at rest, not 3",
    ));
    models
}
