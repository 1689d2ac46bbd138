//! The list of all implementations: ours here, and the published crates in a file of their own. No code outside these
//! two files names an implementation.

#[cfg(feature = "peers")]
mod published;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::caps::Claim::{
    AnswersSleepers, BoundedWaiters, CancelSafe, DeadlineOrder, Disconnect, IsolatedCallbacks,
    KeepsBuffered, PanicSafe, PassesOn, PendingPutsSurvive, RateBound, StrictDefault,
    StrictPriority, Tickless, UniformChoice, WaiterFifo, WakesOnce, WindowBound,
};
use flowmeter_harness::channel::{Alts, Async, Blocking};
use flowmeter_harness::registry::{Enrol, Registry, own};

use crate::channel::condvar::Condvar;
use crate::channel::lock_free::LockFree;
use crate::channel::mutex::MutexChannels;
use crate::channel::ordered_locks::OrderedLocks;
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

/// Our implementations only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ours;

/// All implementations: ours in every world, the published crates in the std world.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everybody;

impl Registry for Ours {
    fn channels<H: Enrol>(self, hall: &mut H) {
        own::<MutexChannels, _>(hall, "mutex")
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
            .claims(&[BoundedWaiters, UniformChoice, PanicSafe, Disconnect])
            .enter();
        own::<OrderedLocks, _>(hall, "ordered_locks")
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
            .claims(&[BoundedWaiters, UniformChoice, PanicSafe])
            .claims(&[Disconnect, StrictPriority, StrictDefault])
            .enter();
        own::<LockFree, _>(hall, "lock_free")
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
            .claims(&[BoundedWaiters, UniformChoice, PanicSafe, Disconnect])
            .enter();
        own::<Condvar, _>(hall, "condvar")
            .channel()
            .blocking()
            .put_deadline()
            .take_deadline()
            .claims(&[KeepsBuffered, Disconnect, PanicSafe])
            .enter();
    }

    fn timers<H: Enrol>(self, hall: &mut H) {
        #[cfg(feature = "delay-queue")]
        own::<DelayQueueTimers, _>(hall, "delay_queue")
            .timer()
            .timeouts::<MutexChannels>()
            .claims(&[Claim::Coalescing, PanicSafe, IsolatedCallbacks])
            .enter();
        of_service::<DaryHeap, MutexChannels, _>(
            hall,
            "heap",
            &[DeadlineOrder, Tickless, IsolatedCallbacks],
        );
        of_service::<Ticks, OrderedLocks, _>(hall, "hashed_wheel", &[IsolatedCallbacks]);
        of_service::<Wheel, LockFree, _>(
            hall,
            "hierarchical_wheel",
            &[DeadlineOrder, Tickless, IsolatedCallbacks],
        );
        // In virtual time no thread is woken late, and there is no clock to spin on. So what only virtual time shows is
        // not claimed.
        #[cfg(not(any(feature = "loom", feature = "shuttle")))]
        of_service::<Spinning<Wheel>, LockFree, _>(
            hall,
            "hierarchical_wheel-spinning",
            &[DeadlineOrder],
        );
    }

    fn limiters<H: Enrol>(self, hall: &mut H) {
        own::<FairSemaphore, _>(hall, "semaphore")
            .limiter()
            .blocking_limit()
            .limit_deadline()
            .weighted_limit()
            .claims(&[WindowBound, WaiterFifo, WakesOnce, PassesOn, Tickless])
            .limiter_family::<AsyncSemaphore<Heap, true>>()
            .async_limit()
            .async_limit_deadline()
            .async_weighted_limit()
            .enter();
        own::<UnfairSemaphore, _>(hall, "semaphore-unfair")
            .limiter()
            .blocking_limit()
            .limit_deadline()
            .weighted_limit()
            .claims(&[WindowBound, WakesOnce, PassesOn, Tickless])
            .limiter_family::<AsyncSemaphore<Heap, false>>()
            .async_limit()
            .async_limit_deadline()
            .async_weighted_limit()
            .enter();
        own::<Gcra, _>(hall, "gcra")
            .limiter()
            .blocking_limit()
            .limit_deadline()
            .weighted_limit()
            .claims(&[RateBound, WaiterFifo, WakesOnce, Tickless])
            .limiter_family::<AsyncGcra<Heap>>()
            .async_limit()
            .async_limit_deadline()
            .async_weighted_limit()
            .enter();
        own::<TokenBucket, _>(hall, "token_bucket")
            .limiter()
            .blocking_limit()
            .limit_deadline()
            .weighted_limit()
            .claims(&[RateBound, WaiterFifo, WakesOnce, PassesOn, Tickless])
            .limiter_family::<AsyncTokenBucket<Heap>>()
            .async_limit()
            .async_limit_deadline()
            .async_weighted_limit()
            .enter();
    }

