//! tokio-util's `DelayQueue`, with the parts that are needed to call back from it.
//!
//! | offered or claimed | where the crate documents it |
//! | --- | --- |
//! | schedule | `DelayQueue`: an element "is yielded once the specified deadline has been reached" |
//! | cancel, reset | `DelayQueue::remove`, `DelayQueue::reset_at` |
//!
//! Not claimed: the order of deadlines, because its ticks are of 1 ms ("delays are rounded to the closest
//! millisecond"), and within one "there are no ordering guarantees". Nor is it claimed that a callback does not delay
//! others, because they run one after the other.
//!
//! The queue has one owner, which inserts, removes and polls by `&mut`. [`Timers`] is called from any thread, so the
//! queue is behind a lock, and a task polls it there. An insert that the task has to notice wakes it by the waker that
//! it left in the queue. The alternative is a task that owns the queue and takes requests from a channel. That would
//! time the channel, and a cancel would have to wait for its answer.
//!
//! When the queue becomes empty or stops being empty, it makes a `tokio::time::Sleep`, which needs a runtime's context,
//! and wakes its task for nothing. One timer that is always in the queue, as late as the queue accepts, spares all
//! callers both.
//!
//! "[`Key`] is a token and is reused", and using one again "may reference a different item". So each timer has a slot,
//! and a number that tells it from former timers of the slot. A callback is called outside the lock, and a callback
//! that panics affects no other. `insert_at` "panics if `when` is too far in the future". By the code that is 2^36 ms
//! after the queue's first moment (2.2 years). Such a deadline is treated as one that never comes.

use ::std::fmt;
use ::std::future::poll_fn;
use ::std::task::{Context, Poll};
use ::std::time::{Duration, Instant};

use ::tokio_util::time::DelayQueue;
use ::tokio_util::time::delay_queue::Key;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{Cancel, Fired, Reset, Timers};

use super::tokio_runtime::OwnRuntime;
use crate::sync::{Arc, Mutex, clock, contain, order_key};

/// A queue that threads share, and a runtime with one thread on which it fires.
pub struct TokioDelayQueue {
    _runtime: OwnRuntime,
    shared: Arc<Mutex<Armed>>,
}

/// Names one timer of a [`TokioDelayQueue`].
#[derive(Debug)]
pub struct TimerId {
    slot: usize,
    id: u64,
}

type Callback = Box<dyn FnOnce(Fired) + Send>;

struct Timer {
    id: u64,
    due: Deadline,
    /// `None` while the timer is not in the queue, because its deadline is later than the queue accepts.
    key: Option<Key>,
    then: Callback,
}

/// The slot of the timer that is always in the queue.
const LAST: usize = 0;

/// The armed timers. The queue holds the slot of each timer that has a key.
struct Armed {
    queue: DelayQueue<usize>,
    /// The latest deadline that the queue accepts.
    horizon: Deadline,
    slots: Vec<Option<Timer>>,
    free: Vec<usize>,
}

impl Armed {
    /// Must be called in the context of a runtime.
    fn new() -> Self {
        let mut armed = Armed {
            horizon: clock::after(Duration::ZERO),
            queue: DelayQueue::new(),
            slots: Vec::new(),
            free: Vec::new(),
        };
        armed.arm_last();
        armed
    }

    /// Arms the timer that is always in the queue, in the first slot, and those that the queue accepts from now on.
    /// Must be called in the context of a runtime.
    fn arm_last(&mut self) {
        // One second less, because the queue reads the clock itself.
        let longest = Duration::from_millis(1 << 36) - Duration::from_secs(1);
        // From the last one on, which the queue has reached: it may be behind the clock.
        self.horizon = Deadline::after(self.horizon.as_nanos(), longest);
        let TimerId { slot, .. } = self.schedule(self.horizon, Box::new(|_| ()));
        debug_assert_eq!(slot, LAST);
        for slot in 0..self.slots.len() {
            let waiting = self.slots[slot].as_ref();
            let Some(due) = waiting.filter(|it| it.key.is_none()).map(|it| it.due) else {
                continue;
            };
            let key = self
                .instant(due)
                .map(|at| self.queue.insert_at(slot, at.into()));
            if let Some(timer) = &mut self.slots[slot] {
                timer.key = key;
            }
        }
    }

