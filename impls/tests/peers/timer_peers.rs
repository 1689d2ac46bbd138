//! Timers of published crates behind the timers' traits (T1 to T4, T6, T8), on the machine's clock. Delays
//! are short, and no test limits how late a timer may be.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::cell::RefCell;
use std::pin::pin;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use flowmeter_harness::executor::Executors;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::{block_on, clock};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Fired, Reset, Sleep, Timers};
use flowmeter_impls::peers::async_io::AsyncIo;
use flowmeter_impls::peers::hash_wheel_timer::HashWheelTimer;
use flowmeter_impls::peers::os_sleep::OsSleep;
#[cfg(target_os = "linux")]
use flowmeter_impls::peers::os_sleep::OsSleepSharp;
use flowmeter_impls::peers::spin_sleep::SpinSleep;
use flowmeter_impls::peers::tokio_delay_queue::TokioDelayQueue;
use flowmeter_impls::peers::tokio_executor::Tokio;
use flowmeter_impls::peers::tokio_sleep::TokioSleep;

/// The past, the present moment, a moment between two ticks of 1 ms, some ticks.
const DELAYS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_micros(1),
    Duration::from_micros(1_700),
    Duration::from_millis(5),
];

const HOUR: Duration = Duration::from_secs(3_600);

/// A timer that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// The first moment of the clock, which has passed when this returns.
fn past() -> Deadline {
    let first = Deadline::from_nanos(0);
    assert!(clock::has_passed(first));
    first
}

fn assert_has_passed(deadline: Deadline) {
    let now = clock::now_nanos();
    assert!(
        now >= deadline.as_nanos(),
        "T1: due at {deadline}, but at {now} ns it had fired"
    );
}

/// Runs work that must end.
fn comes_to_an_end(work: fn()) {
    let (done, waiting) = mpsc::channel();
    let worker = thread::spawn(move || {
        work();
        drop(done);
    });
    let end = waiting.recv_timeout(PATIENCE);
    assert_eq!(
        end,
        Err::<(), _>(RecvTimeoutError::Disconnected),
        "T2: it hangs"
    );
    worker.join().expect("its own message says more");
}

/// Keeps the token on this thread until the thread ends.
fn keep_until_the_thread_ends(token: Arc<()>) {
    thread_local! {
        static KEPT: RefCell<Vec<Arc<()>>> = const { RefCell::new(Vec::new()) };
    }
    KEPT.with_borrow_mut(|kept| kept.push(token));
}

mod sleeps {
    use super::*;

    fn keeps_its_deadlines<S: Sleep>() {
        let timer = S::start();
        for delay in DELAYS {
            let deadline = clock::after(delay);
            block_on(timer.sleep_until(deadline));
            assert_has_passed(deadline);
        }
        block_on(timer.sleep_until(past()));
    }

    fn is_still_asleep(sleep: impl Future<Output = ()>) {
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(pin!(sleep).poll(&mut context), Poll::Pending, "T4: early");
    }

    fn sleeps_far_ahead<S: Sleep>() {
        let timer = S::start();
        is_still_asleep(timer.sleep_until(Deadline::NEVER));
        is_still_asleep(timer.sleep_until(Deadline::from_nanos(u64::MAX - 1)));
        is_still_asleep(timer.sleep_until(clock::after(HOUR)));
    }

    /// Two threads poll one sleep, one after the other. The waker of the second is called.
    fn goes_from_thread_to_thread<S: Sleep>() {
        let timer = S::start();
        let deadline = clock::after(Duration::from_millis(5));
        let mut sleep = Box::pin(timer.sleep_until(deadline));
        let mut context = Context::from_waker(Waker::noop());
        if sleep.as_mut().poll(&mut context).is_pending() {
            let other = thread::spawn(move || block_on(sleep));
            other
                .join()
                .expect("T2: it wakes the last waker that polled it");
        }
        assert_has_passed(deadline);
    }

    /// Tells its test that it was called, and leaves the token with the calling thread.
    struct Called {
        token: Arc<()>,
        call: mpsc::Sender<()>,
    }

    impl Wake for Called {
        fn wake(self: Arc<Self>) {
            keep_until_the_thread_ends(Arc::clone(&self.token));
            self.call.send(()).expect("the test waits");
        }
    }

    #[test]
    fn t1_t4_tokios_sleep_keeps_its_deadlines() {
        comes_to_an_end(keeps_its_deadlines::<TokioSleep>);
    }

    #[test]
    fn t1_t4_async_ios_timer_keeps_its_deadlines() {
        comes_to_an_end(keeps_its_deadlines::<AsyncIo>);
    }

