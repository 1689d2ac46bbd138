//! Which traits a family has, asked of the compiler, so that an adapter need not list what it implements.
//!
//! `Probe::<F, G>::blocking` is an inherent function where `F` implements `Blocking`. Elsewhere it is the function of
//! [`Otherwise`], since rustc prefers an inherent one only if its bounds hold. This works for a type that is named, as in
//! [`suite!`](crate::suite!), and not for a parameter.

use std::marker::PhantomData;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use flowmeter_harness::channel::{
    Alts, Async, AsyncBatch, AsyncReserve, AwaitAlts, AwaitClose, Batch, Blocking, BlockingReserve,
    Buffer, Callback, Channels, MixedAlts, Promises, PutDeadline, TakeDeadline, Transforms,
    WeakProducers,
};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::executor::{Executors, GoBlocks};
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    Quota, WeightedLimit,
};
use flowmeter_harness::parallel_map::ParallelMaps;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::registry::{Entry, Visitor, own};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timers};
use flowmeter_harness::transform_pipeline::TransformPipelines;

use crate::grounds::Ground;

/// Answers for a family, on the ground of a compilation.
#[derive(Debug)]
pub struct Probe<F, G>(PhantomData<(F, G)>);

macro_rules! probed {
    (
        $d:tt
        { $($touch:ident)+ }
        { $($kind:ident $is:ident: ($($needed:tt)+) = |$it:ident, $over:ident| $begun:expr;)+ }
        { $($step:ident $has:ident: $($bound:ident)+;)+ }
    ) => {
        $(impl<F: $($needed)+, G: Ground> Probe<F, G> {
            /// Whether it is of this kind.
            pub const $is: bool = true;
            /// Begins its registration. A pipeline may have so many items in flight beyond its parallelism.
            pub fn $kind<'h, V: Visitor>(
                visitor: &'h mut V,
                name: &'static str,
                $over: usize,
            ) -> Option<Entry<'h, F, V>> {
                let _ = $over;
                let $it = own::<F, V>(visitor, name);
                Some($begun)
            }
        })+
        $(impl<F: $($bound +)+, G: Ground> Probe<F, G> {
            /// Whether it has this trait.
            pub const $has: bool = true;
            /// Registers the family for this trait.
            pub fn $step<'h, V: Visitor>(entry: Entry<'h, F, V>) -> Entry<'h, F, V> {
                entry.$step()
            }
        })+

        /// The answers for a family that has not the trait.
        pub trait Otherwise<F> {
            $(
                /// It is not of this kind.
                const $is: bool = false;
                /// It is not registered.
                fn $kind<'h, V: Visitor>(
                    _: &'h mut V,
                    _: &'static str,
                    _: usize,
                ) -> Option<Entry<'h, F, V>> {
                    None
                }
            )+
            $(
                /// Nothing is called.
                fn $touch() {}
            )+
            $(
                /// It has not this trait.
                const $has: bool = false;
                /// The registration as it was.
                fn $step<'h, V: Visitor>(entry: Entry<'h, F, V>) -> Entry<'h, F, V> {
                    entry
                }
            )+
        }

        /// A registration, for each trait that the family has.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __registered {
            ($d entry:ident of $d family:ty, on $d ground:ident) => {{
                $(let $d entry = $crate::Probe::<$d family, $crate::grounds::$d ground>::$step($d entry);)+
                $d entry
            }};
        }
    };
}

