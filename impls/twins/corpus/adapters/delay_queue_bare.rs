//! tokio-util's `DelayQueue` without the late timer that the adapter of measurements keeps in it. Every call enters the runtime,
//! because an insert into an empty queue makes a sleep.

use ::std::fmt;
use ::std::future::poll_fn;
use ::std::pin::Pin;
use ::std::sync::atomic::{AtomicU64, Ordering};
use ::std::task::{Context, Poll, Waker};
use ::std::time::Duration;

use ::tokio::time::{Instant, Sleep, sleep_until};
use ::tokio_util::time::DelayQueue;
use ::tokio_util::time::delay_queue::Key;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{Cancel, Fired, Reset, Timers};

use super::tokio_runtime::OwnRuntime;
use crate::sync::{Arc, Mutex, clock, contain};

/// A queue that threads share, and a runtime with one thread on which it fires.
pub struct Bare<const PEEKING: bool = false> {
    runtime: OwnRuntime,
    shared: Arc<Mutex<Armed>>,
}

/// Fires what `DelayQueue::peek` names, at the deadline of that key.
#[cfg(feature = "delay-queue-peek")]
pub type Peeking = Bare<true>;

/// Names one timer.
#[derive(Debug)]
pub struct TimerId {
    slot: usize,
    id: u64,
}

/// The number of the next timer of any service.
static NEXT: AtomicU64 = AtomicU64::new(0);

struct Timer {
    id: u64,
    due: Deadline,
    key: Key,
    then: Box<dyn FnOnce(Fired) + Send>,
}

/// One second less than the queue accepts, because the queue reads the clock itself.
fn longest() -> Duration {
    Duration::from_millis(1 << 36) - Duration::from_secs(1)
}

