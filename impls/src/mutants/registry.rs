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
use flowmeter_harness::registry::{Contestant, Enrol, Mutant, MutantRegistry, Registry};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timeouts, Timers};
use flowmeter_harness::transform_pipeline::TransformPipelines;

use super::copy::registry::Everybody;

/// Every mutant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mutants;

impl Registry for Mutants {
    fn channels<H: Enrol>(self, hall: &mut H) {
        each(hall, |mut standing| Everybody.channels(&mut standing));
    }
    fn timers<H: Enrol>(self, hall: &mut H) {
        each(hall, |mut standing| Everybody.timers(&mut standing));
    }
    fn pipelines<H: Enrol>(self, hall: &mut H) {
        each(hall, |mut standing| Everybody.pipelines(&mut standing));
    }
    fn limiters<H: Enrol>(self, hall: &mut H) {
        each(hall, |mut standing| Everybody.limiters(&mut standing));
    }
    fn executors<H: Enrol>(self, hall: &mut H) {
        each(hall, |mut standing| Everybody.executors(&mut standing));
    }
    fn combinators<H: Enrol>(self, hall: &mut H) {
        each(hall, |mut standing| Everybody.combinators(&mut standing));
    }
}

impl MutantRegistry for Mutants {
    fn mutants(self) -> &'static [Mutant] {
        super::ALL
    }
}

fn each<H: Enrol>(hall: &mut H, walk: impl Fn(InPlace<'_, H>)) {
    for (index, mutant) in super::ALL.iter().enumerate() {
        walk(InPlace {
            hall,
            mutant,
            number: index + 1,
        });
    }
}

/// Shows the mutant to a hall in place of its base, and hides all other implementations.
struct InPlace<'h, H> {
    hall: &'h mut H,
    mutant: &'static Mutant,
    number: usize,
}

/// Forwards every family under the mutant's name.
macro_rules! hand_on {
    ($($visit:ident<$($family:ident: [$($bound:tt)+]),+>;)+) => {$(
        fn $visit<$($family: $($bound)+),+>(&mut self, who: &Contestant) {
            let who = self.renamed(who);
            self.hall.$visit::<$($family),+>(&who);
        }
    )+};
}

impl<H: Enrol> InPlace<'_, H> {
    fn renamed(&self, who: &Contestant) -> Contestant {
        Contestant {
            name: self.mutant.name,
            origin: Origin::Mutant,
            ..who.clone()
        }
    }
}

impl<H: Enrol> Enrol for InPlace<'_, H> {
    /// The mutant that is asked for is active in this process from here on.
    fn asks(&self, name: &str) -> bool {
        let asked = name == self.mutant.base && self.hall.asks(self.mutant.name);
        if asked {
            super::activate(self.number);
        }
        asked
    }

    fn contestant(&mut self, who: &Contestant) {
        if who.name == self.mutant.base {
            let who = self.renamed(who);
            self.hall.contestant(&who);
        }
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
