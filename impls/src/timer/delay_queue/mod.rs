//! `delay_queue`: core.async's `timers.clj` over `java.util.concurrent.DelayQueue`.
//!
//! There are three parts, as in the original. Due entries come out of a delay queue. An ordered concurrent map
//! lets a timeout share the channel of another that is close enough. One daemon takes what is due from the queue,
//! removes it from the map and closes its channel.
//!
//! No lock spans map and queue, as in the original. The map is updated first, so most simultaneous requests find
//! each other; two that miss each other cost one more channel. If one of the sharing consumers closes a channel
//! early, the channel stays in both parts until it is due, and further requests still receive it.
//!
//! Three differences are deliberate. Deadlines are milliseconds of the monotonic clock, rounded up; the original
//! truncates the wall clock and fires up to 1 ms early (T1). A delay that overflows never ends (T4). The daemon
//! ends with its service (T8). There is no cancel, since the original has none.
//!
//! Source: `clojure.core.async.impl.timers`, version 1.5.648; `DelayQueue` of JDK 17.

mod coalesced;
mod queue;

use std::any::Any;
use std::fmt;
use std::time::Duration;

use flowmeter_harness::channel::{Channels, Message};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{Fired, Timeouts, Timers};

use crate::own_thread::OwnThread;
use crate::sync::{Arc, clock};

use super::closing;
use super::contained::Contained;

use coalesced::{Coalesced, Key, Shared};
use queue::DelayQueue;

const NANOS_PER_MS: u64 = 1_000_000;

/// A timer service. Dropping it ends its daemon. Armed callbacks are dropped uncalled, and timeouts close (T8).
pub struct DelayQueueTimers {
    parts: Arc<Parts>,
    daemon: OwnThread,
}

struct Parts {
    queue: DelayQueue<Entry>,
    timeouts: Coalesced,
    contained: Contained,
}

/// An entry of the queue.
enum Entry {
    /// A channel to close, by dropping what closes it.
    Timeout {
        /// Where other requests find it; `None` for a channel with a single consumer, which cannot be shared.
        shared: Option<(Key, Shared)>,
        closing: Box<dyn Any + Send>,
    },
    /// A callback to run.
    Callback {
        asked: Deadline,
        then: Box<dyn FnOnce(Fired) + Send>,
    },
}

impl DelayQueueTimers {
    /// Starts a service with a daemon of its own.
    pub fn new() -> Self {
        let parts = Arc::new(Parts {
            queue: DelayQueue::new(),
            timeouts: Coalesced::new(),
            contained: Contained::new(),
        });
        let working = Arc::clone(&parts);
        let daemon = OwnThread::start(move || working.serve());
        DelayQueueTimers { parts, daemon }
    }

    /// How many callbacks have panicked, when called or when dropped at the end of the service.
    pub fn panics(&self) -> u64 {
        self.parts.contained.panics()
    }
}

impl Default for DelayQueueTimers {
    fn default() -> Self {
        DelayQueueTimers::new()
    }
}

impl fmt::Debug for DelayQueueTimers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DelayQueueTimers")
    }
}

impl Drop for DelayQueueTimers {
    fn drop(&mut self) {
        // Before joining the daemon: it may run a callback that waits for one of these.
        for entry in self.parts.queue.close() {
            self.parts.contained.run(|| self.parts.end(entry));
        }
        self.daemon.join();
    }
}

impl Parts {
    /// The main loop of the daemon.
    fn serve(&self) {
        while let Some(entry) = self.queue.take() {
            let claimed_nanos = Some(clock::now_nanos());
            self.contained.run(|| match entry {
                Entry::Callback { asked, then } => then(Fired {
                    due: asked,
                    claimed_nanos,
                }),
                timeout => self.end(timeout),
            });
        }
    }

    /// Drops an entry: a timeout is removed from the map, then closed.
    fn end(&self, entry: Entry) {
        if let Entry::Timeout { shared, closing } = entry {
            if let Some((key, shared)) = shared {
                self.timeouts.remove(key, &shared);
            }
            drop(closing);
        }
    }
}

/// The first whole millisecond that is not before the deadline.
fn whole_ms(deadline: Deadline) -> u64 {
    deadline.as_nanos().div_ceil(NANOS_PER_MS)
}

/// A whole millisecond as a deadline; the last one never comes.
fn at_ms(ms: u64) -> Deadline {
    Deadline::from_nanos(ms.saturating_mul(NANOS_PER_MS))
}

impl Timers for DelayQueueTimers {
    /// An armed timer supports no operation.
    type Handle = ();

    fn start() -> Self {
        DelayQueueTimers::new()
    }
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) {
        let callback = Entry::Callback {
            asked: deadline,
            then: Box::new(then),
        };
        // Never before this millisecond, as in the original, which only knows delays. So a callback that arms
        // itself again in the past comes behind what is due (T5).
        let due_ms = whole_ms(deadline).max(clock::now_nanos() / NANOS_PER_MS);
        self.parts.queue.offer(at_ms(due_ms), callback);
    }
}

impl<C: Channels> Timeouts<C> for DelayQueueTimers {
    fn start() -> Self {
        DelayQueueTimers::new()
    }
    fn timeout<T: Message>(&self, delay: Duration) -> C::Rx<T> {
        let Parts {
            queue, timeouts, ..
        } = &*self.parts;
        let due_ms = whole_ms(clock::after(delay));
        let key = Key::of::<C, T>(due_ms);
        if let Some(rx) = timeouts.find::<C, T>(key) {
            return rx;
        }
        let (closing, rx) = closing::open::<C, T>();
        let shared = C::another_rx(&rx).map(|another| (key, Shared::new::<C, T>(another)));
        if let Some((key, shared)) = &shared {
            timeouts.insert(*key, shared.clone());
        }
        let closing = Box::new(closing);
        queue.offer(at_ms(due_ms), Entry::Timeout { shared, closing });
        rx
    }
}