probed! {
    $
    { touch_channel touch_timer touch_limiter touch_executor }
    {
        channel CHANNEL: (Channels) = |it, over| it.channel();
        timer TIMER: (Timers) = |it, over| it.timer();
        limiter LIMITER: (Limiters) = |it, over| it.limiter();
        executor EXECUTOR: (Executors) = |it, over| it.executor::<G::Channels>();
        go_blocks GO_BLOCKS: (GoBlocks<G::Channels>) = |it, over| {
            it.go_blocks::<G::Channels, G::Executor>()
        };
        pipeline PIPELINE: (Pipelines<G::Channels, G::Executor> + Default) = |it, over| {
            it.pipeline::<G::Channels, G::Executor>(over)
        };
        workers WORKERS: (TransformPipelines<G::Channels, G::Executor> + Default) = |it, over| {
            it.workers::<G::Channels, G::Executor>()
        };
        parallel_map PARALLEL_MAP: (ParallelMaps<G::Channels, G::Executor> + Default) = |it, over| {
            it.parallel_map::<G::Channels, G::Executor>()
        };
        combinators COMBINATORS: (Combinators<G::Channels>) = |it, over| {
            it.combinators::<G::Channels, G::Executor>()
        };
    }
    {
        blocking BLOCKING: Blocking;
        asynchronous ASYNC: Async;
        mixed MIXED: Blocking Async;
        callback CALLBACK: Callback Blocking;
        put_deadline PUT_DEADLINE: PutDeadline;
        take_deadline TAKE_DEADLINE: TakeDeadline;
        promises PROMISES: Promises Blocking;
        alts ALTS: Alts;
        mixed_alts MIXED_ALTS: MixedAlts;
        await_alts AWAIT_ALTS: AwaitAlts;
        weak_producers WEAK_PRODUCERS: WeakProducers;
        await_close AWAIT_CLOSE: AwaitClose;
        batch BATCH: Batch;
        async_batch ASYNC_BATCH: AsyncBatch;
        reserve RESERVE: BlockingReserve;
        async_reserve ASYNC_RESERVE: AsyncReserve;
        transforms TRANSFORMS: Transforms Blocking;
        cancel CANCEL: Cancel;
        reset RESET: Reset;
        coalesce COALESCE: Coalesce;
        sleep SLEEP: Sleep;
        blocking_sleep BLOCKING_SLEEP: BlockingSleep;
        blocking_limit BLOCKING_LIMIT: BlockingLimit;
        limit_deadline LIMIT_DEADLINE: LimitDeadline;
        async_limit ASYNC_LIMIT: AsyncLimit;
        async_limit_deadline ASYNC_LIMIT_DEADLINE: AsyncLimitDeadline;
        weighted_limit WEIGHTED_LIMIT: WeightedLimit;
        async_weighted_limit ASYNC_WEIGHTED_LIMIT: AsyncWeightedLimit;
    }
}

impl<F, G> Otherwise<F> for Probe<F, G> {}

// What follows waits for no value, so that it ends in a compilation against real locks too. Only the end of an executor may
// wait, for its threads.

impl<C: Channels, G: Ground> Probe<C, G> {
    /// Puts one value into a channel, and takes it.
    pub fn touch_channel() {
        let buffers = [Buffer::fixed(1), Buffer::Unbounded, Buffer::Rendezvous];
        let mut channels = buffers.into_iter().filter_map(C::open::<u64>);
        if let Some((mut tx, mut rx)) = channels.next() {
            let _ = C::offer(&mut tx, 1);
            let _ = C::poll(&mut rx);
        }
    }
}

impl<T: Timers, G: Ground> Probe<T, G> {
    /// Starts a service and ends it.
    pub fn touch_timer() {
        drop(T::start());
    }
}

impl<L: Limiters, G: Ground> Probe<L, G> {
    /// Takes one permit.
    pub fn touch_limiter() {
        let quota = Quota {
            permits: NonZeroU32::MIN,
            period: Duration::from_millis(1),
            burst: NonZeroU32::MIN,
        };
        if let Ok(limiter) = L::with_quota(quota) {
            let _ = limiter.try_acquire();
        }
    }
}

impl<E: Executors, G: Ground> Probe<E, G> {
    /// Runs one task, and ends the executor.
    pub fn touch_executor() {
        let executor = E::with_threads(NonZeroUsize::MIN);
        executor.spawn(async {});
    }
}
