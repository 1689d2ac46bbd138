//! Adapters of published crates. The head of each file says what the adapter claims, and where its crate documents
//! that.

use flowmeter_harness::caps::Claim::{
    CancelSafe, Disconnect, KeepsBuffered, PassesOn, RateBound, WaiterFifo, WindowBound,
};
use flowmeter_harness::registry::{Visitor, peer};

use super::OfPipelines;
use crate::channel::mutex::MutexChannels;

/// Their channels.
pub(super) fn channels<V: Visitor>(visitor: &mut V) {
    #[cfg(not(feature = "shuttle"))]
    use crate::peers::std;
    use crate::peers::{
        async_channel, crossbeam, flume, futures_channel, kanal, loole, rtrb, tachyonix, thingbuf,
        tokio, version,
    };

    peer::<crossbeam::Crossbeam, _>(visitor, "crossbeam-channel", version("crossbeam-channel"))
        .channel()
        .blocking()
        .put_deadline()
        .take_deadline()
        .alts()
        .claims(&[KeepsBuffered, Disconnect])
        .enter();
    peer::<kanal::Kanal, _>(visitor, "kanal", version("kanal"))
        .channel()
        .blocking()
        .asynchronous()
        .mixed()
        .take_deadline()
        .claims(&[Disconnect])
        .enter();
    peer::<flume::Flume, _>(visitor, "flume", version("flume"))
        .channel()
        .blocking()
        .asynchronous()
        .mixed()
        .put_deadline()
        .take_deadline()
        .weak_producers()
        .claims(&[KeepsBuffered, Disconnect])
        .enter();
    peer::<tokio::Bounded, _>(visitor, "tokio-mpsc", version("tokio"))
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
    peer::<std::Sync, _>(visitor, "std-mpsc", std::VERSION)
        .channel()
        .blocking()
        .take_deadline()
        .claims(&[KeepsBuffered, Disconnect])
        .family::<std::Unbounded>()
        .blocking()
        .take_deadline()
        .enter();
    peer::<async_channel::AsyncChannel, _>(visitor, "async-channel", version("async-channel"))
        .channel()
        .blocking()
        .asynchronous()
        .mixed()
        .weak_producers()
        .claims(&[KeepsBuffered, Disconnect])
        .enter();
    peer::<futures_channel::FuturesChannel, _>(
        visitor,
        "futures-channel",
        version("futures-channel"),
    )
    .channel()
    .asynchronous()
    .claims(&[KeepsBuffered, Disconnect])
    .enter();
    peer::<tachyonix::Tachyonix, _>(visitor, "tachyonix", version("tachyonix"))
        .channel()
        .asynchronous()
        .claims(&[KeepsBuffered, Disconnect])
        .enter();
    peer::<rtrb::Rtrb, _>(visitor, "rtrb", version("rtrb"))
        .channel()
        .blocking()
        .claims(&[KeepsBuffered])
        .enter();
    peer::<loole::Loole, _>(visitor, "loole", version("loole"))
        .channel()
        .blocking()
        .asynchronous()
        .mixed()
        .put_deadline()
        .take_deadline()
        .claims(&[KeepsBuffered, Disconnect])
        .enter();
    peer::<thingbuf::Threads, _>(visitor, "thingbuf", version("thingbuf"))
        .channel()
        .blocking()
        .take_deadline()
        .claims(&[KeepsBuffered, Disconnect])
        .family::<thingbuf::Tasks>()
        .asynchronous()
        .enter();
    crossfire(visitor);
}

