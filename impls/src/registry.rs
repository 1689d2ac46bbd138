//! The one list of who takes part. Nothing outside this file names an implementation.

use flowmeter_harness::caps::Claim;
use flowmeter_harness::caps::Claim::{
    AnswersSleepers, BoundedWaiters, CancelSafe, DeadlineOrder, Disconnect, KeepsBuffered,
    PanicSafe, PassesOn, PendingPutsSurvive, RateBound, StrictDefault, StrictPriority,
    UniformChoice, WaiterFifo, WakesOnce, WindowBound,
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

/// What pipelines and combinators run on: beside the published ones what async rows run on too, else the pool of ours.
#[cfg(feature = "peers")]
type OfPipelines = crate::peers::tokio_executor::Tokio;
#[cfg(not(feature = "peers"))]
type OfPipelines = FixedPool;

/// Ours alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ours;

/// Everybody: ours in every world, the published crates in the std world.
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
            .claims(&[Claim::Coalescing, PanicSafe])
            .enter();
        of_service::<DaryHeap, MutexChannels, _>(hall, "heap", &[DeadlineOrder]);
        of_service::<Ticks, OrderedLocks, _>(hall, "hashed_wheel", &[]);
        of_service::<Wheel, LockFree, _>(hall, "hierarchical_wheel", &[DeadlineOrder]);
        // Where time is virtual nobody is woken late, and there is nothing to look at.
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
            .claims(&[WindowBound, WaiterFifo, WakesOnce, PassesOn])
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
            .claims(&[WindowBound, WakesOnce, PassesOn])
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
            .claims(&[RateBound, WaiterFifo, WakesOnce])
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
            .claims(&[RateBound, WaiterFifo, WakesOnce, PassesOn])
            .limiter_family::<AsyncTokenBucket<Heap>>()
            .async_limit()
            .async_limit_deadline()
            .async_weighted_limit()
            .enter();
    }

    /// All over the same channels and on the same executor, so that designs are compared and nothing else.
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
        own::<StateMachine, _>(hall, "state_machine")
            .go_blocks::<MutexChannels, FixedPool>()
            .enter();
    }

    /// The same ones over channels with a lock, and over those without.
    fn combinators<H: Enrol>(self, hall: &mut H) {
        own::<OverChannels, _>(hall, "combinators")
            .combinators::<MutexChannels, OfPipelines>()
            .enter();
        own::<OverChannels, _>(hall, "combinators-lock_free")
            .combinators::<LockFree, OfPipelines>()
            .enter();
    }
}

/// A timer service over that index, whose timeouts are channels of that family; `claims` are what the index adds.
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
        published(hall);
    }

    fn timers<H: Enrol>(self, hall: &mut H) {
        Ours.timers(hall);
        #[cfg(feature = "peers")]
        published_timers(hall);
    }

    fn limiters<H: Enrol>(self, hall: &mut H) {
        Ours.limiters(hall);
        #[cfg(feature = "peers")]
        published_limiters(hall);
    }

    fn pipelines<H: Enrol>(self, hall: &mut H) {
        Ours.pipelines(hall);
        #[cfg(feature = "peers")]
        published_pipelines(hall);
    }

    fn executors<H: Enrol>(self, hall: &mut H) {
        Ours.executors(hall);
        #[cfg(feature = "peers")]
        published_executors(hall);
    }

    fn combinators<H: Enrol>(self, hall: &mut H) {
        Ours.combinators(hall);
    }
}

/// Async rows are driven by what most of their users run them on.
#[cfg(feature = "peers")]
impl flowmeter_harness::registry::AsyncRegistry for Everybody {
    type Executor = OfPipelines;
    type Sleep = Heap;
}

