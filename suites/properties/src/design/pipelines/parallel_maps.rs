//! Designs of parallel maps.

use std::future::Future;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::pin::Pin;

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::parallel_map::{self, Outcome, ParallelMaps as Family, Throttle};

use super::super::channels::operations::Pending;
use super::super::executors::{Executor, Runtime};

/// A design of parallel maps.
#[derive(Clone, Copy)]
pub(crate) struct ParallelMaps {
    /// The channels that it has, and what runs its tasks.
    pub(crate) on: Runtime,
    pub(crate) table: &'static dyn Mapping,
}

/// The inputs of a map.
pub(crate) type Inputs = Box<dyn Iterator<Item = usize> + Send>;
/// The function that it applies to each.
pub(crate) type Function =
    Box<dyn Fn(usize) -> Pin<Box<dyn Future<Output = usize> + Send>> + Send + Sync>;

/// The operations of parallel maps.
pub(crate) trait Mapping: Sync {
    fn lazy(&self) -> bool;
    fn start(
        &self,
        executor: &Executor,
        parallelism: NonZeroUsize,
        throttle: Throttled,
        inputs: Inputs,
        function: Function,
    ) -> Outcomes;
}

impl ParallelMaps {
    /// The design of that family.
    pub(super) fn of<M, C, E>(on: Runtime) -> ParallelMaps
    where
        M: Family<C, E> + Default,
        C: Async,
        E: Executors,
    {
        let table = &Of::<M, C, E>(PhantomData);
        ParallelMaps { on, table }
    }

    /// Whether inputs are taken and results returned only as the consumer proceeds.
    pub(crate) fn lazy(self) -> bool {
        self.table.lazy()
    }

    /// Starts one with the default configuration.
    pub(crate) fn start<F: Future<Output = usize> + Send + 'static>(
        self,
        executor: &Executor,
        parallelism: NonZeroUsize,
        throttle: impl Throttle + Sync,
        inputs: impl Iterator<Item = usize> + Send + 'static,
        function: impl Fn(usize) -> F + Send + Sync + 'static,
    ) -> Outcomes {
        let function: Function = Box::new(move |input| Box::pin(function(input)));
        let (throttle, inputs) = (Throttled::of(throttle), Box::new(inputs));
        self.table
            .start(executor, parallelism, throttle, inputs, function)
    }
}

struct Of<M, C, E>(PhantomData<fn(M, C, E)>);

impl<M, C, E> Mapping for Of<M, C, E>
where
    M: Family<C, E> + Default,
    C: Async,
    E: Executors,
{
    fn lazy(&self) -> bool {
        M::LAZY
    }

    fn start(
        &self,
        executor: &Executor,
        parallelism: NonZeroUsize,
        throttle: Throttled,
        inputs: Inputs,
        function: Function,
    ) -> Outcomes {
        let executor = executor.family::<E>();
        Outcomes::of(M::default().start(
            executor.spawner(),
            parallelism,
            throttle,
            inputs,
            function,
        ))
    }
}

/// The throttle that each input waits for.
pub(crate) struct Throttled(Box<dyn Passing>);

trait Passing: Send + Sync {
    fn pass(&self) -> Pending<'_, ()>;
}

impl<T: Throttle + Sync> Passing for T {
    fn pass(&self) -> Pending<'_, ()> {
        Box::pin(Throttle::pass(self))
    }
}

impl Throttled {
    /// From that throttle.
    pub(crate) fn of(throttle: impl Throttle + Sync) -> Throttled {
        Throttled(Box::new(throttle))
    }
}

impl Throttle for Throttled {
    fn pass(&self) -> impl Future<Output = ()> + Send {
        self.0.pass()
    }
}

/// The port for taking outcomes.
pub(crate) struct Outcomes(Box<dyn Completing>);

trait Completing: Send {
    fn completed(&mut self) -> Pending<'_, Option<Outcome<usize>>>;
}

impl<O: parallel_map::Outcomes<usize>> Completing for O {
    fn completed(&mut self) -> Pending<'_, Option<Outcome<usize>>> {
        Box::pin(parallel_map::Outcomes::completed(self))
    }
}

impl Outcomes {
    /// From the outcomes of that map.
    pub(crate) fn of(outcomes: impl parallel_map::Outcomes<usize> + 'static) -> Outcomes {
        Outcomes(Box::new(outcomes))
    }
}

impl parallel_map::Outcomes<usize> for Outcomes {
    fn completed(&mut self) -> impl Future<Output = Option<Outcome<usize>>> + Send {
        self.0.completed()
    }
}
