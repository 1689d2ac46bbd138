//! Adapters of published crates. The head of each file says what the adapter claims, and where its crate documents
//! that.

use flowmeter_harness::caps::Claim::{
    CancelSafe, Disconnect, KeepsBuffered, PassesOn, RateBound, WaiterFifo, WindowBound,
};
use flowmeter_harness::registry::{Enrol, peer};

#[cfg(not(feature = "shuttle"))]
use super::OfPipelines;
use crate::channel::mutex::MutexChannels;

/// Their channels.
pub(super) fn channels<H: Enrol>(hall: &mut H) {
    #[cfg(not(feature = "shuttle"))]
    use crate::peers::std;
    use crate::peers::{
        async_channel, crossbeam, flume, futures_channel, kanal, loole, thingbuf, tokio, version,
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
    let flume = peer::<flume::Flume, _>(hall, "flume", version("flume"))
        .channel()
        .blocking()
        .asynchronous()
        .mixed()
        .put_deadline()
        .take_deadline();
    #[cfg(not(feature = "older-flume"))]
    let flume = flume.weak_producers();
    flume.claims(&[KeepsBuffered, Disconnect]).enter();
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
    #[cfg(not(feature = "shuttle"))]
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
    peer::<futures_channel::FuturesChannel, _>(hall, "futures-channel", version("futures-channel"))
        .channel()
        .asynchronous()
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
    crossfire(hall);
}

/// crossfire once for each of its modules, to show what a single producer or consumer gains.
fn crossfire<H: Enrol>(hall: &mut H) {
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

/// Their timers, and the system's own sleep as reference rows.
pub(super) fn timers<H: Enrol>(hall: &mut H) {
    #[cfg(not(feature = "shuttle"))]
    use crate::peers::{async_io, hash_wheel_timer, os_sleep, spin_sleep};
    use crate::peers::{tokio_delay_queue, tokio_sleep, version};

    peer::<tokio_sleep::TokioSleep, _>(hall, "tokio-sleep", version("tokio"))
        .sleep()
        .enter();
    peer::<tokio_delay_queue::TokioDelayQueue, _>(hall, "tokio-delay-queue", version("tokio-util"))
        .timer()
        .cancel()
        .reset()
        .enter();
    #[cfg(not(feature = "shuttle"))]
    peer::<async_io::AsyncIo, _>(hall, "async-io", version("async-io"))
        .sleep()
        .enter();
    #[cfg(not(feature = "shuttle"))]
    let hash_wheel_timer = version("hierarchical_hash_wheel_timer");
    // A reference row: arming and cancelling only send a message, which cannot be ranked against timers that do the
    // work.
    #[cfg(not(feature = "shuttle"))]
    peer::<hash_wheel_timer::HashWheelTimer, _>(hall, "hash-wheel-timer", hash_wheel_timer)
        .timer()
        .cancel()
        .reference()
        .enter();
    #[cfg(not(feature = "shuttle"))]
    peer::<os_sleep::OsSleep, _>(hall, "os-sleep", os_sleep::version())
        .blocking_sleep()
        .reference()
        .enter();
    #[cfg(all(target_os = "linux", not(feature = "shuttle")))]
    peer::<os_sleep::OsSleepSharp, _>(hall, "os-sleep-1ns", os_sleep::version())
        .blocking_sleep()
        .reference()
        .enter();
    #[cfg(not(feature = "shuttle"))]
    peer::<spin_sleep::SpinSleep, _>(hall, "spin-sleep", version("spin_sleep"))
        .blocking_sleep()
        .reference()
        .enter();
}

/// Their limiters.
pub(super) fn limiters<H: Enrol>(hall: &mut H) {
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

/// Their pipelines.
#[cfg(not(feature = "shuttle"))]
pub(super) fn pipelines<H: Enrol>(hall: &mut H) {
    use crate::peers::futures_buffered::{BufferUnordered, Buffered};
    use crate::peers::par_stream::ParStream;
    use crate::peers::rayon::Rayon;
    use crate::peers::version;

    let futures = version("futures-util");
    peer::<Buffered, _>(hall, "futures-buffered", futures)
        .pipeline::<MutexChannels, OfPipelines>(0)
        .enter();
    peer::<BufferUnordered, _>(hall, "futures-buffer-unordered", futures)
        .pipeline::<MutexChannels, OfPipelines>(0)
        .enter();
    peer::<ParStream, _>(hall, "par-stream", version("par-stream"))
        .pipeline::<MutexChannels, OfPipelines>(0)
        .enter();
    peer::<Rayon, _>(hall, "rayon", version("rayon"))
        .workers::<MutexChannels, OfPipelines>()
        .enter();
}

/// Their executors.
pub(super) fn executors<H: Enrol>(hall: &mut H) {
    use crate::peers::{smol::Smol, tokio_executor::Tokio, version};

    peer::<Tokio, _>(hall, "tokio", version("tokio"))
        .executor::<MutexChannels>()
        .enter();
    peer::<Smol, _>(hall, "smol", version("async-executor"))
        .executor::<MutexChannels>()
        .enter();
}