/// Adapters of published crates. What each claims, and where its crate documents it, is at the top of
/// its file.
#[cfg(feature = "peers")]
fn published<H: Enrol>(hall: &mut H) {
    use flowmeter_harness::registry::peer;

    use crate::peers::{
        async_channel, crossbeam, flume, kanal, loole, std, thingbuf, tokio, version,
    };

    peer::<crossbeam::Crossbeam, _>(hall, "crossbeam-channel", version("crossbeam-channel"))
        .channel()
        .blocking()
        .put_deadline()
        .take_deadline()
        .alts()
        .claims(&[KeepsBuffered, Disconnect])
        .enter();
    peer::<kanal::Kanal, _>(hall, "kanal", version("kanal"))
        .channel()
        .blocking()
        .asynchronous()
        .mixed()
        .take_deadline()
        .claims(&[Disconnect])
        .enter();
    peer::<flume::Flume, _>(hall, "flume", version("flume"))
        .channel()
        .blocking()
        .asynchronous()
        .mixed()
        .put_deadline()
        .take_deadline()
        .weak_producers()
        .claims(&[KeepsBuffered, Disconnect])
        .enter();
    peer::<tokio::Bounded, _>(hall, "tokio-mpsc", version("tokio"))
        .channel()
        .asynchronous()
        .weak_producers()
        .async_batch()
        .async_reserve()
        .claims(&[WaiterFifo, CancelSafe, KeepsBuffered, Disconnect])
        .family::<tokio::Unbounded>()
        .asynchronous()
        .weak_producers()
        .async_batch()
        .enter();
    peer::<std::Sync, _>(hall, "std-mpsc", std::VERSION)
        .channel()
        .blocking()
        .take_deadline()
        .claims(&[KeepsBuffered, Disconnect])
        .family::<std::Unbounded>()
        .blocking()
        .take_deadline()
        .enter();
    peer::<async_channel::AsyncChannel, _>(hall, "async-channel", version("async-channel"))
        .channel()
        .blocking()
        .asynchronous()
        .mixed()
        .weak_producers()
        .claims(&[KeepsBuffered, Disconnect])
        .enter();
    peer::<loole::Loole, _>(hall, "loole", version("loole"))
        .channel()
        .blocking()
        .asynchronous()
        .mixed()
        .put_deadline()
        .take_deadline()
        .claims(&[KeepsBuffered, Disconnect])
        .enter();
    peer::<thingbuf::Threads, _>(hall, "thingbuf", version("thingbuf"))
        .channel()
        .blocking()
        .take_deadline()
        .claims(&[KeepsBuffered, Disconnect])
        .family::<thingbuf::Tasks>()
        .asynchronous()
        .enter();
    published_crossfire(hall);
}

/// crossfire once for each of its modules, so that one of a single producer or consumer shows what it gains.
#[cfg(feature = "peers")]
fn published_crossfire<H: Enrol>(hall: &mut H) {
    use flowmeter_harness::registry::peer;

    use crate::peers::crossfire::{
        MpmcArray, MpmcList, MpscArray, MpscList, SpscArray, SpscList, Tasks, Threads,
    };
    use crate::peers::version;

    let crossfire = version("crossfire");
    peer::<Threads<MpmcArray>, _>(hall, "crossfire", crossfire)
        .channel()
        .blocking()
        .put_deadline()
        .take_deadline()
        .weak_producers()
        .claims(&[CancelSafe, KeepsBuffered, Disconnect])
        .family::<Threads<MpmcList>>()
        .blocking()
        .put_deadline()
        .take_deadline()
        .weak_producers()
        .family::<Tasks<MpmcArray>>()
        .asynchronous()
        .weak_producers()
        .family::<Tasks<MpmcList>>()
        .asynchronous()
        .weak_producers()
        .enter();
    peer::<Threads<MpscArray>, _>(hall, "crossfire-mpsc", crossfire)
        .channel()
        .blocking()
        .put_deadline()
        .take_deadline()
        .weak_producers()
        .claims(&[CancelSafe, KeepsBuffered, Disconnect])
        .family::<Threads<MpscList>>()
        .blocking()
        .put_deadline()
        .take_deadline()
        .weak_producers()
        .family::<Tasks<MpscArray>>()
        .asynchronous()
        .weak_producers()
        .family::<Tasks<MpscList>>()
        .asynchronous()
        .weak_producers()
        .enter();
    peer::<Threads<SpscArray>, _>(hall, "crossfire-spsc", crossfire)
        .channel()
        .blocking()
        .put_deadline()
        .take_deadline()
        .claims(&[CancelSafe, KeepsBuffered, Disconnect])
        .family::<Threads<SpscList>>()
        .blocking()
        .put_deadline()
        .take_deadline()
        .family::<Tasks<SpscArray>>()
        .asynchronous()
        .family::<Tasks<SpscList>>()
        .asynchronous()
        .enter();
}

