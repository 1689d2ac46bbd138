//! A callback that waits in any blocking call of ours does not delay the callbacks behind it (C11).

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "what users have beside the library is std's"
)]

use std::future::pending;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flowmeter_harness::channel::{
    Alts, Blocking, BlockingReserve, Channels, Clause, Order, Patience, PutDeadline, TakeDeadline,
};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::limiter::{BlockingLimit, Quota};
use flowmeter_harness::sync::std::clock;
use flowmeter_harness::timer::BlockingSleep;
use flowmeter_impls::channel::Buffer;
use flowmeter_impls::channel::condvar::Condvar;
use flowmeter_impls::channel::mutex::{Channel, MutexChannels};
use flowmeter_impls::executor::fixed_pool::FixedPool;
use flowmeter_impls::limiter::gcra::Gcra;
use flowmeter_impls::limiter::semaphore::FairSemaphore;
use flowmeter_impls::pipeline::upmap::upmap;
use flowmeter_impls::timer::heap::Heap;

/// Longer than any wait that ends.
const LONG: Duration = Duration::from_secs(10);

type Wait = Box<dyn FnOnce() + Send>;

/// A thread completes a callback. That completes the next one, which is then behind it, and waits; so does each of
/// them. The last one, which does not wait, has to be called meanwhile. The others may wait until the test's program
/// ends.
fn calls_those_behind(waits: Vec<Wait>) {
    let (calls, called) = mpsc::channel();
    let last: Channel<()> = Channel::new(Buffer::Rendezvous);
    last.take_then(move |_| calls.send(()).expect("it is awaited"));
    let first = waits.into_iter().rev().fold(last, |next, wait| {
        let channel = Channel::new(Buffer::Rendezvous);
        channel.take_then(move |_| {
            next.put_then((), |_| {});
            wait();
        });
        channel
    });
    thread::spawn(move || first.put_then((), |_| {}));
    assert_eq!(called.recv_timeout(LONG), Ok(()), "it was held up");
}

/// The tests of one design.
macro_rules! callbacks_that_wait {
    ($design:ident, $family:ident) => {
        mod $design {
            use flowmeter_impls::channel::$design::$family as Family;

            use super::*;

            /// A full channel from which no value is taken.
            fn full() -> (<Family as Channels>::Tx<u32>, <Family as Channels>::Rx<u32>) {
                let (mut tx, rx) = Family::open(Buffer::fixed(1)).expect("it has that");
                Family::put(&mut tx, 1).expect("it has room");
                (tx, rx)
            }

            #[test]
            fn in_a_take() {
                let (tx, mut rx) = Family::open::<u32>(Buffer::Rendezvous).expect("it has that");
                calls_those_behind(vec![Box::new(move || {
                    let _ = Family::take(&mut rx);
                    drop(tx);
                })]);
            }

            #[test]
            fn in_a_put() {
                let (mut tx, rx) = full();
                calls_those_behind(vec![Box::new(move || {
                    let _ = Family::put(&mut tx, 2);
                    drop(rx);
                })]);
            }

            #[test]
            fn until_a_deadline() {
                let (mut tx, mut rx) = full();
                let (more, mut none) =
                    Family::open::<u32>(Buffer::Rendezvous).expect("it has that");
                let later = clock::after(Duration::from_secs(3_600));
                calls_those_behind(vec![
                    Box::new(move || {
                        let _ = Family::put_until(&mut tx, 2, later);
                        let _ = Family::take(&mut rx);
                    }),
                    Box::new(move || {
                        let _ = Family::take_until(&mut none, later);
                        drop(more);
                    }),
                ]);
            }

            #[test]
            fn in_a_reservation() {
                let (tx, rx) = full();
                calls_those_behind(vec![Box::new(move || {
                    let _ = Family::reserve(&tx);
                    drop(rx);
                })]);
            }

            #[test]
            fn in_an_alts() {
                let (tx, rx) = Family::open::<u32>(Buffer::Rendezvous).expect("it has that");
                calls_those_behind(vec![Box::new(move || {
                    let clauses = [Clause::Take(&rx)];
                    let mut alts = Family::prepare(&clauses, Order::Random);
                    let _ = Family::run(&mut alts, &mut [None], Patience::Forever);
                    drop(tx);
                })]);
            }
        }
    };
}

