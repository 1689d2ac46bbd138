//! Which traits a family has, asked of the compiler, so that an adapter need not list what it implements.
//!
//! `Probe::<F>::blocking` is an inherent function where `F` implements `Blocking`. Elsewhere it is the function of
//! [`Otherwise`], since rustc prefers an inherent one only if its bounds hold. This works for a type that is named, as in
//! [`suite!`](crate::suite!), and not for a parameter.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::time::Duration;

use flowmeter_harness::channel::{
    Alts, Async, AsyncBatch, AsyncReserve, AwaitAlts, AwaitClose, Batch, Blocking, BlockingReserve,
    Buffer, Callback, Channels, MixedAlts, Promises, PutDeadline, TakeDeadline, Transforms,
    WeakProducers,
};
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    Quota, WeightedLimit,
};
use flowmeter_harness::registry::{Entry, Visitor, own};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timers};

/// Answers for a family.
#[derive(Debug)]
pub struct Probe<F>(PhantomData<F>);

macro_rules! probed {
    (
        $d:tt
        { $($kind:ident $is:ident $touch:ident: $trait:ident;)+ }
        { $($step:ident $has:ident: $($bound:ident)+;)+ }
    ) => {
        $(impl<F: $trait> Probe<F> {
            /// Whether it is of this kind.
            pub const $is: bool = true;
            /// Begins its registration.
            pub fn $kind<'h, V: Visitor>(visitor: &'h mut V, name: &'static str) -> Option<Entry<'h, F, V>> {
                Some(own::<F, V>(visitor, name).$kind())
            }
        })+
        $(impl<F: $($bound +)+> Probe<F> {
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
                fn $kind<'h, V: Visitor>(_: &'h mut V, _: &'static str) -> Option<Entry<'h, F, V>> {
                    None
                }
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
            ($d entry:ident of $d family:ty) => {{
                $(let $d entry = $crate::Probe::<$d family>::$step($d entry);)+
                $d entry
            }};
        }
    };
}

probed! {
    $
    {
        channel CHANNEL touch_channel: Channels;
        timer TIMER touch_timer: Timers;
        limiter LIMITER touch_limiter: Limiters;
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

impl<F> Otherwise<F> for Probe<F> {}

// What follows waits for nothing, so that it ends in a compilation against real locks too.

impl<C: Channels> Probe<C> {
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

impl<T: Timers> Probe<T> {
    /// Starts a service and ends it.
    pub fn touch_timer() {
        drop(T::start());
    }
}

impl<L: Limiters> Probe<L> {
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
