//! Everybody of a registry, each as one who may lie.

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
use flowmeter_harness::registry::{Contestant, Enrol, Registry};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timeouts, Timers};
use flowmeter_harness::transform_pipeline::TransformPipelines;

use super::{
    bindings, channels, combinators, executors, go_blocks, limiters, parallel_maps, pipelines,
    timers, workers,
};

/// Our own contestants of that registry, under their names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lies<R>(pub R);

impl<R: Registry> Registry for Lies<R> {
    fn channels<H: Enrol>(self, hall: &mut H) {
        self.0.channels(&mut Wrapping(hall));
    }
    fn timers<H: Enrol>(self, hall: &mut H) {
        self.0.timers(&mut Wrapping(hall));
    }
    fn pipelines<H: Enrol>(self, hall: &mut H) {
        self.0.pipelines(&mut Wrapping(hall));
    }
    fn limiters<H: Enrol>(self, hall: &mut H) {
        self.0.limiters(&mut Wrapping(hall));
    }
    fn executors<H: Enrol>(self, hall: &mut H) {
        self.0.executors(&mut Wrapping(hall));
    }
    fn combinators<H: Enrol>(self, hall: &mut H) {
        self.0.combinators(&mut Wrapping(hall));
    }
}

/// Shows a hall every family of ours as one that may lie.
struct Wrapping<'h, H>(&'h mut H);

/// Hands every family on, wrapped.
macro_rules! wrap {
    ($($visit:ident<$family:ident: [$($bound:tt)+] $(, $other:ident: [$($its:tt)+])*>
        as $lying:ty;)+) => {$(
        fn $visit<$family: $($bound)+ $(, $other: $($its)+)*>(&mut self, who: &Contestant) {
            if who.origin == Origin::Own {
                self.0.$visit::<$lying $(, $other)*>(who);
            }
        }
    )+};
}

impl<H: Enrol> Enrol for Wrapping<'_, H> {
    fn asks(&self, name: &str) -> bool {
        self.0.asks(name)
    }

    fn contestant(&mut self, who: &Contestant) {
        if who.origin == Origin::Own {
            self.0.contestant(who);
        }
    }

    wrap! {
        blocking<C: [Blocking]> as channels::Lying<C>;
        asynchronous<C: [Async]> as channels::Lying<C>;
        mixed<C: [Blocking + Async]> as channels::Lying<C>;
        callback<C: [Callback + Blocking]> as channels::Lying<C>;
        put_deadline<C: [PutDeadline]> as channels::Lying<C>;
        take_deadline<C: [TakeDeadline]> as channels::Lying<C>;
        promises<C: [Promises + Blocking]> as channels::Lying<C>;
        alts<C: [Alts]> as channels::Lying<C>;
        mixed_alts<C: [MixedAlts]> as channels::Lying<C>;
        await_alts<C: [AwaitAlts]> as channels::Lying<C>;
        weak_producers<C: [WeakProducers]> as channels::Lying<C>;
        await_close<C: [AwaitClose]> as channels::Lying<C>;
        batch<C: [Batch]> as channels::Lying<C>;
        async_batch<C: [AsyncBatch]> as channels::Lying<C>;
        reserve<C: [BlockingReserve]> as channels::Lying<C>;
        async_reserve<C: [AsyncReserve]> as channels::Lying<C>;
        transforms<C: [Transforms + Blocking]> as channels::Lying<C>;
        timer<T: [Timers]> as timers::Lying<T>;
        cancel<T: [Cancel]> as timers::Lying<T>;
        reset<T: [Reset]> as timers::Lying<T>;
        coalesce<T: [Coalesce]> as timers::Lying<T>;
        sleep<S: [Sleep]> as timers::Lying<S>;
        blocking_sleep<S: [BlockingSleep]> as timers::Lying<S>;
        limiter<L: [Limiters]> as limiters::Lying<L>;
        blocking_limit<L: [BlockingLimit]> as limiters::Lying<L>;
        limit_deadline<L: [LimitDeadline]> as limiters::Lying<L>;
        async_limit<L: [AsyncLimit]> as limiters::Lying<L>;
        async_limit_deadline<L: [AsyncLimitDeadline]> as limiters::Lying<L>;
        weighted_limit<L: [WeightedLimit]> as limiters::Lying<L>;
        async_weighted_limit<L: [AsyncWeightedLimit]> as limiters::Lying<L>;
    }

    fn timeouts<S: Timeouts<C>, C: Alts + Async + Blocking>(&mut self, who: &Contestant) {
        if who.origin == Origin::Own {
            self.0
                .timeouts::<timers::Timeout<S>, channels::Lying<C>>(who);
        }
    }

    fn pipeline<P: Pipelines<C, E> + Default, C: Async, E: Executors>(&mut self, who: &Contestant) {
        if who.origin == Origin::Own {
            self.0
                .pipeline::<pipelines::Lying<P>, C, executors::Lying<E>>(who);
        }
    }

    fn workers<P: TransformPipelines<C, E> + Default, C: Async, E: Executors>(
        &mut self,
        who: &Contestant,
    ) {
        if who.origin == Origin::Own {
            self.0
                .workers::<workers::Lying<P>, C, executors::Lying<E>>(who);
        }
    }

    fn parallel_map<M: ParallelMaps<C, E> + Default, C: Async, E: Executors>(
        &mut self,
        who: &Contestant,
    ) {
        if who.origin == Origin::Own {
            self.0
                .parallel_map::<parallel_maps::Lying<M>, C, executors::Lying<E>>(who);
        }
    }

    fn executor<E: Executors, C: Async + Blocking>(&mut self, who: &Contestant) {
        if who.origin == Origin::Own {
            self.0
                .executor::<executors::Lying<E>, channels::Lying<C>>(who);
        }
    }

    fn bindings<B: Bindings, E: Executors, C: Async + Blocking>(&mut self, who: &Contestant) {
        if who.origin == Origin::Own {
            self.0
                .bindings::<bindings::Lying<B>, executors::Lying<E>, C>(who);
        }
    }

    fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>(
        &mut self,
        who: &Contestant,
    ) {
        if who.origin == Origin::Own {
            self.0
                .go_blocks::<go_blocks::Lying<G>, C, executors::Lying<E>>(who);
        }
    }

    fn combinators<F: Combinators<C>, C: AwaitAlts, E: Executors>(&mut self, who: &Contestant) {
        if who.origin == Origin::Own {
            self.0
                .combinators::<combinators::Lying<F>, C, executors::Lying<E>>(who);
        }
    }
}
