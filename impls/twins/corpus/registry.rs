//! The implementations of the corpus: those that a row's features name, with the claims that
//! `impls/src/registry/published.rs` makes for them. A feature `expects-…` adds what the thread of a row takes for granted,
//! though the crate's documentation does not promise it.

use flowmeter_harness::caps::Claim;
#[allow(unused_imports)]
use flowmeter_harness::registry::peer;
use flowmeter_harness::registry::{AsyncRegistry, Registry, Visitor};
use flowmeter_impls_shuttle::executor::fixed_pool::FixedPool;
use flowmeter_impls_shuttle::timer::heap::Heap;

#[allow(unused_imports)]
use crate::peers;

/// The implementations of the row.
#[derive(Clone, Copy, Debug)]
pub struct Corpus;

impl AsyncRegistry for Corpus {
    type Executor = FixedPool;
    type Sleep = Heap;
}

/// What is documented.
const KEPT: &[Claim] = &[Claim::KeepsBuffered, Claim::Disconnect];
const KEPT_AND_SAFE: &[Claim] = &[Claim::CancelSafe, Claim::KeepsBuffered, Claim::Disconnect];

fn kept(expects_safety: bool) -> &'static [Claim] {
    if expects_safety { KEPT_AND_SAFE } else { KEPT }
}

