//! Designs of pipelines, of pipelines of transforms, and of parallel maps.
//!
//! Models give them numbers. Pipelines deliver numbered results, and maps return numbers.

mod collected;
mod parallel_maps;
mod workers;

use std::future::Future;
use std::marker::PhantomData;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{self, AtEnd, Pipelines as Family};

use super::channels::operations::Pending;
use super::channels::{Rx, Tx};
use super::executors::{Executor, Runtime, Task};
use super::parcel::Parcel;

pub(crate) use collected::{Collected, Design, What};
pub(crate) use parallel_maps::{Function, Inputs, Mapping, Outcomes, ParallelMaps, Throttled};
pub(crate) use workers::{Handler, Transform, Transforming, Workers};

/// A result: the number of its item, and its number among the item's results.
pub(crate) type Delivered = (usize, usize);

/// A design of pipelines.
#[derive(Clone, Copy)]
pub(crate) struct Pipelines {
    /// The channels that it moves items over, and what runs its tasks.
    pub(crate) on: Runtime,
    /// How many items it may have in flight beyond its parallelism (P1).
    pub(crate) extra: usize,
    pub(crate) table: &'static dyn Moving,
}

/// The asynchronous function of a pipeline.
pub(crate) type Work = Box<dyn Fn(usize, ResultPort) -> Task + Send + Sync>;

/// The operations of pipelines.
pub(crate) trait Moving: Sync {
    fn ordered(&self) -> bool;
    fn window(&self, parallelism: NonZeroUsize) -> Option<NonZeroUsize>;
    fn start(
        &self,
        executor: &Executor,
        parallelism: NonZeroUsize,
        ports: (Rx<usize>, Tx<Delivered>),
        work: Work,
        at_end: AtEnd,
    ) -> Task;
}

impl Pipelines {
    /// The design of that family.
    pub(super) fn of<P, C, E>(on: Runtime, extra: usize) -> Pipelines
    where
        P: Family<C, E> + Default,
        C: Async,
        E: Executors,
    {
        let table = &Of::<P, C, E>(PhantomData);
        Pipelines { on, extra, table }
    }

    /// Whether results leave in the order of their inputs.
    pub(crate) fn ordered(self) -> bool {
        self.table.ordered()
    }

    /// The maximum number of items not fully delivered, where that differs from the number in flight.
    pub(crate) fn window(self, parallelism: NonZeroUsize) -> Option<NonZeroUsize> {
        self.table.window(parallelism)
    }

    /// Starts one with the default configuration. The future is ready when all results are delivered.
    pub(crate) fn start<F: Future<Output = ()> + Send + 'static>(
        self,
        executor: &Executor,
        parallelism: NonZeroUsize,
        ports: (Rx<usize>, Tx<Delivered>),
        work: impl Fn(usize, ResultPort) -> F + Send + Sync + 'static,
        at_end: AtEnd,
    ) -> Task {
        let work: Work = Box::new(move |item, port| Box::pin(work(item, port)));
        self.table.start(executor, parallelism, ports, work, at_end)
    }
}

/// The port for an item's results. Dropping it ends the item.
pub(crate) struct ResultPort(Box<dyn Putting>);

trait Putting: Send {
    fn put(&mut self, result: Parcel) -> Pending<'_, ()>;
}

impl<C: Async, P: Send> Putting for pipeline::ResultPort<C, Parcel, P> {
    fn put(&mut self, result: Parcel) -> Pending<'_, ()> {
        let put = pipeline::ResultPort::put(self, result);
        Box::pin(async move { drop(put.await) })
    }
}

impl ResultPort {
    /// Puts one result, waiting for room. One that is not wanted is dropped.
    pub(crate) fn put(&mut self, result: Delivered) -> impl Future<Output = ()> + Send {
        self.0.put(Parcel::of(result))
    }

    /// Puts a value of another type, where no consumer is left to take it.
    pub(crate) fn put_unwanted<T: Send + 'static>(
        &mut self,
        value: T,
    ) -> impl Future<Output = ()> + Send {
        self.0.put(Parcel::of(value))
    }
}

struct Of<P, C, E>(PhantomData<fn(P, C, E)>);

impl<P, C, E> Moving for Of<P, C, E>
where
    P: Family<C, E> + Default,
    C: Async,
    E: Executors,
{
    fn ordered(&self) -> bool {
        P::ORDERED
    }

    fn window(&self, parallelism: NonZeroUsize) -> Option<NonZeroUsize> {
        P::default().window(parallelism)
    }

    fn start(
        &self,
        executor: &Executor,
        parallelism: NonZeroUsize,
        (from, to): (Rx<usize>, Tx<Delivered>),
        work: Work,
        at_end: AtEnd,
    ) -> Task {
        let work = move |item: Parcel, port| work(item.open(), ResultPort(Box::new(port)));
        let executor = executor.family::<E>();
        let (from, to) = (from.into_family::<C>(), to.into_family::<C>());
        Box::pin(P::default().start(executor.spawner(), parallelism, from, to, work, at_end))
    }
}
