//! The pipelines of a registry, of each sort.

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors as ExecutorsFamily;
use flowmeter_harness::parallel_map::ParallelMaps as MapsFamily;
use flowmeter_harness::pipeline::Pipelines as Family;
use flowmeter_harness::registry::Registered;
use flowmeter_harness::transform_pipeline::TransformPipelines as WorkersFamily;

use super::super::channels::Channels;
use super::super::executors::{Executors, Runtime};
use super::{ParallelMaps, Pipelines, Workers};

/// A design of the kind of pipelines.
pub(crate) struct Design {
    /// The implementation.
    pub(crate) implementation: Registered,
    /// Its sort.
    pub(crate) what: What,
}

/// The sorts of designs in the kind of pipelines.
pub(crate) enum What {
    /// Pipelines.
    Pipelines(Pipelines),
    /// Pipelines that transform.
    Workers(Workers),
    /// Parallel maps.
    ParallelMaps(ParallelMaps),
}

/// The designs that a registry has shown. Its methods are those of `Visitor`.
#[derive(Default)]
pub(crate) struct Collected(Vec<Design>);

impl Collected {
    /// All designs.
    pub(crate) fn all(self) -> impl Iterator<Item = Design> {
        self.0.into_iter()
    }

    fn add(&mut self, implementation: &Registered, what: What) {
        let implementation = implementation.clone();
        self.0.push(Design {
            implementation,
            what,
        });
    }

    /// # Panics
    /// When it is entered without its bound.
    pub(crate) fn pipeline<P, C, E>(&mut self, implementation: &Registered)
    where
        P: Family<C, E> + Default,
        C: Async,
        E: ExecutorsFamily,
    {
        let extra = implementation
            .capabilities
            .bound_over_n
            .expect("a pipeline's bound");
        let pipelines = Pipelines::of::<P, C, E>(runtime::<C, E>(), extra);
        self.add(implementation, What::Pipelines(pipelines));
    }

    pub(crate) fn workers<P, C, E>(&mut self, implementation: &Registered)
    where
        P: WorkersFamily<C, E> + Default,
        C: Async,
        E: ExecutorsFamily,
    {
        let workers = Workers::of::<P, C, E>(runtime::<C, E>());
        self.add(implementation, What::Workers(workers));
    }

    pub(crate) fn parallel_map<M, C, E>(&mut self, implementation: &Registered)
    where
        M: MapsFamily<C, E> + Default,
        C: Async,
        E: ExecutorsFamily,
    {
        let maps = ParallelMaps::of::<M, C, E>(runtime::<C, E>());
        self.add(implementation, What::ParallelMaps(maps));
    }
}

fn runtime<C: Async, E: ExecutorsFamily>() -> Runtime {
    Runtime {
        executors: Executors::of::<E>(),
        channels: Channels::of_tasks::<C>(),
    }
}