#[allow(unused_variables)]
impl Registry for Corpus {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        let safe = cfg!(feature = "expects-cancel-safe");
        #[cfg(feature = "crossbeam")]
        {
            let entry = peer::<peers::crossbeam::Crossbeam, _>(visitor, "crossbeam-channel", "")
                .channel()
                .blocking();
            #[cfg(not(feature = "older-crossbeam-deadlines"))]
            let entry = entry.put_deadline().take_deadline();
            #[cfg(not(feature = "older-crossbeam-alts"))]
            let entry = entry.alts();
            entry.claims(KEPT).enter();
        }
        #[cfg(all(feature = "flume", not(feature = "flume-timeout")))]
        {
            let entry = peer::<peers::flume::Flume, _>(visitor, "flume", "")
                .channel()
                .blocking()
                .asynchronous()
                .mixed()
                .put_deadline()
                .take_deadline();
            #[cfg(not(feature = "older-flume"))]
            let entry = entry.weak_producers();
            entry.claims(kept(safe)).enter();
        }
        #[cfg(feature = "flume-selector")]
        peer::<peers::flume_selector::Selected, _>(visitor, "flume-selector", "")
            .channel()
            .blocking()
            .claims(KEPT)
            .enter();
        #[cfg(feature = "flume-timeout")]
        peer::<peers::flume_timeout::ByTimeout, _>(visitor, "flume-timeout", "")
            .channel()
            .blocking()
            .put_deadline()
            .take_deadline()
            .claims(KEPT)
            .enter();
        #[cfg(all(feature = "kanal", not(feature = "kanal-option")))]
        {
            let entry = peer::<peers::kanal::Kanal, _>(visitor, "kanal", "")
                .channel()
                .blocking()
                .asynchronous()
                .mixed()
                .take_deadline();
            let safe: &'static [Claim] = &[Claim::CancelSafe, Claim::Disconnect];
            let claims = if cfg!(feature = "expects-cancel-safe") {
                safe
            } else {
                &[Claim::Disconnect]
            };
            entry.claims(claims).enter();
        }
        #[cfg(feature = "kanal-option")]
        peer::<peers::kanal_option::KanalOption, _>(visitor, "kanal-option", "")
            .channel()
            .blocking()
            .put_deadline()
            .claims(&[Claim::Disconnect])
            .enter();
        #[cfg(feature = "kanal-older")]
        {
            let entry = peer::<peers::kanal_older::Kanal, _>(visitor, "kanal", "")
                .channel()
                .blocking();
            #[cfg(not(feature = "older-kanal-async"))]
            let entry = entry.asynchronous().mixed();
            entry.claims(&[Claim::Disconnect]).enter();
        }
        #[cfg(feature = "tokio")]
        peer::<peers::tokio::Bounded, _>(visitor, "tokio-mpsc", "")
            .channel()
            .asynchronous()
            .weak_producers()
            .async_batch()
            .async_reserve()
            .claims(&[
                Claim::WaiterFifo,
                Claim::CancelSafe,
                Claim::KeepsBuffered,
                Claim::Disconnect,
            ])
            .family::<peers::tokio::Unbounded>()
            .asynchronous()
            .weak_producers()
            .async_batch()
            .enter();
        #[cfg(feature = "tokio-owned")]
        peer::<peers::tokio_owned::Owned, _>(visitor, "tokio-owned", "")
            .channel()
            .asynchronous()
            .async_reserve()
            .claims(KEPT)
            .enter();
        #[cfg(feature = "tokio-asked")]
        peer::<peers::tokio_asked::Bounded, _>(visitor, "tokio-asked", "")
            .channel()
            .asynchronous()
            .claims(KEPT)
            .family::<peers::tokio_asked::Unbounded>()
            .asynchronous()
            .enter();
        #[cfg(feature = "tokio-semaphore-queue")]
        peer::<peers::tokio_semaphore_queue::Counted, _>(visitor, "tokio-semaphore-queue", "")
            .channel()
            .asynchronous()
            .claims(KEPT)
            .enter();
        #[cfg(feature = "broadcast-reentrant")]
        peer::<peers::broadcast_reentrant::Reentrant, _>(visitor, "broadcast-reentrant", "")
            .channel()
            .asynchronous()
            .claims(KEPT)
            .enter();
        #[cfg(feature = "deque")]
        peer::<peers::deque::Deque, _>(visitor, "crossbeam-deque", "")
            .channel()
            .blocking()
            .claims(&[Claim::KeepsBuffered])
            .enter();
        #[cfg(all(feature = "tokio-broadcast", not(feature = "broadcast-reentrant")))]
        peer::<peers::tokio_broadcast::Broadcast, _>(visitor, "tokio-broadcast", "")
            .channel()
            .asynchronous()
            .claims(KEPT)
            .enter();
        #[cfg(feature = "async-channel")]
        {
            let entry = peer::<peers::async_channel::AsyncChannel, _>(visitor, "async-channel", "")
                .channel();
            #[cfg(not(feature = "older-async-channel-blocking"))]
            let entry = entry.blocking();
            let entry = entry.asynchronous();
            #[cfg(not(feature = "older-async-channel-blocking"))]
            let entry = entry.mixed();
            #[cfg(not(feature = "older-async-channel-weak"))]
            let entry = entry.weak_producers();
            entry.claims(kept(safe)).enter();
        }
        #[cfg(feature = "futures-channel")]
        peer::<peers::futures_channel::FuturesChannel, _>(visitor, "futures-channel", "")
            .channel()
            .asynchronous()
            .claims(KEPT)
            .enter();
        #[cfg(feature = "futures-acked")]
        peer::<peers::futures_acked::Acked, _>(visitor, "futures-acked", "")
            .channel()
            .asynchronous()
            .claims(&[Claim::Disconnect])
            .enter();
        #[cfg(feature = "loole")]
        peer::<peers::loole::Loole, _>(visitor, "loole", "")
            .channel()
            .blocking()
            .asynchronous()
            .mixed()
            .put_deadline()
            .take_deadline()
            .claims(kept(safe))
            .enter();
        #[cfg(all(feature = "thingbuf", not(feature = "thingbuf-timeout")))]
        {
            let entry = peer::<peers::thingbuf::Threads, _>(visitor, "thingbuf", "")
                .channel()
                .blocking()
                .take_deadline();
            entry
                .claims(kept(safe))
                .family::<peers::thingbuf::Tasks>()
                .asynchronous()
                .enter();
        }
        #[cfg(feature = "thingbuf-timeout")]
        peer::<peers::thingbuf_timeout::Threads, _>(visitor, "thingbuf-timeout", "")
            .channel()
            .blocking()
            .put_deadline()
            .take_deadline()
            .claims(KEPT)
            .enter();
        #[cfg(feature = "crossfire")]
        crossfire(visitor);
        #[cfg(feature = "crossfire-multiplex")]
        peer::<peers::crossfire_multiplex::Lists, _>(visitor, "crossfire-multiplex", "")
            .channel()
            .blocking()
            .claims(KEPT)
            .family::<peers::crossfire_multiplex::Arrays>()
            .blocking()
            .enter();
    }

    fn timers<V: Visitor>(self, visitor: &mut V) {
        #[cfg(feature = "tokio-sleep")]
        peer::<peers::tokio_sleep::TokioSleep, _>(visitor, "tokio-sleep", "")
            .sleep()
            .enter();
        #[cfg(feature = "tokio-sleep-aged")]
        peer::<peers::tokio_sleep_aged::Aged, _>(visitor, "tokio-sleep-aged", "")
            .sleep()
            .enter();
        #[cfg(feature = "tokio-delay-queue")]
        peer::<peers::tokio_delay_queue::TokioDelayQueue, _>(visitor, "tokio-delay-queue", "")
            .timer()
            .cancel()
            .reset()
            .enter();
        #[cfg(all(feature = "delay-queue-bare", not(feature = "delay-queue-peek")))]
        peer::<peers::delay_queue_bare::Bare, _>(visitor, "delay-queue-bare", "")
            .timer()
            .cancel()
            .reset()
            .enter();
        #[cfg(feature = "delay-queue-peek")]
        peer::<peers::delay_queue_bare::Peeking, _>(visitor, "delay-queue-peek", "")
            .timer()
            .cancel()
            .reset()
            .enter();
        #[cfg(feature = "hash-wheel-timer")]
        peer::<peers::hash_wheel_timer::HashWheelTimer, _>(visitor, "hash-wheel-timer", "")
            .timer()
            .cancel()
            .enter();
    }

    fn limiters<V: Visitor>(self, visitor: &mut V) {
        #[cfg(feature = "leaky-bucket")]
        peer::<peers::leaky_bucket::LeakyBucket, _>(visitor, "leaky-bucket", "")
            .limiter()
            .async_limit()
            .async_weighted_limit()
            .claims(&[Claim::PassesOn])
            .enter();
        #[cfg(feature = "leaky-bucket-variant")]
        peer::<peers::leaky_bucket_variant::Variant, _>(visitor, "leaky-bucket", "")
            .limiter()
            .async_limit()
            .async_weighted_limit()
            .claims(if cfg!(feature = "expects-rate-bound") {
                &[Claim::PassesOn, Claim::RateBound]
            } else {
                &[Claim::PassesOn]
            })
            .enter();
        #[cfg(feature = "tokio-semaphore")]
        peer::<peers::tokio_semaphore::TokioSemaphore, _>(visitor, "tokio-semaphore", "")
            .limiter()
            .async_limit()
            .async_weighted_limit()
            .claims(&[Claim::WindowBound, Claim::WaiterFifo])
            .enter();
    }

    fn pipelines<V: Visitor>(self, visitor: &mut V) {
        #[cfg(feature = "futures-buffered")]
        {
            use flowmeter_impls_shuttle::channel::mutex::MutexChannels;
            use peers::futures_buffered::{BufferUnordered, Buffered};

            peer::<Buffered, _>(visitor, "futures-buffered", "")
                .pipeline::<MutexChannels, FixedPool>(0)
                .enter();
            peer::<BufferUnordered, _>(visitor, "futures-buffer-unordered", "")
                .pipeline::<MutexChannels, FixedPool>(0)
                .enter();
        }
    }

    fn executors<V: Visitor>(self, visitor: &mut V) {
        #[cfg(feature = "tokio-executor")]
        peer::<peers::tokio_executor::Tokio, _>(visitor, "tokio", "")
            .executor::<flowmeter_impls_shuttle::channel::mutex::MutexChannels>()
            .enter();
    }
}

#[cfg(feature = "crossfire")]
fn crossfire<V: Visitor>(visitor: &mut V) {
    use peers::crossfire::{MpmcArray, MpmcList, MpscArray, MpscList, Tasks, Threads};

    peer::<Threads<MpmcArray>, _>(visitor, "crossfire", "")
        .channel()
        .blocking()
        .put_deadline()
        .take_deadline()
        .weak_producers()
        .claims(KEPT_AND_SAFE)
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
    peer::<Threads<MpscArray>, _>(visitor, "crossfire-mpsc", "")
        .channel()
        .blocking()
        .put_deadline()
        .take_deadline()
        .weak_producers()
        .claims(KEPT_AND_SAFE)
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
}