    #[test]
    fn t4_tokios_sleep_sleeps_far_ahead() {
        sleeps_far_ahead::<TokioSleep>();
    }

    #[test]
    fn t4_async_ios_timer_sleeps_far_ahead() {
        sleeps_far_ahead::<AsyncIo>();
    }

    #[test]
    fn tokios_sleep_goes_from_thread_to_thread() {
        comes_to_an_end(goes_from_thread_to_thread::<TokioSleep>);
    }

    #[test]
    fn async_ios_timer_goes_from_thread_to_thread() {
        comes_to_an_end(goes_from_thread_to_thread::<AsyncIo>);
    }

    #[test]
    fn t8_the_thread_of_tokios_timer_ends_with_it() {
        let timer = TokioSleep::start();
        let token = Arc::new(());
        let (call, called) = mpsc::channel();
        let waker = Waker::from(Arc::new(Called {
            token: Arc::clone(&token),
            call,
        }));
        let mut sleep = Box::pin(timer.sleep_until(clock::after(Duration::from_millis(2))));
        let poll = sleep.as_mut().poll(&mut Context::from_waker(&waker));
        drop(waker);
        if poll.is_pending() {
            called.recv_timeout(PATIENCE).expect("T2: it fires");
        }
        drop(timer);
        drop(sleep);
        assert_eq!(Arc::strong_count(&token), 1, "T8: a thread is left");
    }

    #[test]
    fn tokios_timer_started_in_a_task_is_the_timer_of_that_tasks_runtime() {
        let executor = Tokio::with_threads(std::num::NonZeroUsize::MIN);
        let (done, waiting) = mpsc::channel();
        executor.spawn(async move {
            let timer = TokioSleep::start();
            let sleep = timer.sleep_until(clock::after(DELAYS[2]));
            drop(timer);
            // It would panic here if it belonged to a runtime that ended with the service.
            sleep.await;
            done.send(()).expect("the test waits");
        });
        assert_eq!(waiting.recv_timeout(PATIENCE), Ok(()));
    }
}

mod blocking {
    use super::*;

    fn keeps_its_deadlines<S: BlockingSleep>() {
        let timer = S::start();
        for delay in DELAYS {
            let deadline = clock::after(delay);
            timer.sleep_until(deadline);
            assert_has_passed(deadline);
        }
        timer.sleep_until(past());
    }

    /// The thread that sleeps until then is left to the end of the process.
    fn never_comes<S: BlockingSleep>() {
        let (done, waiting) = mpsc::channel();
        let ready = Arc::new(Barrier::new(2));
        let here = Arc::clone(&ready);
        thread::spawn(move || {
            let timer = S::start();
            here.wait();
            timer.sleep_until(Deadline::NEVER);
            done.send(()).expect("the test waits");
        });
        ready.wait();
        let early = waiting.recv_timeout(Duration::from_millis(20));
        assert_eq!(early, Err(RecvTimeoutError::Timeout), "T4: early");
    }

    #[test]
    fn t1_t4_the_systems_sleep_keeps_its_deadlines() {
        comes_to_an_end(keeps_its_deadlines::<OsSleep>);
        #[cfg(target_os = "linux")]
        comes_to_an_end(keeps_its_deadlines::<OsSleepSharp>);
    }

    #[test]
    fn t1_t4_a_sleep_that_spins_keeps_its_deadlines() {
        comes_to_an_end(keeps_its_deadlines::<SpinSleep>);
        never_comes::<SpinSleep>();
    }

    #[test]
    fn t4_the_systems_sleep_has_a_moment_that_never_comes() {
        never_comes::<OsSleep>();
        #[cfg(target_os = "linux")]
        never_comes::<OsSleepSharp>();
    }
}

mod calling {
    use super::*;

    /// A timer, and a receiver that tells its test that it has fired, or was dropped uncalled.
    fn schedule<T: Timers>(timers: &T, deadline: Deadline) -> (T::Handle, Receiver<Fired>) {
        let (call, called) = mpsc::channel();
        let handle = timers.schedule(deadline, move |fired| {
            assert_has_passed(fired.due);
            call.send(fired).expect("the test waits");
        });
        (handle, called)
    }

    const UNCALLED: Result<Fired, RecvTimeoutError> = Err(RecvTimeoutError::Disconnected);

    fn fired(due: Deadline) -> Result<Fired, RecvTimeoutError> {
        Ok(Fired {
            due,
            claimed_nanos: None,
        })
    }