struct Armed {
    queue: DelayQueue<usize>,
    slots: Vec<Option<Timer>>,
    free: Vec<usize>,
    horizon: Deadline,
    waker: Option<Waker>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Armed {
    /// A deadline that the queue does not accept is the latest that it does. Such a timer stays in the queue. One that has
    /// passed is asked for a tick earlier, because the queue rounds up.
    fn instant(&self, deadline: Deadline) -> Instant {
        if deadline <= clock::after(Duration::ZERO)
            && let Some(passed) = Instant::now().checked_sub(Duration::from_millis(1))
        {
            return passed;
        }
        let at = clock::instant(deadline).filter(|_| deadline <= self.horizon);
        let at = at.or_else(|| clock::instant(self.horizon));
        at.expect("the horizon is on the clock").into()
    }

    fn named(&mut self, name: &TimerId) -> Option<&mut Timer> {
        let timer = self.slots.get_mut(name.slot)?.as_mut();
        timer.filter(|timer| timer.id == name.id)
    }

    fn take(&mut self, slot: usize) -> Option<Timer> {
        let timer = self.slots[slot].take()?;
        self.free.push(slot);
        Some(timer)
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<Timer> {
        loop {
            let expired = match self.queue.poll_expired(context) {
                #[cfg(not(feature = "older-delay-queue"))]
                Poll::Ready(Some(expired)) => expired,
                #[cfg(feature = "older-delay-queue")]
                Poll::Ready(Some(expired)) => expired.expect("the runtime has a timer"),
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            };
            let slot = expired.into_inner();
            let due = self.slots[slot].as_ref().map(|timer| timer.due);
            let due = due.expect("what is in the queue has a slot");
            if due <= clock::after(Duration::ZERO) {
                let timer = self.take(slot);
                return Poll::Ready(timer.expect("it was just there"));
            }
            // It was as late as the queue accepted.
            self.horizon = clock::after(longest());
            let key = self.queue.insert_at(slot, self.instant(due));
            if let Some(timer) = &mut self.slots[slot] {
                timer.key = key;
            }
        }
    }

    #[cfg(feature = "delay-queue-peek")]
    fn poll_peeked(&mut self, context: &mut Context<'_>) -> Poll<Timer> {
        self.waker = Some(context.waker().clone());
        let Some(key) = self.queue.peek() else {
            return Poll::Pending;
        };
        let at = self.queue.deadline(&key);
        if self
            .sleep
            .as_ref()
            .is_none_or(|sleep| sleep.deadline() != at)
        {
            self.sleep = Some(Box::pin(sleep_until(at)));
        }
        let sleep = self.sleep.as_mut().expect("it was just made");
        ::std::task::ready!(sleep.as_mut().poll(context));
        self.sleep = None;
        let slot = self.queue.remove(&key).into_inner();
        let timer = self.take(slot);
        Poll::Ready(timer.expect("what is in the queue has a slot"))
    }

    #[cfg(not(feature = "delay-queue-peek"))]
    fn poll_peeked(&mut self, _: &mut Context<'_>) -> Poll<Timer> {
        unreachable!("no type of the corpus asks for it")
    }
}

async fn drive<const PEEKING: bool>(shared: Arc<Mutex<Armed>>) {
    loop {
        let timer = poll_fn(|context| match PEEKING {
            false => shared.lock().poll_due(context),
            true => shared.lock().poll_peeked(context),
        });
        let timer = timer.await;
        let fired = Fired {
            due: timer.due,
            claimed_nanos: None,
        };
        let _ = contain(|| (timer.then)(fired));
    }
}

impl<const PEEKING: bool> Bare<PEEKING> {
    /// Calls it with the queue in the context of the runtime, and wakes a task that peeks.
    fn with<A>(&self, call: impl FnOnce(&mut Armed) -> A) -> A {
        let _context = self.runtime.enter();
        let mut armed = self.shared.lock();
        let answer = call(&mut armed);
        let waker = armed.waker.take();
        drop(armed);
        if let Some(waker) = waker {
            waker.wake();
        }
        answer
    }
}

impl<const PEEKING: bool> Drop for Bare<PEEKING> {
    fn drop(&mut self) {
        let armed = self.with(|armed| {
            armed.queue.clear();
            ::std::mem::take(&mut armed.slots)
        });
        for timer in armed {
            let _ = contain(|| drop(timer));
        }
    }
}

impl<const PEEKING: bool> Timers for Bare<PEEKING> {
    type Handle = TimerId;

    fn start() -> Self {
        let runtime = OwnRuntime::of_timer();
        let context = runtime.enter();
        let shared = Arc::new(Mutex::new(Armed {
            queue: DelayQueue::new(),
            slots: Vec::new(),
            free: Vec::new(),
            horizon: clock::after(longest()),
            waker: None,
            sleep: None,
        }));
        drop(context);
        runtime.spawn(drive::<PEEKING>(Arc::clone(&shared)));
        Bare { runtime, shared }
    }

    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> TimerId {
        let then = Box::new(then);
        self.with(|armed| {
            let slot = armed.free.pop().unwrap_or_else(|| {
                armed.slots.push(None);
                armed.slots.len() - 1
            });
            let at = armed.instant(deadline);
            let key = armed.queue.insert_at(slot, at);
            let id = NEXT.fetch_add(1, Ordering::SeqCst);
            armed.slots[slot] = Some(Timer {
                id,
                due: deadline,
                key,
                then,
            });
            TimerId { slot, id }
        })
    }
}

impl<const PEEKING: bool> Cancel for Bare<PEEKING> {
    fn cancel(&self, handle: &TimerId) -> bool {
        let timer = self.with(|armed| {
            armed.named(handle)?;
            let timer = armed.take(handle.slot)?;
            armed.queue.remove(&timer.key);
            Some(timer)
        });
        timer.is_some()
    }
}

impl<const PEEKING: bool> Reset for Bare<PEEKING> {
    fn reset(&self, handle: &TimerId, deadline: Deadline) -> bool {
        self.with(|armed| {
            let at = armed.instant(deadline);
            let Some(timer) = armed.named(handle) else {
                return false;
            };
            timer.due = deadline;
            let key = &armed.slots[handle.slot]
                .as_ref()
                .expect("it was just found")
                .key;
            armed.queue.reset_at(key, at);
            true
        })
    }
}

impl<const PEEKING: bool> fmt::Debug for Bare<PEEKING> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bare").finish_non_exhaustive()
    }
}
