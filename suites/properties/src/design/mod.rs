//! Designs without their types, for properties, injected faults and generated programs. A property is compiled once,
//! and asks a design at run time what it has.
//!
//! There is a folder or file for each kind. It has the erased design with the operations as methods, and the
//! collector of such designs from a registry. Only the collector and
//! the tables that it fills know the types of the families.

pub(crate) mod channels;
pub(crate) mod combinators;
pub(crate) mod executors;
pub(crate) mod limiters;
mod parcel;
pub(crate) mod pipelines;
pub(crate) mod timers;

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
use flowmeter_harness::registry::{Registered, Visitor};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timeouts, Timers};
use flowmeter_harness::transform_pipeline::TransformPipelines;

pub use channels::Channels;
pub(crate) use channels::{Clause, Permit, Rx, Tx};
pub(crate) use parcel::Parcel;

/// The designs of a registry.
#[derive(Default)]
pub(crate) struct Designs {
    /// The one implementation to ask; `None` asks all.
    only: Option<String>,
    /// Its channels.
    pub(crate) channels: channels::Collected,
    /// Its executors.
    pub(crate) executors: executors::Collected,
    /// Its pipelines.
    pub(crate) pipelines: pipelines::Collected,
    /// Its timers.
    pub(crate) timers: timers::Collected,
    /// Its limiters.
    pub(crate) limiters: limiters::Collected,
    /// Its combinators.
    pub(crate) combinators: combinators::Collected,
}

impl Designs {
    /// Empty, and restricted to that implementation if there is a name.
    pub(crate) fn of(only: Option<String>) -> Self {
        Designs {
            only,
            ..Designs::default()
        }
    }
}

/// Lets the collector of a kind visit each family of it.
macro_rules! collect {
    ($($kind:ident: $($visit:ident<$($family:ident: [$($bound:tt)+]),+>)+;)+) => {$($(
        fn $visit<$($family: $($bound)+),+>(&mut self, implementation: &Registered) {
            self.$kind.$visit::<$($family),+>(implementation);
        }
    )+)+};
}

impl Visitor for Designs {
    fn only(&self) -> Option<&str> {
        self.only.as_deref()
    }

    collect! {
        channels:
            blocking<C: [Blocking]>
            asynchronous<C: [Async]>
            callback<C: [Callback + Blocking]>
            put_deadline<C: [PutDeadline]>
            take_deadline<C: [TakeDeadline]>
            promises<C: [Promises + Blocking]>
            alts<C: [Alts]>
            mixed<C: [Blocking + Async]>
            mixed_alts<C: [MixedAlts]>
            await_alts<C: [AwaitAlts]>
            weak_producers<C: [WeakProducers]>
            await_close<C: [AwaitClose]>
            batch<C: [Batch]>
            async_batch<C: [AsyncBatch]>
            reserve<C: [BlockingReserve]>
            async_reserve<C: [AsyncReserve]>
            transforms<C: [Transforms + Blocking]>;
        executors:
            executor<E: [Executors], C: [Async + Blocking]>
            bindings<B: [Bindings], E: [Executors], C: [Async + Blocking]>
            go_blocks<G: [GoBlocks<C>], C: [Callback + AwaitAlts], E: [Executors]>;
        pipelines:
            pipeline<P: [Pipelines<C, E> + Default], C: [Async], E: [Executors]>
            workers<P: [TransformPipelines<C, E> + Default], C: [Async], E: [Executors]>
            parallel_map<M: [ParallelMaps<C, E> + Default], C: [Async], E: [Executors]>;
        timers:
            timer<T: [Timers]>
            cancel<T: [Cancel]>
            reset<T: [Reset]>
            coalesce<T: [Coalesce]>
            sleep<S: [Sleep]>
            blocking_sleep<S: [BlockingSleep]>
            timeouts<S: [Timeouts<C>], C: [Alts + Async + Blocking]>;
        limiters:
            limiter<L: [Limiters]>
            blocking_limit<L: [BlockingLimit]>
            limit_deadline<L: [LimitDeadline]>
            async_limit<L: [AsyncLimit]>
            async_limit_deadline<L: [AsyncLimitDeadline]>
            weighted_limit<L: [WeightedLimit]>
            async_weighted_limit<L: [AsyncWeightedLimit]>;
        combinators:
            combinators<F: [Combinators<C>], C: [AwaitAlts], E: [Executors]>;
    }
}