    /// A timer for which `change` was called in time, before it was due.
    fn changed<T: Timers>(
        timers: &T,
        change: impl Fn(&T::Handle) -> bool,
    ) -> (Deadline, T::Handle, Receiver<Fired>) {
        loop {
            let due = clock::after(DELAYS[3]);
            let (handle, called) = schedule(timers, due);
            if change(&handle) {
                return (due, handle, called);
            }
            // This thread was delayed until it was too late.
            assert_eq!(called.recv_timeout(PATIENCE), fired(due));
        }
    }

    fn keeps_its_deadlines<T: Cancel>() {
        let timers = T::start();
        let deadlines = DELAYS.map(clock::after).into_iter().chain([past()]);
        let armed: Vec<_> = deadlines.map(|due| (due, schedule(&timers, due))).collect();
        for (due, (handle, called)) in armed {
            assert_eq!(called.recv_timeout(PATIENCE), fired(due));
            assert_has_passed(due);
            assert!(!timers.cancel(&handle), "T2: it had fired");
        }
    }

    fn calls_off_what_it_is_told_to<T: Cancel>() {
        let timers = T::start();
        let (due, cancelled, called) = changed(&timers, |handle| timers.cancel(handle));
        assert_eq!(
            called.recv_timeout(PATIENCE),
            UNCALLED,
            "T2: dropped uncalled"
        );
        assert!(!timers.cancel(&cancelled), "T2: cancelled before");

        // The next timer may reuse its place. It is due later, so remains of the cancelled one would fire it
        // early.
        let due = Deadline::from_nanos(due.as_nanos() + 5_000_000);
        let (_next, next_called) = schedule(&timers, due);
        assert!(!timers.cancel(&cancelled), "T2: cancelled before");
        assert_eq!(next_called.recv_timeout(PATIENCE), fired(due));

        let (far, far_called) = schedule(&timers, clock::after(HOUR));
        assert!(!T::start().cancel(&far), "T2: another service's");
        assert!(timers.cancel(&far), "T2: it has not fired");
        assert_eq!(far_called.recv_timeout(PATIENCE), UNCALLED);
    }

    fn wakes_for_an_earlier_one<T: Timers>() {
        let timers = T::start();
        // It has fired, so the service now waits for the later one.
        let (_far, _far_called) = schedule(&timers, clock::after(HOUR));
        let (_first, first_called) = schedule(&timers, clock::after(DELAYS[2]));
        first_called.recv_timeout(PATIENCE).expect("T2: it fires");
        let due = clock::after(DELAYS[2]);
        let (_next, next_called) = schedule(&timers, due);
        assert_eq!(next_called.recv_timeout(PATIENCE), fired(due));
    }

    fn arms_the_largest_deadlines<T: Cancel>(horizon: Duration) {
        let timers = T::start();
        for due in [
            Deadline::NEVER,
            Deadline::from_nanos(u64::MAX - 1),
            clock::after(horizon + HOUR),
            clock::after(horizon),
            clock::after(horizon - HOUR),
        ] {
            let (handle, called) = schedule(&timers, due);
            assert!(timers.cancel(&handle), "T4: {due} has fired");
            assert_eq!(called.recv_timeout(PATIENCE), UNCALLED);
        }
        let due = clock::after(DELAYS[2]);
        let (_handle, called) = schedule(&timers, due);
        assert_eq!(called.recv_timeout(PATIENCE), fired(due));
    }

    fn may_be_used_by_what_it_calls<T: Cancel<Handle: Sync>>() {
        let timers = Arc::new(T::start());
        let (far, far_called) = schedule(&*timers, clock::after(HOUR));
        let (call, called) = mpsc::channel();
        let inside = Arc::clone(&timers);
        timers.schedule(past(), move |_| {
            assert!(inside.cancel(&far));
            inside.schedule(past(), move |_| call.send(7).expect("the test waits"));
        });
        assert_eq!(called.recv_timeout(PATIENCE), Ok(7));
        assert_eq!(far_called.recv_timeout(PATIENCE), UNCALLED);
    }

