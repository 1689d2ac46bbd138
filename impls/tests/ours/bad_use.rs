//! Misuse by a user, one test for each way: a request is impossible, comes too late or too often, or never ends. The
//! properties check the same of every design under every schedule; this is the list for readers. What the types reject
//! is in the documentation, as examples that do not compile.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "what users have beside the library is std's"
)]

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread;
use std::time::Duration;

use flowmeter_harness::channel::{
    Alts, AltsError, AsyncReserve, BlockingReserve, Callback, Clause, Order, Patience,
    PutUntilError, Reserve, Transforms,
};
use flowmeter_impls::channel::{
    Buffer, Offered, Polled, PutError, ReserveError, TakeError, TakeUntilError, TransformError,
};
use flowmeter_impls::sync::clock;

/// A waker that panics when it is cloned.
fn faulty_waker() -> Waker {
    fn clone(_: *const ()) -> RawWaker {
        // Bypasses the panic hook, which would print it.
        resume_unwind(Box::new("a waker's own fault"))
    }
    static TABLE: RawWakerVTable = RawWakerVTable::new(clone, |_| {}, |_| {}, |_| {});
    // SAFETY: none of these functions uses the pointer.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &TABLE)) }
}

type Act = Arc<dyn Fn() + Send + Sync>;

/// A waker that acts when it is cloned, and when it or a clone of it is dropped.
fn acting_waker(act: Act) -> Waker {
    fn raw(act: Act) -> RawWaker {
        RawWaker::new(Box::into_raw(Box::new(act)).cast(), &TABLE)
    }
    fn clone(act: *const ()) -> RawWaker {
        // SAFETY: a waker has the box until it is woken or dropped.
        let act = unsafe { &*act.cast::<Act>() };
        act();
        raw(Arc::clone(act))
    }
    fn wake(act: *const ()) {
        // SAFETY: as above, and this ends the waker.
        drop(unsafe { Box::from_raw(act.cast_mut().cast::<Act>()) });
    }
    fn end(act: *const ()) {
        // SAFETY: as above.
        let act = unsafe { Box::from_raw(act.cast_mut().cast::<Act>()) };
        act();
    }
    static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, |_| {}, end);
    // SAFETY: the functions keep to the contract of a waker: each has a box of its own.
    unsafe { Waker::from_raw(raw(act)) }
}

/// Begins to wait for what is not there, and gives up.
fn gives_up<T>(future: impl Future<Output = T>) {
    let _ = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
}

