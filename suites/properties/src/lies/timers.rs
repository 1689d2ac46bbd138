//! Faults injected into timers: when and whether they fire, and what they leave behind.

use std::mem::forget;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Fired;

use super::deadlines::other;
use super::future::awaited;
use super::{channels, told};
use crate::design::channels::Half;
use crate::design::timers::{
    Awaits, Blocks, Calls, Cancels, Closes, Coalesces, Design, Handle, Resets, Running, Sleeping,
    Tables, Then,
};

/// A design that behaves like the real one, except for one fault.
pub(crate) fn lying(design: Design) -> Design {
    let real = design.tables;
    let lying: &'static Lying = Box::leak(Box::new(Lying(real)));
    Design {
        implementation: design.implementation,
        tables: Box::leak(Box::new(Tables {
            calls: real.calls.map(|_| lying as _),
            cancels: real.cancels.map(|_| lying as _),
            resets: real.resets.map(|_| lying as _),
            coalesces: real.coalesces.map(|_| lying as _),
            awaits: real.awaits.map(|_| lying as _),
            blocks: real.blocks.map(|_| lying as _),
            closes: real
                .closes
                .map(|(_, real)| (lying as _, channels::channels(real))),
        })),
    }
}

/// Tables with faults, in front of the real ones.
struct Lying(&'static Tables);

/// A service that a fault may keep from shutting down.
struct Service {
    /// `None` only while it is dropped.
    real: Option<Running>,
}

const HAD: &str = "a design that lies has what the other has";

fn started(real: Running) -> Running {
    Arc::new(Service { real: Some(real) })
}

/// The real service.
fn real(service: &Running) -> &Running {
    let service = service.downcast_ref::<Service>();
    let real = service.and_then(|service| service.real.as_ref());
    real.expect("a service is there until it is dropped")
}

impl Drop for Service {
    fn drop(&mut self) {
        let real = self.real.take();
        if told("a timer is not shut down") {
            forget(real);
        }
    }
}

impl Lying {
    fn calls(&self) -> &'static dyn Calls {
        self.0.calls.expect(HAD)
    }

    fn cancels(&self) -> &'static dyn Cancels {
        self.0.cancels.expect(HAD)
    }
}

impl Calls for Lying {
    fn start(&self) -> Running {
        started(self.calls().start())
    }

    fn schedule(&self, service: &Running, deadline: Deadline, then: Then) -> Handle {
        let (calls, service) = (self.calls(), real(service));
        if told("a callback is called at once") {
            then(Fired {
                due: deadline,
                claimed_nanos: None,
            });
            return calls.schedule(service, deadline, Box::new(|_| {}));
        }
        if told("a callback is dropped at once") {
            drop(then);
            return calls.schedule(service, deadline, Box::new(|_| {}));
        }
        if told("a callback has a timer of its own") {
            // It ends with the call, and nothing waits for it.
            let own = calls.start();
            let held = Arc::clone(&own);
            let then = move |fired| {
                then(fired);
                drop(held);
            };
            return calls.schedule(&own, deadline, Box::new(then));
        }
        let kept = other(deadline);
        let (forgotten, renamed) = (
            told("a callback is forgotten"),
            told("a callback is told of another deadline"),
        );
        // Whatever happens to the timer, the callback is not dropped.
        let outlives = told("a callback that is not called is not dropped");
        let then = Kept(Some(then), outlives);
        let then = move |fired: Fired| {
            let mut then = then;
            let then = then.0.take();
            if forgotten {
                forget(then);
                return;
            }
            let due = match renamed {
                true => Deadline::from_nanos(fired.due.as_nanos() ^ 1),
                // A fault in the deadline shows in the moment alone.
                false if kept == deadline => fired.due,
                false => deadline,
            };
            if let Some(then) = then {
                then(Fired { due, ..fired });
            }
        };
        calls.schedule(service, kept, Box::new(then))
    }
}

