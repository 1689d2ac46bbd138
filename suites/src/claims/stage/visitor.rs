//! The enactments that one text has for each family of one implementation.

use std::marker::PhantomData;

use flowmeter_harness::caps::{self, Origin};
use flowmeter_harness::channel::{Alts, Async, AwaitAlts, Blocking, Callback};
use flowmeter_harness::executor::{Bindings, Executors, GoBlocks};
use flowmeter_harness::limiter::AsyncLimit;
use flowmeter_harness::parallel_map::ParallelMaps;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::registry::{Registered, Registry, Visitor};
use flowmeter_harness::sync::World;
use flowmeter_harness::timer::{Coalesce, Timeouts};

use crate::claims::{Enactment, Seed};

/// Collects the enactments of one text for one implementation.
pub(super) struct ActVisitor<'a, S, W, R> {
    pub(super) of: &'a str,
    pub(super) registry: R,
    pub(super) enactments: Vec<Enactment>,
    pub(super) marker: PhantomData<fn(S, W)>,
}

impl<S: Seed, W: World, R: Registry> Visitor for ActVisitor<'_, S, W, R> {
    fn only(&self) -> Option<&str> {
        Some(self.of)
    }

    fn alts<C: Alts>(&mut self, implementation: &Registered) {
        self.enactments.extend(S::alts::<C, W>(implementation));
    }

    fn coalesce<T: Coalesce>(&mut self, implementation: &Registered) {
        self.enactments.extend(S::coalesce::<T, W>(implementation));
    }

    fn timeouts<T: Timeouts<C>, C: Alts + Async + Blocking>(
        &mut self,
        implementation: &Registered,
    ) {
        self.enactments
            .extend(S::timeouts::<T, C, W>(implementation));
        let mut executors = OnExecutors::<S, T, C, W> {
            of: implementation,
            enactments: None,
            marker: PhantomData,
        };
        self.registry.executors(&mut executors);
        self.enactments
            .extend(executors.enactments.into_iter().flatten());
    }

    fn executor<E: Executors, C: Async + Blocking>(&mut self, implementation: &Registered) {
        self.enactments
            .extend(S::executor::<E, C, W>(implementation));
    }

    fn bindings<B: Bindings, E: Executors, C: Async + Blocking>(
        &mut self,
        implementation: &Registered,
    ) {
        self.enactments
            .extend(S::bindings::<B, E, C, W>(implementation));
    }

    fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>(
        &mut self,
        implementation: &Registered,
    ) {
        self.enactments
            .extend(S::state_machines::<G, C, E, W>(implementation));
    }

    fn pipeline<P: Pipelines<C, E> + Default, C: Async, E: Executors>(
        &mut self,
        implementation: &Registered,
    ) {
        self.enactments
            .extend(S::pipeline::<P, C, E, W>(implementation));
    }

    fn async_limit<L: AsyncLimit>(&mut self, implementation: &Registered) {
        self.enactments
            .extend(S::async_limit::<L, W>(implementation));
    }

    fn parallel_map<M: ParallelMaps<C, E> + Default, C: Async, E: Executors>(
        &mut self,
        implementation: &Registered,
    ) {
        self.enactments
            .extend(S::parallel_map::<M, C, E, W>(implementation));
        let mut semaphores = BySemaphores::<S, M, C, E, W> {
            enactments: None,
            marker: PhantomData,
        };
        self.registry.limiters(&mut semaphores);
        self.enactments
            .extend(semaphores.enactments.into_iter().flatten());
    }
}

/// Collects the enactments of one text for timeouts in go blocks of the first executor of ours.
struct OnExecutors<'a, S, T, C, W> {
    of: &'a Registered,
    enactments: Option<Vec<Enactment>>,
    marker: PhantomData<fn(S, T, C, W)>,
}

impl<S, T, C, W> Visitor for OnExecutors<'_, S, T, C, W>
where
    S: Seed,
    T: Timeouts<C>,
    C: Alts + Async + Blocking,
    W: World,
{
    fn executor<E: Executors, D: Async + Blocking>(&mut self, implementation: &Registered) {
        if implementation.origin == Origin::Own && self.enactments.is_none() {
            self.enactments = Some(S::go_blocks::<E, T, C, W>(self.of));
        }
    }
}

/// Collects the enactments of one text for a parallel map behind the first semaphore of ours that serves in order of
/// arrival.
struct BySemaphores<S, M, C, E, W> {
    enactments: Option<Vec<Enactment>>,
    marker: PhantomData<(S, M, C, E, W)>,
}

impl<S, M, C, E, W> Visitor for BySemaphores<S, M, C, E, W>
where
    S: Seed,
    M: ParallelMaps<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    fn async_limit<L: AsyncLimit>(&mut self, implementation: &Registered) {
        let promises = [caps::Claim::WindowBound, caps::Claim::WaiterFifo];
        let is_one = promises
            .iter()
            .all(|p| implementation.capabilities.claims.contains(p));
        if implementation.origin == Origin::Own && is_one && self.enactments.is_none() {
            self.enactments = Some(S::limited_map::<M, L, C, E, W>());
        }
    }
}
