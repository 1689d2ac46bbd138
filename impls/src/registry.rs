//! The list of all implementations: ours here, and the published crates in a file of their own. No code outside these
//! two files names an implementation.

#[cfg(feature = "peers")]
mod published;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::caps::Claim::{
    AnswersSleepers, BoundedWaiters, CallsUnlocked, CancelSafe, DeadlineOrder, Disconnect,
    IsolatedCallbacks, KeepsBuffered, PanicSafe, PassesOn, PendingPutsSurvive, RateBound,
    RunsBesideBlocked, StrictDefault, StrictPriority, Tickless, UniformChoice, WaiterFifo,
    WakesOnce, WindowBound,
};
use flowmeter_harness::channel::{Alts, Async, Blocking};
use flowmeter_harness::registry::{Registry, Visitor, own};

use crate::channel::condvar::Condvar;
use crate::channel::lock_free::LockFree;
use crate::channel::mutex::MutexChannels;
use crate::channel::ordered_locks::OrderedLocks;
use crate::channel::spsc_ring::SpscRing;
use crate::combinator::OverChannels;
use crate::executor::bindings::Frames;
use crate::executor::fixed_pool::FixedPool;
use crate::executor::state_machine::StateMachine;
use crate::executor::thread_per_task::ThreadPerTask;
#[cfg(feature = "work-stealing")]
use crate::executor::work_stealing::WorkStealing;
use crate::limiter::gcra::{AsyncGcra, Gcra};
use crate::limiter::semaphore::{AsyncSemaphore, FairSemaphore, UnfairSemaphore};
use crate::limiter::token_bucket::{AsyncTokenBucket, TokenBucket};
use crate::pipeline::{
    Computing, CoreAsync, EagerUpmap, Finishes, HoldingUp, Swapped, Unordered, Upmap, Windowed,
};
#[cfg(feature = "delay-queue")]
use crate::timer::delay_queue::DelayQueueTimers;
use crate::timer::hashed_wheel::Ticks;
use crate::timer::heap::{DaryHeap, Heap};
use crate::timer::hierarchical_wheel::Wheel;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
use crate::timer::service::Spinning;
use crate::timer::service::{Index, TimerService};

/// What pipelines and combinators run on. With the published crates it is the executor that async rows also use;
/// otherwise our pool.
#[cfg(feature = "peers")]
type OfPipelines = crate::peers::tokio_executor::Tokio;
#[cfg(not(feature = "peers"))]
type OfPipelines = FixedPool;

/// The channels of pipelines, and on which tasks of executors wait.
pub type OfTasks = MutexChannels;

/// Our implementations only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ours;

/// All implementations: ours in every world, the published crates in the std world.
#[derive(Clone, Copy, Debug, Default)]
pub struct All;