/// A callback, and whether it is leaked instead of dropped.
struct Kept(Option<Then>, bool);

impl Drop for Kept {
    fn drop(&mut self) {
        if self.1 {
            forget(self.0.take());
        }
    }
}

impl Cancels for Lying {
    fn cancel(&self, service: &Running, handle: &Handle) -> bool {
        if told("a cancel does nothing and answers true") {
            return true;
        }
        if told("a cancel does nothing and answers false") {
            return false;
        }
        self.cancels().cancel(real(service), handle) ^ told("a cancel is answered otherwise")
    }
}

impl Coalesces for Lying {
    fn schedule_within(
        &self,
        service: &Running,
        deadline: Deadline,
        window: Duration,
        then: Then,
    ) -> Handle {
        let (coalesces, service) = (self.0.coalesces.expect(HAD), real(service));
        if told("a window is taken for longer than it is") {
            return coalesces.schedule_within(service, deadline, 2 * window, then);
        }
        if told("a window begins early") {
            let earlier = Deadline::from_nanos(deadline.as_nanos() / 2);
            return coalesces.schedule_within(service, earlier, window, then);
        }
        if told("a timer is told the beginning of its window") {
            let then = move |fired| {
                then(Fired {
                    due: deadline,
                    ..fired
                })
            };
            return coalesces.schedule_within(service, deadline, window, Box::new(then));
        }
        if told("a window is not used") {
            return self.calls().schedule(service, deadline, then);
        }
        if told("two of one window are one timer") {
            let first = coalesces.schedule_within(service, deadline, window, Box::new(|_| {}));
            self.cancels().cancel(service, &first);
            drop(then);
            return first;
        }
        coalesces.schedule_within(service, deadline, window, then)
    }
}

impl Resets for Lying {
    fn reset(&self, service: &Running, handle: &Handle, deadline: Deadline) -> bool {
        if told("a reset does nothing and answers true") {
            return true;
        }
        if told("a reset does nothing and answers false") {
            return false;
        }
        let resets = self.0.resets.expect(HAD);
        resets.reset(real(service), handle, other(deadline)) ^ told("a reset is answered otherwise")
    }
}

impl Awaits for Lying {
    fn start(&self) -> Running {
        started(self.0.awaits.expect(HAD).start())
    }

    fn sleep(&self, service: &Running, deadline: Deadline) -> Sleeping {
        let sleep = self
            .0
            .awaits
            .expect(HAD)
            .sleep(real(service), other(deadline));
        Box::pin(awaited(sleep))
    }
}

impl Blocks for Lying {
    fn start(&self) -> Running {
        started(self.0.blocks.expect(HAD).start())
    }

    fn sleep(&self, service: &Running, deadline: Deadline) {
        self.0
            .blocks
            .expect(HAD)
            .sleep(real(service), other(deadline));
    }
}

impl Closes for Lying {
    fn start(&self) -> Running {
        started(self.0.closes.expect(HAD).0.start())
    }

    fn timeout(&self, service: &Running, delay: Duration) -> Half {
        let (closes, of) = self.0.closes.expect(HAD);
        if told("a timeout has a value")
            && let Some((mut tx, rx)) = of.open::<u32>(Buffer::fixed(1))
        {
            let _ = tx.offer(1);
            // It is never closed.
            forget(tx);
            return channels::taker(rx.half);
        }
        let delay = if told("a timeout is at once") {
            Duration::ZERO
        } else if told("a timeout is never") {
            Duration::MAX
        } else if told("a timeout is a millisecond early") {
            delay.saturating_sub(Duration::from_millis(1))
        } else if told("a timeout is late") {
            delay.saturating_add(Duration::from_millis(21))
        } else if told("a timeout is a millisecond late") {
            delay.saturating_add(Duration::from_millis(1))
        } else {
            delay
        };
        channels::taker(closes.timeout(real(service), delay))
    }
}