    fn ends_with_its_thread<T: Timers>() {
        let timers = T::start();
        let thread_alive = Arc::new(());
        let token = Arc::clone(&thread_alive);
        let (call, called) = mpsc::channel();
        timers.schedule(past(), move |_| {
            keep_until_the_thread_ends(token);
            call.send(()).expect("the test waits");
        });
        assert_eq!(called.recv_timeout(PATIENCE), Ok(()));
        let (_far, far_called) = schedule(&timers, clock::after(HOUR));
        let (_never, never_called) = schedule(&timers, Deadline::NEVER);
        assert_eq!(Arc::strong_count(&thread_alive), 2);
        drop(timers);
        assert_eq!(Arc::strong_count(&thread_alive), 1, "T8: a thread is left");
        assert_eq!(far_called.try_recv(), Err(mpsc::TryRecvError::Disconnected));
        assert_eq!(
            never_called.try_recv(),
            Err(mpsc::TryRecvError::Disconnected)
        );
    }

    /// The tests that both kinds share.
    macro_rules! tests {
        ($timers:ty, $horizon:expr) => {
            #[test]
            fn t1_t4_it_keeps_its_deadlines() {
                keeps_its_deadlines::<$timers>();
            }

            #[test]
            fn t2_a_cancelled_timer_never_fires_when_its_place_is_reused() {
                calls_off_what_it_is_told_to::<$timers>();
            }

            #[test]
            fn t3_an_earlier_timer_wakes_a_thread_that_waits_for_a_later_one() {
                wakes_for_an_earlier_one::<$timers>();
            }

            #[test]
            fn t4_the_largest_deadlines_are_armed_and_can_be_cancelled() {
                arms_the_largest_deadlines::<$timers>($horizon);
            }

            #[test]
            fn a_callback_may_use_the_timer_that_calls_it() {
                may_be_used_by_what_it_calls::<$timers>();
            }

            #[test]
            fn t8_its_thread_ends_with_it_and_what_is_armed_is_dropped_uncalled() {
                ends_with_its_thread::<$timers>();
            }
        };
    }

    mod hash_wheel_timer {
        use super::*;

        // Its levels reach this far; later timers lie in a list.
        tests!(HashWheelTimer, Duration::from_millis(1 << 32));
    }

    mod delay_queue {
        use super::*;

        tests!(TokioDelayQueue, Duration::from_millis(1 << 36));

        #[test]
        fn t3_a_timer_that_is_spent_cannot_be_reset() {
            let timers = TokioDelayQueue::start();
            let (handle, called) = schedule(&timers, past());
            called.recv_timeout(PATIENCE).expect("T2: it fires");
            assert!(!timers.reset(&handle, past()), "T3: it had fired");
            let (handle, _called) = schedule(&timers, clock::after(HOUR));
            assert!(timers.cancel(&handle));
            assert!(!timers.reset(&handle, past()), "T3: cancelled before");
        }

        #[test]
        fn t3_a_timer_moves_to_where_it_is_reset() {
            let timers = TokioDelayQueue::start();
            for from in [clock::after(HOUR), Deadline::NEVER] {
                for to in [past(), clock::after(DELAYS[3])] {
                    let (handle, called) = schedule(&timers, from);
                    assert!(timers.reset(&handle, to));
                    assert_eq!(called.recv_timeout(PATIENCE), fired(to));
                }
            }
        }

        #[test]
        fn t3_a_timer_that_was_put_off_does_not_fire_when_it_was_due() {
            let timers = TokioDelayQueue::start();
            for to in [clock::after(HOUR), Deadline::NEVER] {
                let (due, handle, called) = changed(&timers, |handle| timers.reset(handle, to));
                // Due at the same moment, and fires then.
                let (_next, next_called) = schedule(&timers, due);
                assert_eq!(next_called.recv_timeout(PATIENCE), fired(due));
                assert!(timers.cancel(&handle), "T3: it has not fired");
                assert_eq!(called.recv_timeout(PATIENCE), UNCALLED);
            }
        }

        #[test]
        fn t4_what_is_beyond_its_horizon_is_moved_there() {
            let timers = TokioDelayQueue::start();
            let far = clock::after(Duration::from_millis(1 << 36) + HOUR);
            for due in [Deadline::NEVER, Deadline::from_nanos(u64::MAX - 1), far] {
                let (handle, called) = schedule(&timers, clock::after(HOUR));
                assert!(timers.reset(&handle, due), "T4: {due} has fired");
                assert!(timers.cancel(&handle), "T4: {due} has fired");
                assert_eq!(called.recv_timeout(PATIENCE), UNCALLED);
            }
        }

        #[test]
        fn t6_a_callback_that_panics_ends_alone() {
            let timers = TokioDelayQueue::start();
            timers.schedule(past(), |_| panic!("on purpose"));
            let due = clock::after(DELAYS[2]);
            let (_handle, called) = schedule(&timers, due);
            assert_eq!(called.recv_timeout(PATIENCE), fired(due));
        }
    }
}
