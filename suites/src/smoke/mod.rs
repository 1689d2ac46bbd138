//! A smoke test: the simplest uses of an implementation, alone on one thread. A mutant that fails it would be found
//! by any test, and says nothing about the properties. One file for each kind.

mod channels;
mod combinators;
mod executors;
mod go_blocks;
mod limiters;
mod parallel_maps;
mod pipelines;
mod timers;
mod workers;

use flowmeter_harness::channel::{
    Alts, Async, AwaitAlts, Blocking, Callback, MixedAlts, Promises, PutDeadline, TakeDeadline,
};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::executor::{Executors, GoBlocks};
use flowmeter_harness::limiter::Limiters;
use flowmeter_harness::parallel_map::ParallelMaps;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::registry::{Registered, Registry, Visitor};
use flowmeter_harness::timer::{Cancel, Timers};
use flowmeter_harness::transform_pipeline::TransformPipelines;

/// Uses one implementation of a registry in the std world, and returns in how many ways. A broken one may hang or
/// abort, so this should run in a process of its own.
///
/// # Panics
/// With the error.
pub fn smoke(registry: impl Registry, implementation: &str) -> usize {
    let mut visitor = Uses {
        of: implementation,
        all: Vec::new(),
    };
    registry.show_all(&mut visitor);
    for plain_use in &visitor.all {
        plain_use();
    }
    visitor.all.len()
}

/// The uses of one implementation.
struct Uses<'a> {
    of: &'a str,
    all: Vec<fn()>,
}

impl Visitor for Uses<'_> {
    fn only(&self) -> Option<&str> {
        Some(self.of)
    }

    fn blocking<C: Blocking>(&mut self, _: &Registered) {
        self.all
            .extend([channels::tried::<C>, channels::blocking::<C>]);
    }
    fn asynchronous<C: Async>(&mut self, _: &Registered) {
        self.all
            .extend([channels::tried::<C>, channels::awaited::<C>]);
    }
    fn callback<C: Callback + Blocking>(&mut self, _: &Registered) {
        self.all.push(channels::called_back::<C>);
    }
    fn put_deadline<C: PutDeadline>(&mut self, _: &Registered) {
        self.all.push(channels::put_in_time::<C>);
    }
    fn take_deadline<C: TakeDeadline>(&mut self, _: &Registered) {
        self.all.push(channels::taken_in_time::<C>);
    }
    fn promises<C: Promises + Blocking>(&mut self, _: &Registered) {
        self.all.push(channels::promised::<C>);
    }
    fn alts<C: Alts>(&mut self, _: &Registered) {
        self.all.push(channels::chosen::<C>);
    }
    fn mixed_alts<C: MixedAlts>(&mut self, _: &Registered) {
        self.all.push(channels::chosen_of_two_types::<C>);
    }
    fn await_alts<C: AwaitAlts>(&mut self, _: &Registered) {
        self.all.push(channels::awaited_alts::<C>);
    }
    fn timer<T: Timers>(&mut self, _: &Registered) {
        self.all.push(timers::timer::<T>);
    }
    fn cancel<T: Cancel>(&mut self, _: &Registered) {
        self.all.push(timers::cancel::<T>);
    }
    fn pipeline<P, C, E>(&mut self, _: &Registered)
    where
        P: Pipelines<C, E> + Default,
        C: Async,
        E: Executors,
    {
        self.all.push(pipelines::pipeline::<P, C, E>);
    }
    fn workers<P, C, E>(&mut self, _: &Registered)
    where
        P: TransformPipelines<C, E> + Default,
        C: Async,
        E: Executors,
    {
        self.all.push(workers::workers::<P, C, E>);
    }
    fn parallel_map<M, C, E>(&mut self, _: &Registered)
    where
        M: ParallelMaps<C, E> + Default,
        C: Async,
        E: Executors,
    {
        self.all.push(parallel_maps::parallel_map::<M, C, E>);
    }
    fn limiter<L: Limiters>(&mut self, _: &Registered) {
        self.all.push(limiters::limiter::<L>);
    }
    fn executor<E: Executors, C: Async + Blocking>(&mut self, _: &Registered) {
        self.all.push(executors::executor::<E, C>);
    }
    fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>(&mut self, _: &Registered) {
        self.all.push(go_blocks::go_block::<G, C, E>);
    }
    fn combinators<F: Combinators<C>, C: AwaitAlts, E: Executors>(&mut self, _: &Registered) {
        self.all.push(combinators::combinators::<F, C, E>);
    }
}