    fn instant(&self, deadline: Deadline) -> Option<Instant> {
        clock::instant(deadline).filter(|_| deadline <= self.horizon)
    }

    fn schedule(&mut self, due: Deadline, then: Callback) -> TimerId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let key = self
            .instant(due)
            .map(|at| self.queue.insert_at(slot, at.into()));
        let id = order_key();
        self.slots[slot] = Some(Timer { id, due, key, then });
        TimerId { slot, id }
    }

    fn named(&mut self, name: &TimerId) -> Option<&mut Timer> {
        // The name may come from another service, and its slot may not exist here. No two timers have the same number.
        let timer = self.slots.get_mut(name.slot)?.as_mut();
        timer.filter(|timer| timer.id == name.id)
    }

    fn take(&mut self, slot: usize) -> Option<Timer> {
        let timer = self.slots[slot].take()?;
        self.free.push(slot);
        Some(timer)
    }

    fn cancel(&mut self, name: &TimerId) -> Option<Timer> {
        if let Some(key) = self.named(name)?.key {
            self.queue.remove(&key);
        }
        self.take(name.slot)
    }

    fn reset(&mut self, name: &TimerId, due: Deadline) -> bool {
        let at = self.instant(due);
        let Some(timer) = self.named(name) else {
            return false;
        };
        timer.due = due;
        let key = match (timer.key, at) {
            (Some(key), Some(at)) => {
                self.queue.reset_at(&key, at.into());
                return true;
            }
            (Some(key), None) => {
                self.queue.remove(&key);
                None
            }
            (None, at) => at.map(|at| self.queue.insert_at(name.slot, at.into())),
        };
        if let Some(timer) = self.named(name) {
            timer.key = key;
        }
        true
    }

    /// Removes all timers.
    fn clear(&mut self) -> Vec<Option<Timer>> {
        self.queue.clear();
        ::std::mem::take(&mut self.slots)
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<Timer> {
        match self.queue.poll_expired(context) {
            Poll::Ready(Some(expired)) => {
                let slot = expired.into_inner();
                let timer = self.take(slot);
                if slot == LAST {
                    // The queue has run for 2.2 years, as it may in virtual time.
                    self.arm_last();
                }
                Poll::Ready(timer.expect("what is in the queue has a slot"))
            }
            // An empty queue keeps the waker for the next insert.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

async fn drive(shared: Arc<Mutex<Armed>>) {
    loop {
        let timer = poll_fn(|context| shared.lock().poll_due(context)).await;
        let fired = Fired {
            due: timer.due,
            claimed_nanos: None,
        };
        // The panic hook has reported a panic, and the other timers still have their deadlines.
        let _ = contain(|| (timer.then)(fired));
    }
}

impl Drop for TokioDelayQueue {
    fn drop(&mut self) {
        // Before the runtime is dropped, which waits for its thread: a callback may wait for one of these.
        let armed = self.shared.lock().clear();
        for timer in armed {
            let _ = contain(|| drop(timer));
        }
    }
}

impl Timers for TokioDelayQueue {
    type Handle = TimerId;

    /// # Panics
    /// When the system refuses a thread.
    fn start() -> Self {
        let runtime = OwnRuntime::of_timer();
        let context = runtime.enter();
        let shared = Arc::new(Mutex::new(Armed::new()));
        drop(context);
        runtime.spawn(drive(Arc::clone(&shared)));
        TokioDelayQueue {
            _runtime: runtime,
            shared,
        }
    }

    #[inline]
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> TimerId {
        let then = Box::new(then);
        self.shared.lock().schedule(deadline, then)
    }
}

impl Cancel for TokioDelayQueue {
    #[inline]
    fn cancel(&self, handle: &TimerId) -> bool {
        // Dropped after the lock is released. A callback may own a value that uses the timer when it is dropped.
        let timer = self.shared.lock().cancel(handle);
        timer.is_some()
    }
}

impl Reset for TokioDelayQueue {
    #[inline]
    fn reset(&self, handle: &TimerId, deadline: Deadline) -> bool {
        self.shared.lock().reset(handle, deadline)
    }
}

impl fmt::Debug for TokioDelayQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokioDelayQueue").finish_non_exhaustive()
    }
}
