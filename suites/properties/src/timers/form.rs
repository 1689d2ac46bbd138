//! Callbacks, futures, threads and channels that wait for a deadline, as one type that can be armed and waited for. A
//! property is written once for all of them.

use std::future::poll_fn;
use std::iter::repeat_with;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::channel::{Polled, TakeError};
use flowmeter_harness::spec::timer::Shared;
use flowmeter_harness::sync::{Deadline, world};
use flowmeter_harness::timer::Fired;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::super::Case;
use crate::design::Rx;
use crate::design::timers::{Handle, Service, Sleeping, Timers, Way};

/// Long enough for a clock to tick, short enough for a race.
pub(super) const SOON: Duration = Duration::from_micros(50);

/// Delays of all lengths up to some seconds, short ones as frequent as long ones: below and beyond the ticks, slots
/// and turns of timer wheels.
pub(super) fn delays(seed: u64) -> impl Iterator<Item = Duration> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    repeat_with(move || {
        let bits = random.random_range(0..33_u32);
        Duration::from_nanos(random.random_range(0..1_u64 << bits))
    })
}

/// The moment `delay` from now.
pub(super) fn after(delay: Duration) -> Deadline {
    Deadline::after(world::now_nanos(), delay)
}

/// How late a timer may be where time stands still while any thread can run: designs count in whole milliseconds.
pub(super) const LATE: u64 = 1_000_000;

/// How late a timer of that way may be there.
pub(super) fn late(way: Way) -> u64 {
    match way {
        Way::Channel => Shared::LATE,
        Way::Call | Way::Future | Way::Thread => LATE,
    }
}

/// A model of timers.
pub(super) fn case(timers: Timers, name: impl Into<String>, model: fn(Timers)) -> Case {
    Case::new(name, move || model(timers))
}

/// A model for every way of waiting.
pub(super) fn case_of_each(
    timers: Timers,
    name: &str,
    model: impl Fn(Timers) + Send + Sync + 'static,
) -> Case {
    let way = match timers.way() {
        Way::Call => "callback",
        Way::Future => "future",
        Way::Thread => "thread",
        Way::Channel => "channel",
    };
    Case::new(format!("{way}, {name}"), move || model(timers))
}

/// One deadline that is waited for.
pub(super) enum Armed {
    /// By this callback.
    Call(Handle, Note),
    /// By a future that has been polled; `None` when it is ready.
    Future(Option<Sleeping>),
    /// By the thread that waits; nothing is armed before.
    Thread(Service, Deadline),
    /// By a channel that is closed.
    Channel(Rx<u32>),
}

impl Armed {
    /// Arms it in the way of that service.
    pub(super) fn at(deadline: Deadline, service: &Service) -> Armed {
        match service.timers().way() {
            Way::Call => Armed::call(deadline, service),
            Way::Future => Armed::sleep(deadline, service),
            Way::Thread => Armed::Thread(service.clone(), deadline),
            Way::Channel => {
                let left = deadline.as_nanos().saturating_sub(world::now_nanos());
                Armed::Channel(service.timeout(match deadline {
                    Deadline::NEVER => Duration::MAX,
                    _ => Duration::from_nanos(left),
                }))
            }
        }
    }

    /// Arms a callback.
    pub(super) fn call(deadline: Deadline, service: &Service) -> Armed {
        let note = Note::new();
        Armed::Call(service.schedule(deadline, note.callback()), note)
    }

    /// Polls a sleep once.
    pub(super) fn sleep(deadline: Deadline, service: &Service) -> Armed {
        let mut armed = Armed::Future(Some(service.sleep(deadline)));
        armed.has_fired();
        armed
    }