/// crossfire once for each of its modules, to show what a single producer or consumer gains.
fn crossfire<V: Visitor>(visitor: &mut V) {
    use crate::peers::crossfire::{
        MpmcArray, MpmcList, MpscArray, MpscList, SpscArray, SpscList, Tasks, Threads,
    };
    use crate::peers::version;

    let crossfire = version("crossfire");
    peer::<Threads<MpmcArray>, _>(visitor, "crossfire", crossfire)
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
    peer::<Threads<MpscArray>, _>(visitor, "crossfire-mpsc", crossfire)
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
    peer::<Threads<SpscArray>, _>(visitor, "crossfire-spsc", crossfire)
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
pub(super) fn timers<V: Visitor>(visitor: &mut V) {
    #[cfg(not(feature = "shuttle"))]
    use crate::peers::{async_io, hash_wheel_timer, os_sleep, spin_sleep};
    use crate::peers::{tokio_delay_queue, tokio_sleep, version};

    peer::<tokio_sleep::TokioSleep, _>(visitor, "tokio-sleep", version("tokio"))
        .sleep()
        .enter();
    peer::<tokio_delay_queue::TokioDelayQueue, _>(
        visitor,
        "tokio-delay-queue",
        version("tokio-util"),
    )
    .timer()
    .cancel()
    .reset()
    .enter();
    #[cfg(not(feature = "shuttle"))]
    peer::<async_io::AsyncIo, _>(visitor, "async-io", version("async-io"))
        .sleep()
        .enter();
    #[cfg(not(feature = "shuttle"))]
    let hash_wheel_timer = version("hierarchical_hash_wheel_timer");
    // A reference row: arming and cancelling only send a message, which cannot be ranked against timers that do the
    // work.
    #[cfg(not(feature = "shuttle"))]
    peer::<hash_wheel_timer::HashWheelTimer, _>(visitor, "hash-wheel-timer", hash_wheel_timer)
        .timer()
        .cancel()
        .reference()
        .enter();
    #[cfg(not(feature = "shuttle"))]
    peer::<os_sleep::OsSleep, _>(visitor, "os-sleep", os_sleep::version())
        .blocking_sleep()
        .reference()
        .enter();
    #[cfg(all(target_os = "linux", not(feature = "shuttle")))]
    peer::<os_sleep::OsSleepSharp, _>(visitor, "os-sleep-1ns", os_sleep::version())
        .blocking_sleep()
        .reference()
        .enter();
    #[cfg(not(feature = "shuttle"))]
    peer::<spin_sleep::SpinSleep, _>(visitor, "spin-sleep", version("spin_sleep"))
        .blocking_sleep()
        .reference()
        .enter();
}

/// Their limiters.
pub(super) fn limiters<V: Visitor>(visitor: &mut V) {
    use crate::peers::{
        governor::Governor, leaky_bucket::LeakyBucket, tokio_semaphore::TokioSemaphore, version,
    };

    peer::<Governor, _>(visitor, "governor", version("governor"))
        .limiter()
        .async_limit()
        .async_weighted_limit()
        .claims(&[RateBound])
        .enter();
    peer::<LeakyBucket, _>(visitor, "leaky-bucket", version("leaky-bucket"))
        .limiter()
        .async_limit()
        .async_weighted_limit()
        .claims(&[PassesOn])
        .enter();
    peer::<TokioSemaphore, _>(visitor, "tokio-semaphore", version("tokio"))
        .limiter()
        .async_limit()
        .async_weighted_limit()
        .claims(&[WindowBound, WaiterFifo])
        .enter();
}

/// Their pipelines.
pub(super) fn pipelines<V: Visitor>(visitor: &mut V) {
    use crate::peers::futures_buffered::{BufferUnordered, Buffered};
    use crate::peers::version;
    #[cfg(not(feature = "shuttle"))]
    use crate::peers::{par_stream::ParStream, rayon::Rayon};

    let futures = version("futures-util");
    peer::<Buffered, _>(visitor, "futures-buffered", futures)
        .pipeline::<MutexChannels, OfPipelines>(0)
        .enter();
    peer::<BufferUnordered, _>(visitor, "futures-buffer-unordered", futures)
        .pipeline::<MutexChannels, OfPipelines>(0)
        .enter();
    #[cfg(not(feature = "shuttle"))]
    peer::<ParStream, _>(visitor, "par-stream", version("par-stream"))
        .pipeline::<MutexChannels, OfPipelines>(0)
        .enter();
    #[cfg(not(feature = "shuttle"))]
    peer::<Rayon, _>(visitor, "rayon", version("rayon"))
        .workers::<MutexChannels, OfPipelines>()
        .enter();
}

/// Their executors.
pub(super) fn executors<V: Visitor>(visitor: &mut V) {
    use crate::peers::{smol::Smol, tokio_executor::Tokio, version};

    peer::<Tokio, _>(visitor, "tokio", version("tokio"))
        .executor::<MutexChannels>()
        .enter();
    peer::<Smol, _>(visitor, "smol", version("async-executor"))
        .executor::<MutexChannels>()
        .enter();
}