    /// All over the same channels and on the same executor, so that only the designs differ.
    fn pipelines<H: Enrol>(self, hall: &mut H) {
        own::<CoreAsync, _>(hall, "core_async")
            .pipeline::<MutexChannels, OfPipelines>(2)
            .enter();
        own::<Swapped, _>(hall, "swapped")
            .pipeline::<MutexChannels, OfPipelines>(1)
            .enter();
        own::<Finishes, _>(hall, "finishes")
            .pipeline::<MutexChannels, OfPipelines>(0)
            .enter();
        own::<Windowed, _>(hall, "windowed")
            .pipeline::<MutexChannels, OfPipelines>(0)
            .enter();
        own::<Unordered, _>(hall, "unordered")
            .pipeline::<MutexChannels, OfPipelines>(0)
            .enter();
        own::<Computing, _>(hall, "pipeline")
            .workers::<MutexChannels, OfPipelines>()
            .enter();
        own::<HoldingUp, _>(hall, "pipeline-blocking")
            .workers::<MutexChannels, OfPipelines>()
            .enter();
        own::<Upmap, _>(hall, "upmap")
            .parallel_map::<MutexChannels, OfPipelines>()
            .enter();
        own::<EagerUpmap, _>(hall, "upmap-eager")
            .parallel_map::<MutexChannels, OfPipelines>()
            .enter();
    }

    fn executors<H: Enrol>(self, hall: &mut H) {
        own::<FixedPool, _>(hall, "fixed_pool")
            .executor::<MutexChannels>()
            .bindings::<Frames, MutexChannels>()
            .enter();
        own::<ThreadPerTask, _>(hall, "thread_per_task")
            .executor::<MutexChannels>()
            .bindings::<Frames, MutexChannels>()
            .enter();
        #[cfg(feature = "work-stealing")]
        own::<WorkStealing, _>(hall, "work_stealing")
            .executor::<MutexChannels>()
            .bindings::<Frames, MutexChannels>()
            .enter();
        own::<StateMachine, _>(hall, "state_machine")
            .go_blocks::<MutexChannels, FixedPool>()
            .enter();
    }

    /// The same combinators over channels with a lock, and over lock-free ones.
    fn combinators<H: Enrol>(self, hall: &mut H) {
        own::<OverChannels, _>(hall, "combinators")
            .combinators::<MutexChannels, OfPipelines>()
            .enter();
        own::<OverChannels, _>(hall, "combinators-lock_free")
            .combinators::<LockFree, OfPipelines>()
            .enter();
    }
}

/// A timer service over that index, with timeouts that are channels of that family. `claims` are those that the index
/// adds.
fn of_service<I: Index, C: Alts + Async + Blocking, H: Enrol>(
    hall: &mut H,
    name: &'static str,
    claims: &[Claim],
) {
    own::<TimerService<I>, _>(hall, name)
        .timer()
        .cancel()
        .reset()
        .coalesce()
        .sleep()
        .blocking_sleep()
        .timeouts::<C>()
        .claims(&[AnswersSleepers, PanicSafe])
        .claims(claims)
        .enter();
}

impl Registry for Everybody {
    fn channels<H: Enrol>(self, hall: &mut H) {
        Ours.channels(hall);
        #[cfg(feature = "peers")]
        published::channels(hall);
    }

    fn timers<H: Enrol>(self, hall: &mut H) {
        Ours.timers(hall);
        #[cfg(feature = "peers")]
        published::timers(hall);
    }

    fn limiters<H: Enrol>(self, hall: &mut H) {
        Ours.limiters(hall);
        #[cfg(feature = "peers")]
        published::limiters(hall);
    }

    fn pipelines<H: Enrol>(self, hall: &mut H) {
        Ours.pipelines(hall);
        #[cfg(feature = "peers")]
        published::pipelines(hall);
    }

    fn executors<H: Enrol>(self, hall: &mut H) {
        Ours.executors(hall);
        #[cfg(feature = "peers")]
        published::executors(hall);
    }

    fn combinators<H: Enrol>(self, hall: &mut H) {
        Ours.combinators(hall);
    }
}

/// Async rows run on the executor that most users of these crates run them on.
#[cfg(feature = "peers")]
impl flowmeter_harness::registry::AsyncRegistry for Everybody {
    type Executor = OfPipelines;
    type Sleep = Heap;
}
