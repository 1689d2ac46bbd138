//! Timers: the adapters against bare loops.
//!
//! The bare `DelayQueue` is in the form in which threads can share it: behind a lock, with a task that polls
//! it, and never empty, as in the adapter. The last row is the queue with a single owner, which no `Timers` can
//! be. It shows what sharing and calling back cost, and is not judged. The bare `hierarchical_hash_wheel_timer`
//! can be shared, too: a handle that is cloned, and a flag that says whether the cancel came before the call,
//! which the crate does not tell. A plain thread enters tokio's runtime for each sleep, in the adapter
//! (`outside`) and in the bare loop.

use std::future::poll_fn;
use std::hint::black_box;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use flowmeter_harness::sync::std::clock;
use flowmeter_harness::timer::{Cancel, Fired, Sleep};
use flowmeter_impls::peers::async_io::AsyncIo;
use flowmeter_impls::peers::hash_wheel_timer::HashWheelTimer;
use flowmeter_impls::peers::tokio_delay_queue::TokioDelayQueue;
use flowmeter_impls::peers::tokio_sleep::TokioSleep;
use hierarchical_hash_wheel_timer::thread_timer::TimerWithThread;
use hierarchical_hash_wheel_timer::{
    ClosureTimer, OneShotClosureState, PeriodicClosureState, Timer,
};
use tokio::runtime::{Builder, Runtime};
use tokio_util::time::DelayQueue;

use super::Pair;

const HOUR: Duration = Duration::from_secs(3_600);

type Callback = Box<dyn FnOnce(Fired) + Send>;

fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(1).enable_time();
    builder.build().expect("room for a thread")
}

fn repeated(times: u64, mut operation: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        operation();
    }
    start.elapsed()
}

fn poll_once(future: impl Future) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(future).poll(&mut context).is_pending());
}

fn cancel_adapter<T: Cancel>(times: u64) -> Duration {
    let timers = T::start();
    timers.schedule(clock::after(HOUR), |_| ());
    let due = clock::after(HOUR * 2);
    repeated(times, || {
        let handle = timers.schedule(black_box(due), |fired| {
            black_box(fired);
        });
        assert!(timers.cancel(&handle));
    })
}

fn cancel_shared(times: u64) -> Duration {
    let runtime = runtime();
    let _context = runtime.enter();
    let mut queue = DelayQueue::<Callback>::new();
    queue.insert(Box::new(|_| ()), HOUR);
    let queue = Arc::new(Mutex::new(queue));
    let polled = Arc::clone(&queue);
    runtime.spawn(async move {
        poll_fn(|context| {
            let due = polled.lock().expect("no panic").poll_expired(context);
            assert!(due.is_pending(), "nothing is due");
            Poll::<()>::Pending
        })
        .await;
    });
    let due = tokio::time::Instant::now() + HOUR * 2;
    repeated(times, || {
        let then: Callback = Box::new(|fired| {
            black_box(fired);
        });
        let key = queue
            .lock()
            .expect("no panic")
            .insert_at(then, black_box(due));
        drop(queue.lock().expect("no panic").remove(&key));
    })
}

fn cancel_one_owner(times: u64) -> Duration {
    let runtime = runtime();
    let _context = runtime.enter();
    let mut queue = DelayQueue::new();
    queue.insert((), HOUR);
    let due = tokio::time::Instant::now() + HOUR * 2;
    repeated(times, || {
        let key = queue.insert_at((), black_box(due));
        black_box(queue.remove(&key));
    })
}

fn cancel_hash_wheel(times: u64) -> Duration {
    type Core = TimerWithThread<u64, OneShotClosureState<u64>, PeriodicClosureState<u64>>;

    let core = Core::new().expect("room for a thread");
    let shared = core.timer_ref();
    shared.clone().schedule_action_once(0, HOUR, |_| ());
    let mut id = 0;
    let took = repeated(times, || {
        id += 1;
        let gone = Arc::new(AtomicBool::new(false));
        let fired = Arc::clone(&gone);
        shared
            .clone()
            .schedule_action_once(id, black_box(HOUR * 2), move |id| {
                if !fired.swap(true, Ordering::AcqRel) {
                    black_box(id);
                }
            });
        assert!(!gone.swap(true, Ordering::AcqRel));
        shared.clone().cancel(&id);
    });
    core.shutdown().expect("its thread ends");
    took
}

fn sleep_adapter<S: Sleep>(times: u64) -> Duration {
    let timer = S::start();
    let due = clock::after(HOUR);
    repeated(times, || poll_once(timer.sleep_until(black_box(due))))
}

fn sleep_tokio_adapter(times: u64) -> Duration {
    let runtime = runtime();
    let _context = runtime.enter();
    sleep_adapter::<TokioSleep>(times)
}

fn sleep_tokio(times: u64) -> Duration {
    let runtime = runtime();
    let _context = runtime.enter();
    let due = tokio::time::Instant::now() + HOUR;
    repeated(times, || {
        poll_once(tokio::time::sleep_until(black_box(due)))
    })
}

fn sleep_tokio_outside(times: u64) -> Duration {
    let runtime = runtime();
    let due = tokio::time::Instant::now() + HOUR;
    repeated(times, || {
        let context = runtime.enter();
        let sleep = tokio::time::sleep_until(black_box(due));
        drop(context);
        poll_once(sleep);
    })
}

fn sleep_async_io(times: u64) -> Duration {
    let due = Instant::now() + HOUR;
    repeated(times, || poll_once(async_io::Timer::at(black_box(due))))
}

/// The pairs that [`super::main`] compares and judges.
pub fn pairs() -> [Pair; 5] {
    [
        Pair {
            name: "cancel      tokio-delay-queue",
            adapter: cancel_adapter::<TokioDelayQueue>,
            bare: cancel_shared,
        },
        Pair {
            name: "cancel      hash-wheel-timer",
            adapter: cancel_adapter::<HashWheelTimer>,
            bare: cancel_hash_wheel,
        },
        Pair {
            name: "sleep       tokio-sleep",
            adapter: sleep_tokio_adapter,
            bare: sleep_tokio,
        },
        Pair {
            name: "sleep       tokio-sleep outside",
            adapter: sleep_adapter::<TokioSleep>,
            bare: sleep_tokio_outside,
        },
        Pair {
            name: "sleep       async-io",
            adapter: sleep_adapter::<AsyncIo>,
            bare: sleep_async_io,
        },
    ]
}

/// The pair that it compares and does not judge.
pub const ONE_OWNER: Pair = Pair {
    name: "cancel      tokio-delay-queue one owner",
    adapter: cancel_adapter::<TokioDelayQueue>,
    bare: cancel_one_owner,
};