    /// Whether it has fired. A thread's wait is never seen to fire.
    pub(super) fn has_fired(&mut self) -> bool {
        match self {
            Armed::Call(_, note) => note.called().is_some(),
            Armed::Future(sleep) => {
                let mut context = Context::from_waker(Waker::noop());
                if let Some(future) = sleep
                    && future.as_mut().poll(&mut context).is_ready()
                {
                    *sleep = None;
                }
                sleep.is_none()
            }
            Armed::Thread(..) => false,
            Armed::Channel(rx) => rx.poll() == Polled::Closed,
        }
    }

    /// Blocks this thread until it fires. Returns when it did, in nanoseconds of the world's clock.
    pub(super) fn wait(self) -> u64 {
        match self {
            Armed::Call(_handle, note) => note.wait().at,
            Armed::Future(sleep) => {
                if let Some(future) = sleep {
                    world::block_on(future);
                }
                world::now_nanos()
            }
            Armed::Thread(service, deadline) => {
                service.block(deadline);
                world::now_nanos()
            }
            Armed::Channel(mut rx) => {
                is_closed(rx.take());
                world::now_nanos()
            }
        }
    }
}

/// Checks the answer to a take of a timeout.
#[track_caller]
pub(super) fn is_closed(answer: Result<u32, TakeError>) {
    holds_eq!(
        answer,
        Err(TakeError::Closed),
        "T1: a timeout is a channel without values"
    );
}

/// When a callback was called, and with which argument.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    pub(super) at: u64,
    /// The callback's argument.
    pub fired: Fired,
}

/// What happens to one callback.
pub struct Note(Arc<world::Mutex<Fate>>);

#[derive(Default)]
struct Fate {
    called: Option<Called>,
    dropped: bool,
    waker: Option<Waker>,
}

impl Clone for Note {
    fn clone(&self) -> Self {
        Note(self.0.clone())
    }
}

/// Held by a callback; records when it is dropped.
struct Held(Note);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.tell(|fate| fate.dropped = true);
    }
}

impl Note {
    /// For a callback that was not called yet.
    #[expect(clippy::new_without_default, reason = "it is of a callback")]
    pub fn new() -> Self {
        Note(Arc::new(world::Mutex::new(Fate::default())))
    }

    /// The callback.
    pub fn callback(&self) -> impl FnOnce(Fired) + Send + 'static {
        let held = Held(self.clone());
        move |fired| {
            let at = world::now_nanos();
            held.0.tell(|fate| fate.called = Some(Called { at, fired }));
        }
    }

    pub(super) fn called(&self) -> Option<Called> {
        self.0.with(|fate| fate.called)
    }

    /// Whether the callback was dropped.
    pub(super) fn is_dropped(&self) -> bool {
        self.0.with(|fate| fate.dropped)
    }

    /// Blocks this thread until the call.
    ///
    /// # Panics
    /// When the callback is dropped without a call.
    pub fn wait(&self) -> Called {
        let end = self.wait_for_end();
        end.unwrap_or_else(|| violated!("T2: a timer was dropped and never fired"))
    }

    /// Blocks this thread until the call, or until the callback is dropped without one.
    pub fn wait_for_end(&self) -> Option<Called> {
        let call = poll_fn(|context| {
            self.0.with(|fate| match fate.called {
                Some(called) => Poll::Ready(Some(called)),
                None if fate.dropped => Poll::Ready(None),
                None => {
                    fate.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            })
        });
        world::block_on(call)
    }

    fn tell(&self, what: impl FnOnce(&mut Fate)) {
        let waker = self.0.with(|fate| {
            what(fate);
            fate.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Blocks every thread that passes it until it is opened.
pub(super) struct Gate(Note);

impl Clone for Gate {
    fn clone(&self) -> Self {
        Gate(self.0.clone())
    }
}

impl Gate {
    pub(super) fn new() -> Self {
        Gate(Note::new())
    }

    /// Opens it by running its callback.
    pub(super) fn open(&self) {
        let fired = Fired {
            due: Deadline::from_nanos(0),
            claimed_nanos: None,
        };
        (self.0.callback())(fired);
    }

    pub(super) fn pass(&self) {
        self.0.wait();
    }
}