/// The timers among them, and the system's own sleep as reference rows.
#[cfg(feature = "peers")]
fn published_timers<H: Enrol>(hall: &mut H) {
    use flowmeter_harness::registry::peer;

    use crate::peers::{
        async_io, hash_wheel_timer, os_sleep, spin_sleep, tokio_delay_queue, tokio_sleep, version,
    };

    peer::<tokio_sleep::TokioSleep, _>(hall, "tokio-sleep", version("tokio"))
        .sleep()
        .enter();
    peer::<tokio_delay_queue::TokioDelayQueue, _>(hall, "tokio-delay-queue", version("tokio-util"))
        .timer()
        .cancel()
        .reset()
        .enter();
    peer::<async_io::AsyncIo, _>(hall, "async-io", version("async-io"))
        .sleep()
        .enter();
    let hash_wheel_timer = version("hierarchical_hash_wheel_timer");
    // What is timed of arming and calling off is the sending of a message, which is no rank among those who do the work.
    peer::<hash_wheel_timer::HashWheelTimer, _>(hall, "hash-wheel-timer", hash_wheel_timer)
        .timer()
        .cancel()
        .reference()
        .enter();
    peer::<os_sleep::OsSleep, _>(hall, "os-sleep", os_sleep::version())
        .blocking_sleep()
        .reference()
        .enter();
    #[cfg(target_os = "linux")]
    peer::<os_sleep::OsSleepSharp, _>(hall, "os-sleep-1ns", os_sleep::version())
        .blocking_sleep()
        .reference()
        .enter();
    peer::<spin_sleep::SpinSleep, _>(hall, "spin-sleep", version("spin_sleep"))
        .blocking_sleep()
        .reference()
        .enter();
}

/// The limiters among them.
#[cfg(feature = "peers")]
fn published_limiters<H: Enrol>(hall: &mut H) {
    use flowmeter_harness::registry::peer;

    use crate::peers::{
        governor::Governor, leaky_bucket::LeakyBucket, tokio_semaphore::TokioSemaphore, version,
    };

    peer::<Governor, _>(hall, "governor", version("governor"))
        .limiter()
        .async_limit()
        .async_weighted_limit()
        .claims(&[RateBound])
        .enter();
    peer::<LeakyBucket, _>(hall, "leaky-bucket", version("leaky-bucket"))
        .limiter()
        .async_limit()
        .async_weighted_limit()
        .claims(&[PassesOn])
        .enter();
    peer::<TokioSemaphore, _>(hall, "tokio-semaphore", version("tokio"))
        .limiter()
        .async_limit()
        .async_weighted_limit()
        .claims(&[WindowBound, WaiterFifo])
        .enter();
}

/// Pipelines of published crates.
#[cfg(feature = "peers")]
fn published_pipelines<H: Enrol>(hall: &mut H) {
    use flowmeter_harness::registry::peer;

    use crate::peers::futures_buffered::{BufferUnordered, Buffered};
    use crate::peers::version;

    let futures = version("futures-util");
    peer::<Buffered, _>(hall, "futures-buffered", futures)
        .pipeline::<MutexChannels, OfPipelines>(0)
        .enter();
    peer::<BufferUnordered, _>(hall, "futures-buffer-unordered", futures)
        .pipeline::<MutexChannels, OfPipelines>(0)
        .enter();
}

/// Executors of published crates.
#[cfg(feature = "peers")]
fn published_executors<H: Enrol>(hall: &mut H) {
    use flowmeter_harness::registry::peer;

    use crate::peers::{smol::Smol, tokio_executor::Tokio, version};

    peer::<Tokio, _>(hall, "tokio", version("tokio"))
        .executor::<MutexChannels>()
        .enter();
    peer::<Smol, _>(hall, "smol", version("async-executor"))
        .executor::<MutexChannels>()
        .enter();
}
