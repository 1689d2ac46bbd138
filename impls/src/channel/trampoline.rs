//! Callbacks run one after the other on the thread that completes them, however deep they nest (C11). A callback that
//! completes another one only queues it, so a chain of any length needs one frame of stack.
//!
//! A callback that waits would hold up those queued behind it, and would wait for ever for one of them. So before it
//! parks, it hands them to a new thread. Their order relative to the rest of the waiting callback is then undefined.
//! Running them in its own frame is no alternative: each callback that waits would need another frame, and one that
//! needs a lock held by the waiting callback would deadlock.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::mem::{ManuallyDrop, take};
use std::pin::pin;

use crate::own_thread::OwnThread;
use crate::sync::{self, Arc, Mutex, contain, thread_local};

/// A callback with its answer in it.
pub(super) type Call = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The callbacks queued behind the running one; `None` while none runs. It needs no drop, so it still exists when
    /// the destructor of another thread-local completes a callback.
    static WAITING: ManuallyDrop<RefCell<Option<VecDeque<Call>>>> =
        const { ManuallyDrop::new(RefCell::new(None)) };
}

/// Runs `call` now, or after the callback that is running on this thread.
pub(super) fn run(call: Call) {
    let nested = WAITING.with(|waiting| match &mut *waiting.borrow_mut() {
        Some(queue) => {
            queue.push_back(call);
            None
        }
        idle => {
            *idle = Some(VecDeque::new());
            Some(call)
        }
    });
    let mut next = nested;
    while let Some(call) = next {
        // The panic is contained. The thread that happens to run the callback has no part in it, and would lose the
        // value that it has just taken.
        contain(call);
        next = WAITING.with(|waiting| {
            let mut waiting = waiting.borrow_mut();
            let following = waiting.as_mut().and_then(VecDeque::pop_front);
            if following.is_none() {
                *waiting = None;
            }
            following
        });
    }
}

/// Call this before the thread parks. It hands the callbacks queued behind the running one to a new thread. While the
/// thread is parked, no further ones are queued. It runs no foreign code, so a lock may be held.
pub(crate) fn before_waiting() {
    let behind = WAITING.with(|waiting| waiting.borrow_mut().as_mut().map(take));
    let Some(behind) = behind.filter(|behind| !behind.is_empty()) else {
        return;
    };
    let behind = Arc::new(Mutex::new(behind));
    let handed = Arc::clone(&behind);
    let begin = Box::new(move || requeue(&handed));
    if OwnThread::try_start(move || run(begin)).is_none() {
        // The system has no thread for them, so they wait after all.
        requeue(&behind);
    }
}

/// Runs a future on this thread, as a blocking call does. Before each sleep it hands over the callbacks queued behind
/// the running one, because a poll may have completed further ones.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    sync::block_on(poll_fn(|context| {
        let answer = future.as_mut().poll(context);
        if answer.is_pending() {
            before_waiting();
        }
        answer
    }))
}

/// Queues the callbacks behind the running callback of this thread.
fn requeue(calls: &Mutex<VecDeque<Call>>) {
    let calls = take(&mut *calls.lock());
    calls.into_iter().for_each(run);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::own_thread::shortage;

    #[test]
    fn callbacks_without_a_thread_of_their_own_wait_for_the_one_before_them() {
        let (calls, called) = mpsc::channel();
        run(Box::new(move || {
            for number in 0..2 {
                let calls = calls.clone();
                run(Box::new(move || calls.send(number).expect("it is awaited")));
            }
            let (done, _) = shortage::after(0, before_waiting);
            assert!(done.is_some(), "it panicked");
            calls.send(2).expect("it is awaited");
        }));
        assert_eq!(called.try_iter().collect::<Vec<_>>(), [2, 0, 1]);
    }
}