callbacks_that_wait!(mutex, MutexChannels);
callbacks_that_wait!(ordered_locks, OrderedLocks);
callbacks_that_wait!(lock_free, LockFree);

/// A callback of another channel may wait there.
#[test]
fn in_a_channel_without_callbacks() {
    let open = || Condvar::open::<u32>(Buffer::fixed(1)).expect("it has that");
    let later = clock::after(Duration::from_secs(3_600));
    let put = |until| -> Wait {
        let (mut tx, rx) = open();
        Condvar::put(&mut tx, 1).expect("it has room");
        Box::new(move || {
            if until {
                let _ = Condvar::put_until(&mut tx, 2, later);
            } else {
                let _ = Condvar::put(&mut tx, 2);
            }
            drop(rx);
        })
    };
    let take = |until| -> Wait {
        let (tx, mut rx) = open();
        Box::new(move || {
            if until {
                let _ = Condvar::take_until(&mut rx, later);
            } else {
                let _ = Condvar::take(&mut rx);
            }
            drop(tx);
        })
    };
    calls_those_behind(vec![put(false), put(true), take(false), take(true)]);
}

/// The first of the two calls gets the first permit.
fn twice<L: BlockingLimit>() -> Wait {
    let quota = Quota {
        permits: NonZeroU32::MIN,
        period: Duration::from_secs(3_600),
        burst: NonZeroU32::MIN,
    };
    let limiter = L::with_quota(quota).expect("it is possible");
    Box::new(move || {
        limiter.acquire();
        limiter.acquire();
    })
}

#[test]
fn in_a_limiter() {
    calls_those_behind(vec![twice::<Gcra>(), twice::<FairSemaphore>()]);
}

#[test]
fn in_a_sleep() {
    let timers = Heap::start();
    calls_those_behind(vec![Box::new(move || {
        timers.sleep_until(clock::after(Duration::from_secs(3_600)));
    })]);
}

#[test]
fn in_a_parallel_map() {
    let pool = FixedPool::with_threads(NonZeroUsize::MIN);
    let one = NonZeroUsize::MIN;
    let never = |_| pending::<u32>();
    let mut results = upmap::<MutexChannels, _, _, _, _, _, _>(pool.spawner(), one, (), [1], never);
    calls_those_behind(vec![Box::new(move || {
        let _ = results.next();
        drop(pool);
    })]);
}

#[test]
fn for_the_end_of_a_thread() {
    let (tx, rx) = mpsc::channel::<()>();
    let pool = FixedPool::with_threads(NonZeroUsize::MIN);
    let (begins, begun) = mpsc::channel();
    pool.spawn_blocking(move || {
        let _ = begins.send(());
        let _ = rx.recv();
    });
    begun.recv_timeout(LONG).expect("it begins");
    calls_those_behind(vec![Box::new(move || {
        drop(pool);
        drop(tx);
    })]);
}

/// All of them are queued behind the first one.
#[test]
fn those_that_wait_behind_one_hold_up_none() {
    let waits = (0..50).map(|_| -> Wait {
        let channel: Channel<()> = Channel::new(Buffer::Rendezvous);
        Box::new(move || {
            let _ = channel.take();
        })
    });
    let (calls, called) = mpsc::channel();
    let last: Wait = Box::new(move || calls.send(()).expect("it is awaited"));
    let behind: Vec<Channel<()>> = waits
        .chain([last])
        .map(|act| {
            let channel = Channel::new(Buffer::Rendezvous);
            channel.take_then(move |_| act());
            channel
        })
        .collect();
    let first: Channel<()> = Channel::new(Buffer::Rendezvous);
    first.take_then(move |_| {
        for channel in &behind {
            channel.put_then((), |_| {});
        }
    });
    thread::spawn(move || first.put_then((), |_| {}));
    assert_eq!(called.recv_timeout(LONG), Ok(()), "it was held up");
}
