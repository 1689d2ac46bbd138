//! Designs of pipelines that transform.

use std::marker::PhantomData;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Emit, Panic};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::transform_pipeline::TransformPipelines as Family;

use super::super::channels::{Rx, Tx};
use super::super::executors::{Executor, Runtime, Task};
use super::super::parcel::Parcel;
use super::Delivered;

/// A design of pipelines that transform.
#[derive(Clone, Copy)]
pub(crate) struct Workers {
    /// The channels that it moves results over, and what runs its tasks.
    pub(crate) on: Runtime,
    pub(crate) table: &'static dyn Transforming,
}

/// The function of a pipeline that transforms.
pub(crate) type Transform = Box<dyn Fn(usize, Emit<'_, Delivered>) + Send + Sync>;
/// The result in place of a panic.
pub(crate) type Handler = Box<dyn Fn(Panic) -> Option<Delivered> + Send + Sync>;

/// The operations of pipelines that transform.
pub(crate) trait Transforming: Sync {
    fn ordered(&self) -> bool;
    fn may_block(&self) -> bool;
    fn start(
        &self,
        executor: &Executor,
        workers: NonZeroUsize,
        ports: (Rx<usize>, Tx<Delivered>),
        transform: Transform,
        handler: Handler,
        at_end: AtEnd,
    ) -> Task;
}

impl Workers {
    /// The design of that family.
    pub(super) fn of<P, C, E>(on: Runtime) -> Workers
    where
        P: Family<C, E> + Default,
        C: Async,
        E: Executors,
    {
        let table = &Of::<P, C, E>(PhantomData);
        Workers { on, table }
    }

    /// Whether results leave in the order of their inputs.
    pub(crate) fn ordered(self) -> bool {
        self.table.ordered()
    }

    /// Whether the function may block its thread.
    pub(crate) fn may_block(self) -> bool {
        self.table.may_block()
    }

    /// Starts one with the default configuration. The future is ready when all results are delivered.
    pub(crate) fn start(
        self,
        executor: &Executor,
        workers: NonZeroUsize,
        ports: (Rx<usize>, Tx<Delivered>),
        transform: impl Fn(usize, Emit<'_, Delivered>) + Send + Sync + 'static,
        handler: impl Fn(Panic) -> Option<Delivered> + Send + Sync + 'static,
        at_end: AtEnd,
    ) -> Task {
        let (transform, handler) = (Box::new(transform), Box::new(handler));
        self.table
            .start(executor, workers, ports, transform, handler, at_end)
    }
}

struct Of<P, C, E>(PhantomData<fn(P, C, E)>);

impl<P, C, E> Transforming for Of<P, C, E>
where
    P: Family<C, E> + Default,
    C: Async,
    E: Executors,
{
    fn ordered(&self) -> bool {
        P::ORDERED
    }

    fn may_block(&self) -> bool {
        P::MAY_BLOCK
    }

    fn start(
        &self,
        executor: &Executor,
        workers: NonZeroUsize,
        (from, to): (Rx<usize>, Tx<Delivered>),
        transform: Transform,
        handler: Handler,
        at_end: AtEnd,
    ) -> Task {
        let transform = move |input: Parcel, emit: Emit<'_, Parcel>| {
            transform(input.open(), &mut |result| emit(Parcel::of(result)));
        };
        let handler = move |panic: Panic| handler(panic).map(Parcel::of);
        let spawner = executor.family::<E>().spawner();
        let (from, to) = (from.into_family::<C>(), to.into_family::<C>());
        Box::pin(P::default().start(spawner, workers, from, to, transform, handler, at_end))
    }
}
