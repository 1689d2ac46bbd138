//! `block_on` of the std world.
//!
//! A wake sets a flag of the call; an `unpark` only ends the sleep. The thread's park token alone would not do: code
//! that parks inside `poll` (a blocking put, a limiter, a nested `block_on`) consumes the token, and with it the
//! future's wake. So each call has its own flag, which it checks before each sleep. A thread keeps the flag and the
//! waker of its latest call for the next one, which saves two allocations.

use ::std::cell::Cell;
use ::std::future::Future;
use ::std::pin::pin;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::task::{Context, Poll, Wake, Waker};
use ::std::thread::{self, Thread};

/// The part of a call that its wakers share.
struct Call {
    thread: Thread,
    /// Whether it was woken since its last poll began. It is swapped with release and taken with acquire: the poll sees
    /// the effects of every thread that woke it before. With plain stores it would see only those of the last one.
    woken: AtomicBool,
}

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.swap(true, Ordering::Release);
        self.thread.unpark();
    }
}

struct Kept {
    call: Arc<Call>,
    waker: Waker,
}

thread_local! {
    /// `None` while a call uses it.
    static KEPT: Cell<Option<Kept>> = const { Cell::new(None) };
}

impl Kept {
    fn new() -> Self {
        let call = Arc::new(Call {
            thread: thread::current(),
            woken: AtomicBool::new(false),
        });
        let waker = Waker::from(Arc::clone(&call));
        Kept { call, waker }
    }
}

/// Returns it at the end of the call, also by a panic.
struct InUse(Option<Kept>);

impl Drop for InUse {
    fn drop(&mut self) {
        let kept = self.0.take();
        // At the end of the thread there is no place for it, and no next call.
        let _ = KEPT.try_with(|place| place.set(kept));
    }
}

/// Runs a future on this thread.
#[inline]
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let kept = KEPT.try_with(Cell::take).ok().flatten();
    let in_use = InUse(Some(kept.unwrap_or_else(Kept::new)));
    let InUse(Some(Kept { call, waker })) = &in_use else {
        unreachable!("it was just put there")
    };
    let mut future = pin!(future);
    let mut context = Context::from_waker(waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        while !call.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use ::std::future::poll_fn;
    use ::std::sync::mpsc;
    use ::std::time::Duration;

    use super::*;

    /// Runs it on a thread of its own, and waits for its end with a generous time limit.
    fn ends(run: impl FnOnce() + Send + 'static) {
        let (ends, ended) = mpsc::channel();
        let thread = thread::spawn(move || {
            run();
            let _ = ends.send(());
        });
        let answer = ended.recv_timeout(Duration::from_secs(20));
        assert_ne!(answer, Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
        thread.join().expect("it does not panic");
    }

    /// Runs a future that wakes itself twice; returns how often it was polled.
    fn polls_of_three() -> u32 {
        let mut polls = 0;
        block_on(poll_fn(|context| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls < 3 {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        }));
        polls
    }

    #[test]
    fn a_wake_outlasts_a_poll_that_parks() {
        ends(|| {
            let mut polls = 0;
            block_on(poll_fn(|context| {
                polls += 1;
                if polls == 2 {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                // Takes the token of the wake, as a blocking call would that checks its condition and continues.
                thread::park();
                Poll::Pending
            }));
            assert_eq!(polls, 2);
        });
    }

    #[test]
    fn a_wake_outlasts_a_nested_call() {
        ends(|| {
            let mut polls = 0;
            block_on(poll_fn(|context| {
                polls += 1;
                if polls == 2 {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                assert_eq!(polls_of_three(), 3);
                Poll::Pending
            }));
        });
    }

    #[test]
    fn a_call_that_panics_leaves_the_next_one_whole() {
        ends(|| {
            let call = || {
                block_on(poll_fn(|_| -> Poll<()> {
                    ::std::panic::resume_unwind(Box::new(()))
                }))
            };
            assert!(::std::panic::catch_unwind(call).is_err());
            assert_eq!(polls_of_three(), 3);
        });
    }

    struct CallsAtTheEnd(mpsc::Sender<u32>);

    impl Drop for CallsAtTheEnd {
        fn drop(&mut self) {
            let _ = self.0.send(polls_of_three());
        }
    }

    thread_local! {
        static LAST: Cell<Option<CallsAtTheEnd>> = const { Cell::new(None) };
    }

    /// The thread's own flag and waker are dropped by then.
    #[test]
    fn a_future_runs_in_the_destructor_of_a_thread_local() {
        let (tells, told) = mpsc::channel();
        let run = move || {
            LAST.set(Some(CallsAtTheEnd(tells)));
            block_on(async {});
        };
        assert!(thread::spawn(run).join().is_ok());
        assert_eq!(told.recv(), Ok(3));
    }
}