impl Registry for Ours {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        own::<MutexChannels, _>(visitor, "mutex")
            .channel()
            .blocking()
            .asynchronous()
            .mixed()
            .callback()
            .put_deadline()
            .take_deadline()
            .promises()
            .alts()
            .mixed_alts()
            .await_alts()
            .weak_producers()
            .await_close()
            .batch()
            .async_batch()
            .reserve()
            .async_reserve()
            .transforms()
            .claims(&[WaiterFifo, CancelSafe, KeepsBuffered, PendingPutsSurvive])
            .claims(&[
                BoundedWaiters,
                UniformChoice,
                PanicSafe,
                CallsUnlocked,
                Disconnect,
            ])
            .enter();
        own::<OrderedLocks, _>(visitor, "ordered_locks")
            .channel()
            .blocking()
            .asynchronous()
            .mixed()
            .callback()
            .put_deadline()
            .take_deadline()
            .promises()
            .alts()
            .mixed_alts()
            .await_alts()
            .weak_producers()
            .await_close()
            .batch()
            .async_batch()
            .reserve()
            .async_reserve()
            .transforms()
            .claims(&[WaiterFifo, CancelSafe, KeepsBuffered, PendingPutsSurvive])
            .claims(&[BoundedWaiters, UniformChoice, PanicSafe, CallsUnlocked])
            .claims(&[Disconnect, StrictPriority, StrictDefault])
            .enter();
        own::<LockFree, _>(visitor, "lock_free")
            .channel()
            .blocking()
            .asynchronous()
            .mixed()
            .callback()
            .put_deadline()
            .take_deadline()
            .promises()
            .alts()
            .mixed_alts()
            .await_alts()
            .weak_producers()
            .await_close()
            .batch()
            .async_batch()
            .reserve()
            .async_reserve()
            .transforms()
            .claims(&[WaiterFifo, CancelSafe, KeepsBuffered, PendingPutsSurvive])
            .claims(&[
                BoundedWaiters,
                UniformChoice,
                PanicSafe,
                CallsUnlocked,
                Disconnect,
            ])
            .enter();
        own::<Condvar, _>(visitor, "condvar")
            .channel()
            .blocking()
            .put_deadline()
            .take_deadline()
            .claims(&[KeepsBuffered, Disconnect, PanicSafe])
            .enter();
        own::<SpscRing, _>(visitor, "spsc_ring")
            .channel()
            .blocking()
            .put_deadline()
            .take_deadline()
            .claims(&[KeepsBuffered, Disconnect, PanicSafe])
            .enter();
    }

    fn timers<V: Visitor>(self, visitor: &mut V) {
        #[cfg(feature = "delay-queue")]
        own::<DelayQueueTimers, _>(visitor, "delay_queue")
            .timer()
            .timeouts::<MutexChannels>()
            .claims(&[Claim::Coalescing, PanicSafe, IsolatedCallbacks])
            .enter();
        of_service::<DaryHeap, MutexChannels, _>(
            visitor,
            "heap",
            &[DeadlineOrder, Tickless, IsolatedCallbacks],
        );
        of_service::<Ticks, OrderedLocks, _>(visitor, "hashed_wheel", &[IsolatedCallbacks]);
        of_service::<Wheel, LockFree, _>(
            visitor,
            "hierarchical_wheel",
            &[DeadlineOrder, Tickless, IsolatedCallbacks],
        );
        // In virtual time no thread is woken late, and there is no clock to spin on. So what only virtual time shows is
        // not claimed.
        #[cfg(not(any(feature = "loom", feature = "shuttle")))]
        of_service::<Spinning<Wheel>, LockFree, _>(
            visitor,
            "hierarchical_wheel-spinning",
            &[DeadlineOrder],
        );
    }

    fn limiters<V: Visitor>(self, visitor: &mut V) {
        own::<FairSemaphore, _>(visitor, "semaphore")
            .limiter()
            .blocking_limit()
            .limit_deadline()
            .weighted_limit()
            .claims(&[
                WindowBound,
                WaiterFifo,
                WakesOnce,
                PassesOn,
                Tickless,
                CallsUnlocked,
            ])
            .limiter_family::<AsyncSemaphore<Heap, true>>()
            .async_limit()
            .async_limit_deadline()
            .async_weighted_limit()
            .enter();
        own::<UnfairSemaphore, _>(visitor, "semaphore-unfair")
            .limiter()
            .blocking_limit()
            .limit_deadline()
            .weighted_limit()
            .claims(&[WindowBound, WakesOnce, PassesOn, Tickless, CallsUnlocked])
            .limiter_family::<AsyncSemaphore<Heap, false>>()
            .async_limit()
            .async_limit_deadline()
            .async_weighted_limit()
            .enter();
        own::<Gcra, _>(visitor, "gcra")
            .limiter()
            .blocking_limit()
            .limit_deadline()
            .weighted_limit()
            .claims(&[RateBound, WaiterFifo, WakesOnce, Tickless, CallsUnlocked])
            .limiter_family::<AsyncGcra<Heap>>()
            .async_limit()
            .async_limit_deadline()
            .async_weighted_limit()
            .enter();
        own::<TokenBucket, _>(visitor, "token_bucket")
            .limiter()
            .blocking_limit()
            .limit_deadline()
            .weighted_limit()
            .claims(&[
                RateBound,
                WaiterFifo,
                WakesOnce,
                PassesOn,
                Tickless,
                CallsUnlocked,
            ])
            .limiter_family::<AsyncTokenBucket<Heap>>()
            .async_limit()
            .async_limit_deadline()
            .async_weighted_limit()
            .enter();
    }

    /// All over the same channels and on the same executor, so that only the designs differ.
    fn pipelines<V: Visitor>(self, visitor: &mut V) {
        own::<CoreAsync, _>(visitor, "core_async")
            .pipeline::<MutexChannels, OfPipelines>(2)
            .enter();
        own::<Swapped, _>(visitor, "swapped")
            .pipeline::<MutexChannels, OfPipelines>(1)
            .enter();
        own::<Finishes, _>(visitor, "finishes")
            .pipeline::<MutexChannels, OfPipelines>(0)
            .enter();
        own::<Windowed, _>(visitor, "windowed")
            .pipeline::<MutexChannels, OfPipelines>(0)
            .enter();
        own::<Unordered, _>(visitor, "unordered")
            .pipeline::<MutexChannels, OfPipelines>(0)
            .enter();
        own::<Computing, _>(visitor, "pipeline")
            .workers::<MutexChannels, OfPipelines>()
            .enter();
        own::<HoldingUp, _>(visitor, "pipeline-blocking")
            .workers::<MutexChannels, OfPipelines>()
            .enter();
        own::<Upmap, _>(visitor, "upmap")
            .parallel_map::<MutexChannels, OfPipelines>()
            .enter();
        own::<EagerUpmap, _>(visitor, "upmap-eager")
            .parallel_map::<MutexChannels, OfPipelines>()
            .enter();
    }

    fn executors<V: Visitor>(self, visitor: &mut V) {
        own::<FixedPool, _>(visitor, "fixed_pool")
            .executor::<MutexChannels>()
            .bindings::<Frames, MutexChannels>()
            .claims(&[RunsBesideBlocked, PanicSafe])
            .enter();
        own::<ThreadPerTask, _>(visitor, "thread_per_task")
            .executor::<MutexChannels>()
            .bindings::<Frames, MutexChannels>()
            .claims(&[RunsBesideBlocked, PanicSafe])
            .enter();
        #[cfg(feature = "work-stealing")]
        own::<WorkStealing, _>(visitor, "work_stealing")
            .executor::<MutexChannels>()
            .bindings::<Frames, MutexChannels>()
            .claims(&[RunsBesideBlocked, PanicSafe])
            .enter();
        own::<StateMachine, _>(visitor, "state_machine")
            .go_blocks::<MutexChannels, FixedPool>()
            .enter();
    }

    /// The same combinators over channels with a lock, and over lock-free ones.
    fn combinators<V: Visitor>(self, visitor: &mut V) {
        own::<OverChannels, _>(visitor, "combinators")
            .combinators::<MutexChannels, OfPipelines>()
            .enter();
        own::<OverChannels, _>(visitor, "combinators-lock_free")
            .combinators::<LockFree, OfPipelines>()
            .enter();
    }
}

