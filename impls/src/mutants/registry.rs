//! The mutants as implementations: each enters with the capabilities of its base, under its own name.

use flowmeter_harness::caps::Origin;
use flowmeter_harness::channel::{
    Alts, Async, AsyncBatch, AsyncReserve, AwaitAlts, AwaitClose, Batch, Blocking, BlockingReserve,
    Callback, MixedAlts, Promises, PutDeadline, TakeDeadline, Transforms, WeakProducers,
};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::executor::{Bindings, Executors, GoBlocks};
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    WeightedLimit,
};
use flowmeter_harness::parallel_map::ParallelMaps;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::registry::{Mutant, MutantRegistry, Registered, Registry, Visitor};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timeouts, Timers};
use flowmeter_harness::transform_pipeline::TransformPipelines;

use super::copy::registry::All;

/// Every mutant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mutants;

impl Registry for Mutants {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        each(visitor, |mut standing| All.channels(&mut standing));
    }
    fn timers<V: Visitor>(self, visitor: &mut V) {
        each(visitor, |mut standing| All.timers(&mut standing));
    }
    fn pipelines<V: Visitor>(self, visitor: &mut V) {
        each(visitor, |mut standing| All.pipelines(&mut standing));
    }
    fn limiters<V: Visitor>(self, visitor: &mut V) {
        each(visitor, |mut standing| All.limiters(&mut standing));
    }
    fn executors<V: Visitor>(self, visitor: &mut V) {
        each(visitor, |mut standing| All.executors(&mut standing));
    }
    fn combinators<V: Visitor>(self, visitor: &mut V) {
        each(visitor, |mut standing| All.combinators(&mut standing));
    }
}

impl MutantRegistry for Mutants {
    fn mutants(self) -> &'static [Mutant] {
        super::ALL
    }
}

fn each<V: Visitor>(visitor: &mut V, walk: impl Fn(InPlace<'_, V>)) {
    for (index, mutant) in super::ALL.iter().enumerate() {
        if visitor.only().is_some_and(|only| only != mutant.name) {
            continue;
        }
        walk(InPlace {
            visitor,
            mutant,
            number: index + 1,
        });
    }
}

/// Shows the mutant to a visitor in place of its base, and hides all other implementations.
struct InPlace<'h, V> {
    visitor: &'h mut V,
    mutant: &'static Mutant,
    number: usize,
}

/// Forwards every family under the mutant's name.
macro_rules! hand_on {
    ($($visit:ident<$($family:ident: [$($bound:tt)+]),+>;)+) => {$(
        fn $visit<$($family: $($bound)+),+>(&mut self, implementation: &Registered) {
            let implementation = self.renamed(implementation);
            self.visitor.$visit::<$($family),+>(&implementation);
        }
    )+};
}

impl<V: Visitor> InPlace<'_, V> {
    fn renamed(&self, implementation: &Registered) -> Registered {
        Registered {
            name: self.mutant.name,
            origin: Origin::Mutant,
            ..implementation.clone()
        }
    }
}

impl<V: Visitor> Visitor for InPlace<'_, V> {
    fn only(&self) -> Option<&str> {
        Some(self.mutant.base)
    }

    /// The mutant that is asked for is active in this process from here on.
    fn asks(&self, name: &str) -> bool {
        let asked = name == self.mutant.base && self.visitor.asks(self.mutant.name);
        if asked {
            super::activate(self.number);
        }
        asked
    }

    fn implementation(&mut self, implementation: &Registered) {
        let implementation = self.renamed(implementation);
        self.visitor.implementation(&implementation);
    }

    hand_on! {
        blocking<C: [Blocking]>;
        asynchronous<C: [Async]>;
        mixed<C: [Blocking + Async]>;
        callback<C: [Callback + Blocking]>;
        put_deadline<C: [PutDeadline]>;
        take_deadline<C: [TakeDeadline]>;
        promises<C: [Promises + Blocking]>;
        alts<C: [Alts]>;
        mixed_alts<C: [MixedAlts]>;
        await_alts<C: [AwaitAlts]>;
        weak_producers<C: [WeakProducers]>;
        await_close<C: [AwaitClose]>;
        batch<C: [Batch]>;
        async_batch<C: [AsyncBatch]>;
        reserve<C: [BlockingReserve]>;
        async_reserve<C: [AsyncReserve]>;
        transforms<C: [Transforms + Blocking]>;
        timer<T: [Timers]>;
        cancel<T: [Cancel]>;
        reset<T: [Reset]>;
        coalesce<T: [Coalesce]>;
        sleep<S: [Sleep]>;
        blocking_sleep<S: [BlockingSleep]>;
        timeouts<S: [Timeouts<C>], C: [Alts + Async + Blocking]>;
        pipeline<P: [Pipelines<C, E> + Default], C: [Async], E: [Executors]>;
        workers<P: [TransformPipelines<C, E> + Default], C: [Async], E: [Executors]>;
        parallel_map<M: [ParallelMaps<C, E> + Default], C: [Async], E: [Executors]>;
        limiter<L: [Limiters]>;
        blocking_limit<L: [BlockingLimit]>;
        limit_deadline<L: [LimitDeadline]>;
        async_limit<L: [AsyncLimit]>;
        async_limit_deadline<L: [AsyncLimitDeadline]>;
        weighted_limit<L: [WeightedLimit]>;
        async_weighted_limit<L: [AsyncWeightedLimit]>;
        executor<E: [Executors], C: [Async + Blocking]>;
        bindings<B: [Bindings], E: [Executors], C: [Async + Blocking]>;
        go_blocks<G: [GoBlocks<C>], C: [Callback + AwaitAlts], E: [Executors]>;
        combinators<F: [Combinators<C>], C: [AwaitAlts], E: [Executors]>;
    }
}