/// Runs that on another thread, and fails if it does not end.
fn ends(run: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let running = thread::spawn(move || {
        run();
        let _ = done.send(());
    });
    let answer = is_done.recv_timeout(Duration::from_secs(20));
    assert_ne!(answer, Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
    running.join().unwrap();
}

/// The tests of one design.
macro_rules! bad_use {
    ($design:ident, $family:ident) => {
        mod $design {
            use flowmeter_impls::channel::transforms::map;
            use flowmeter_impls::channel::$design::{Channel, MAX_WAITERS, $family as Family};

            use super::*;

            #[test]
            fn a_waker_whose_clone_panics_leaves_no_waiter_in_line() {
                let waker = faulty_waker();
                let mut context = Context::from_waker(&waker);
                let channel = Channel::new(Buffer::fixed(1));
                {
                    let mut take = pin!(channel.take_async());
                    let poll = AssertUnwindSafe(|| take.as_mut().poll(&mut context));
                    assert!(catch_unwind(poll).is_err());
                }
                assert_eq!(channel.offer(1), Offered::Done);
                {
                    let mut put = pin!(channel.put_async(2));
                    let poll = AssertUnwindSafe(|| put.as_mut().poll(&mut context));
                    assert!(catch_unwind(poll).is_err());
                }
                assert_eq!(channel.poll(), Polled::Done(1));
                assert_eq!(channel.poll(), Polled::WouldWait);

                let (tx, rx) = Channel::split(Buffer::fixed(1));
                assert_eq!(tx.offer(3), Offered::Done);
                {
                    let mut reserve = pin!(Family::reserve_async(&tx));
                    let poll = AssertUnwindSafe(|| reserve.as_mut().poll(&mut context).is_ready());
                    assert!(catch_unwind(poll).is_err());
                }
                assert_eq!(rx.poll(), Polled::Done(3));
                assert_eq!(tx.offer(4), Offered::Done, "the room is still held");
            }

            #[test]
            fn a_put_on_a_closed_channel_gives_the_value_back() {
                let (tx, rx) = Channel::split(Buffer::fixed(1));
                tx.close();
                assert_eq!(tx.put(1), Err(PutError::Closed(Some(1))));
                assert_eq!(tx.offer(2), Offered::Closed(2));
                let late = tx.put_until(3, clock::after(Duration::from_secs(1)));
                assert_eq!(late, Err(PutUntilError::Put(PutError::Closed(Some(3)))));
                tx.close();
                assert_eq!(rx.take(), Err(TakeError::Closed));
                assert_eq!(rx.poll(), Polled::Closed);
            }

            #[test]
            fn the_waiter_beyond_the_limit_is_refused_and_the_channel_goes_on() {
                let (tx, rx) = Channel::split(Buffer::Rendezvous);
                let served = Arc::new(AtomicU32::new(0));
                for value in 0..MAX_WAITERS {
                    let served = Arc::clone(&served);
                    Family::put_then(&tx, value, move |answer| {
                        assert_eq!(answer, Ok(()));
                        served.fetch_add(1, Ordering::Relaxed);
                    });
                }
                assert_eq!(
                    tx.put(MAX_WAITERS),
                    Err(PutError::TooManyWaiters(MAX_WAITERS))
                );
                for value in 0..MAX_WAITERS {
                    assert_eq!(rx.take(), Ok(value));
                }
                assert_eq!(served.load(Ordering::Relaxed), MAX_WAITERS as u32);
                assert_eq!(tx.offer(0), Offered::WouldWait(0));
            }

            #[test]
            fn an_alts_of_nothing_is_an_error_at_once() {
                let nothing: [Clause<'_, Family, u32>; 0] = [];
                let mut alts = Family::prepare(&nothing, Order::Random);
                let forever = Patience::Forever;
                assert_eq!(
                    Family::run(&mut alts, &mut [], forever),
                    Err(AltsError::NoClauses)
                );
                let never = Patience::Until(clock::after(Duration::MAX));
                assert_eq!(
                    Family::run(&mut alts, &mut [], never),
                    Err(AltsError::NoClauses)
                );
            }

            /// The copies made so far are dropped, and the value itself; neither drop may run with the channel's lock
            /// held.
            #[test]
            fn a_promise_whose_value_cannot_be_copied_is_open_still() {
                ends(|| {
                    let promise = Channel::promise();
                    let mut context = Context::from_waker(Waker::noop());
                    let mut takes = [(); 3].map(|()| Box::pin(promise.take_async()));
                    for take in &mut takes {
                        assert!(take.as_mut().poll(&mut context).is_pending());
                    }
                    let uses = |copies| Fragile {
                        copies: Arc::new(AtomicU32::new(copies)),
                        drops: Box::new({
                            let promise = promise.clone();
                            move || assert!(!promise.is_closed())
                        }),
                    };
                    let put = AssertUnwindSafe(|| promise.offer(uses(1)));
                    assert!(catch_unwind(put).is_err(), "the second copy fails");
                    for take in &mut takes {
                        assert!(take.as_mut().poll(&mut context).is_pending());
                    }
                    // It stays in the promise, which it must not keep alive.
                    let last = Fragile {
                        copies: Arc::new(AtomicU32::new(u32::MAX)),
                        drops: Box::new(|| ()),
                    };
                    assert!(matches!(promise.offer(last), Offered::Done));
                    for take in &mut takes {
                        assert!(take.as_mut().poll(&mut context).is_ready());
                    }
                });
            }

            #[test]
            fn a_waker_that_uses_the_channel_as_it_is_cloned_and_dropped_meets_no_lock() {
                ends(|| {
                    let mut noop = Context::from_waker(Waker::noop());
                    let (tx, rx) = Channel::<u32>::split(Buffer::fixed(1));
                    let takes: Act = Arc::new({
                        let rx = rx.clone();
                        move || gives_up(rx.take_async())
                    });
                    let puts: Act = Arc::new({
                        let tx = tx.clone();
                        move || gives_up(tx.put_async(9))
                    });
                    let (taking, putting) = (acting_waker(takes), acting_waker(puts));
                    // So often that a thread learns to expect that it waits.
                    for value in 0..20 {
                        let mut take = pin!(rx.take_async());
                        let waits = take.as_mut().poll(&mut Context::from_waker(&taking));
                        assert!(waits.is_pending());
                        assert_eq!(tx.offer(value), Offered::Done);
                        assert_eq!(take.poll(&mut noop), Poll::Ready(Ok(value)));
                    }
                    // One more than it has room for, so it is full before and after.
                    assert_eq!(tx.offer(0), Offered::Done);
                    for value in 1..20 {
                        let mut put = pin!(tx.put_async(value));
                        let waits = put.as_mut().poll(&mut Context::from_waker(&putting));
                        assert!(waits.is_pending());
                        assert_eq!(rx.poll(), Polled::Done(value - 1));
                        assert_eq!(put.poll(&mut noop), Poll::Ready(Ok(())));
                    }
                    // It expects to wait, and need not.
                    let mut take = pin!(rx.take_async());
                    let taken = take.as_mut().poll(&mut Context::from_waker(&putting));
                    assert_eq!(taken, Poll::Ready(Ok(19)));
                    let _ = rx.poll();
                    for _ in 0..MAX_WAITERS {
                        Family::take_then(&rx, |_| ());
                    }
                    for _ in 0..4 {
                        let mut take = pin!(rx.take_async());
                        let refused = take.as_mut().poll(&mut Context::from_waker(&taking));
                        assert_eq!(refused, Poll::Ready(Err(TakeError::TooManyWaiters)));
                    }
                });
            }

            /// It might take a second value.
            #[test]
            fn a_take_whose_value_could_not_be_copied_is_over() {
                let promise = Channel::promise();
                let copies = Arc::new(AtomicU32::new(0));
                let value = Fragile {
                    copies: Arc::clone(&copies),
                    drops: Box::new(|| ()),
                };
                assert!(matches!(promise.offer(value), Offered::Done));
                let mut context = Context::from_waker(Waker::noop());
                let mut take = pin!(promise.take_async());
                let poll = AssertUnwindSafe(|| take.as_mut().poll(&mut context).is_ready());
                assert!(catch_unwind(poll).is_err());
                copies.store(u32::MAX, Ordering::Relaxed);
                let again = AssertUnwindSafe(|| take.as_mut().poll(&mut context).is_ready());
                assert!(catch_unwind(again).is_err(), "it was polled after its end");
            }

            #[test]
            fn a_callback_may_use_its_channel() {
                let (tx, rx) = Channel::split(Buffer::fixed(1));
                let heard = Arc::new(AtomicU32::new(0));
                let (again, further) = (rx.clone(), tx.clone());
                let inner = Arc::clone(&heard);
                Family::take_then(&rx, move |answer| {
                    assert_eq!(answer, Ok(1));
                    further.put(2).unwrap();
                    Family::take_then(&again, move |answer| {
                        inner.store(answer.unwrap(), Ordering::Relaxed);
                    });
                });
                tx.put(1).unwrap();
                assert_eq!(heard.load(Ordering::Relaxed), 2);
            }

            #[test]
            fn a_transform_that_panics_answers_to_its_handler() {
                let fussy = map(|value: u32| {
                    assert!(value != 13, "I will not");
                    value * 2
                });
                let opened = Family::open_transformed(Buffer::fixed(4), fussy, |_| Some(0));
                let (tx, rx) = opened.unwrap();
                for value in [1, 13, 2] {
                    assert_eq!(tx.put(value), Ok(()));
                }
                assert!(rx.ready().eq([2, 0, 4]));
            }

            #[test]
            fn a_transform_without_a_buffer_is_refused() {
                let transform = map(|value: u32| value);
                let opened = Family::open_transformed(Buffer::Rendezvous, transform, |_| None);
                assert_eq!(opened.err(), Some(TransformError::Unbuffered));
            }

            #[test]
            fn room_that_is_not_there_cannot_be_reserved() {
                let (tx, _rx) = Channel::<u32>::split(Buffer::Rendezvous);
                let refused = Some(ReserveError::NothingToReserve);
                assert_eq!(Family::try_reserve(&tx).err(), refused);
                assert_eq!(Family::reserve(&tx).err(), refused);
                tx.close();
            }

            #[test]
            fn the_longest_of_durations_is_for_ever() {
                let (tx, rx) = Channel::split(Buffer::Rendezvous);
                let (asked, asks) = mpsc::channel();
                let waiting = thread::spawn(move || {
                    asked.send(()).unwrap();
                    rx.take_until(clock::after(Duration::MAX))
                });
                asks.recv().unwrap();
                let late = tx.put_until(1, clock::after(Duration::MAX));
                assert_eq!(late, Ok(()));
                assert_eq!(waiting.join().unwrap(), Ok(1));
            }

            #[test]
            fn a_deadline_in_the_past_tries_once() {
                let (tx, rx) = Channel::split(Buffer::fixed(1));
                let past = clock::after(Duration::ZERO);
                assert_eq!(rx.take_until(past), Err(TakeUntilError::TimedOut));
                assert_eq!(tx.put_until(1, past), Ok(()));
                assert_eq!(tx.put_until(2, past), Err(PutUntilError::TimedOut(2)));
                assert_eq!(rx.take_until(past), Ok(1));
            }

            #[test]
            fn forgotten_handles_leak_and_drop_nothing_twice() {
                let drops = Arc::new(AtomicU32::new(0));
                let value = || Counted(Arc::clone(&drops));
                let (tx, rx) = Channel::split(Buffer::fixed(2));
                tx.put(value()).unwrap();
                tx.put(value()).unwrap();
                drop(rx.take());
                mem::forget(rx);
                drop(tx);
                assert_eq!(drops.load(Ordering::Relaxed), 1, "one was taken, one leaks");

                let (tx, rx) = Channel::split(Buffer::fixed(2));
                tx.put(value()).unwrap();
                mem::forget(tx);
                drop(rx);
                assert_eq!(
                    drops.load(Ordering::Relaxed),
                    2,
                    "no consumer is left to take it"
                );
            }

            #[test]
            fn a_future_polled_after_its_end_says_so() {
                let (tx, rx) = Channel::split(Buffer::fixed(1));
                tx.put(1).unwrap();
                let mut take = Box::pin(rx.take_async());
                let mut context = std::task::Context::from_waker(std::task::Waker::noop());
                assert!(take.as_mut().poll(&mut context).is_ready());
                let again = catch_unwind(AssertUnwindSafe(|| take.as_mut().poll(&mut context)));
                let panic = again.expect_err("it is over");
                let says = panic.downcast_ref::<&str>().copied();
                assert_eq!(says, Some("a take was polled after it was ready"));
            }
        }
    };
}

bad_use!(mutex, MutexChannels);
bad_use!(ordered_locks, OrderedLocks);
bad_use!(lock_free, LockFree);

/// A value that can be copied so often, and runs `drops` when it is dropped.
struct Fragile {
    copies: Arc<AtomicU32>,
    drops: Box<dyn Use>,
}

trait Use: Send {
    fn act(&self);
    fn another(&self) -> Box<dyn Use>;
}

impl<F: Fn() + Clone + Send + 'static> Use for F {
    fn act(&self) {
        self();
    }
    fn another(&self) -> Box<dyn Use> {
        Box::new(self.clone())
    }
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        let left = self.copies.fetch_sub(1, Ordering::Relaxed);
        if left == 0 {
            // Bypasses the panic hook, which would print it.
            resume_unwind(Box::new("no further copy"));
        }
        Fragile {
            copies: Arc::clone(&self.copies),
            drops: self.drops.another(),
        }
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        self.drops.act();
    }
}

#[derive(Debug)]
struct Counted(Arc<AtomicU32>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
#[should_panic(expected = "without room it is a rendezvous")]
fn a_fixed_buffer_without_room_says_what_it_is_called() {
    let _ = Buffer::fixed(0);
}