/// A timer service over that index, with timeouts that are channels of that family. `claims` are those that the index
/// adds.
fn of_service<I: Index, C: Alts + Async + Blocking, V: Visitor>(
    visitor: &mut V,
    name: &'static str,
    claims: &[Claim],
) {
    own::<TimerService<I>, _>(visitor, name)
        .timer()
        .cancel()
        .reset()
        .coalesce()
        .sleep()
        .blocking_sleep()
        .timeouts::<C>()
        .claims(&[AnswersSleepers, PanicSafe, CallsUnlocked])
        .claims(claims)
        .enter();
}

impl Registry for All {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        Ours.channels(visitor);
        #[cfg(feature = "peers")]
        published::channels(visitor);
    }

    fn timers<V: Visitor>(self, visitor: &mut V) {
        Ours.timers(visitor);
        #[cfg(feature = "peers")]
        published::timers(visitor);
    }

    fn limiters<V: Visitor>(self, visitor: &mut V) {
        Ours.limiters(visitor);
        #[cfg(feature = "peers")]
        published::limiters(visitor);
    }

    fn pipelines<V: Visitor>(self, visitor: &mut V) {
        Ours.pipelines(visitor);
        #[cfg(feature = "peers")]
        published::pipelines(visitor);
    }

    fn executors<V: Visitor>(self, visitor: &mut V) {
        Ours.executors(visitor);
        #[cfg(feature = "peers")]
        published::executors(visitor);
    }

    fn combinators<V: Visitor>(self, visitor: &mut V) {
        Ours.combinators(visitor);
    }
}

/// With the published crates, async rows run on the executor that most users of those run them on.
impl flowmeter_harness::registry::AsyncRegistry for All {
    type Executor = OfPipelines;
    type Sleep = Heap;
}
