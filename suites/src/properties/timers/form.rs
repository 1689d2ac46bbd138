//! Callbacks, futures, threads and channels that wait for a deadline, as one thing that can be armed and waited
//! for, so that a property is written once for all of them.

use std::future::poll_fn;
use std::iter::repeat_with;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::channel::{Blocking, Polled, TakeError};
use flowmeter_harness::spec::timer::Shared;
use flowmeter_harness::sync::{Deadline, Lock, World};
use flowmeter_harness::timer::{BlockingSleep, Fired, Sleep, Timeouts, Timers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Long enough for a clock to tick, short enough to be met by a race.
pub(super) const SOON: Duration = Duration::from_micros(50);

/// Delays of all lengths up to some seconds, the short ones as frequent as the long ones: below and beyond the ticks,
/// slots and turns of wheels.
pub(super) fn delays(seed: u64) -> impl Iterator<Item = Duration> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    repeat_with(move || {
        let bits = random.random_range(0..33_u32);
        Duration::from_nanos(random.random_range(0..1_u64 << bits))
    })
}

/// The moment `delay` from now.
pub(super) fn after<W: World>(delay: Duration) -> Deadline {
    Deadline::after(W::now_nanos(), delay)
}

/// By how much a timer may come late where time stands still while anybody can run: designs count in whole milliseconds.
pub(super) const LATE: u64 = 1_000_000;

/// What waits for deadlines, in one of its ways.
pub(super) trait Form<W: World>: Sized + Send + Sync + 'static {
    /// How it waits, for the names of cases.
    const NAME: &'static str;

    /// As [`LATE`].
    const LATE: u64 = LATE;

    /// One deadline that is waited for.
    type Armed: Send + 'static;

    fn start() -> Self;

    /// What [`Form::wait`] waits for.
    fn arm(&self, deadline: Deadline) -> Self::Armed;

    /// Holds up this thread until it fires; answers when it did, in nanoseconds of the world's clock.
    fn wait(armed: Self::Armed) -> u64;
}

/// A form that waits from its arming on, whether or not a thread waits with it.
pub(super) trait Standing<W: World>: Form<W> {
    /// Whether it has fired.
    fn has_fired(armed: &mut Self::Armed) -> bool;
}

/// When a callback was called, and what with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    pub(super) at: u64,
    pub(crate) fired: Fired,
}

/// What becomes of one callback.
pub(crate) struct Note<W: World>(Arc<W::Mutex<Fate>>);

#[derive(Default)]
struct Fate {
    called: Option<Called>,
    dropped: bool,
    waker: Option<Waker>,
}

impl<W: World> Clone for Note<W> {
    fn clone(&self) -> Self {
        Note(self.0.clone())
    }
}

/// Held by a callback: tells when it is dropped.
struct Held<W: World>(Note<W>);

impl<W: World> Drop for Held<W> {
    fn drop(&mut self) {
        self.0.tell(|fate| fate.dropped = true);
    }
}

impl<W: World> Note<W> {
    pub(crate) fn new() -> Self {
        Note(Arc::new(W::Mutex::new(Fate::default())))
    }

    /// The callback.
    pub(crate) fn callback(&self) -> impl FnOnce(Fired) + Send + 'static {
        let held = Held(self.clone());
        move |fired| {
            let at = W::now_nanos();
            held.0.tell(|fate| fate.called = Some(Called { at, fired }));
        }
    }

    pub(super) fn called(&self) -> Option<Called> {
        self.0.with(|fate| fate.called)
    }

    /// Whether the callback exists no more.
    pub(super) fn is_dropped(&self) -> bool {
        self.0.with(|fate| fate.dropped)
    }

    /// Holds up this thread until the call.
    ///
    /// # Panics
    /// When the callback is dropped uncalled.
    pub(crate) fn wait(&self) -> Called {
        let end = self.wait_for_end();
        end.unwrap_or_else(|| violated!("T2: a timer was dropped and never fired"))
    }

    /// Holds up this thread until the call, or until the callback is dropped uncalled.
    pub(crate) fn wait_for_end(&self) -> Option<Called> {
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
        W::block_on(call)
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

/// Holds up who comes to it until it is opened.
pub(super) struct Gate<W: World>(Note<W>);

impl<W: World> Clone for Gate<W> {
    fn clone(&self) -> Self {
        Gate(self.0.clone())
    }
}

impl<W: World> Gate<W> {
    pub(super) fn new() -> Self {
        Gate(Note::new())
    }

    /// As a callback that is called now.
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

/// Calls back.
pub(super) struct ByCall<T>(T);

impl<T: Timers, W: World> Form<W> for ByCall<T> {
    const NAME: &'static str = "callback";
    type Armed = (T::Handle, Note<W>);

    fn start() -> Self {
        ByCall(T::start())
    }
    fn arm(&self, deadline: Deadline) -> Self::Armed {
        let note = Note::new();
        (self.0.schedule(deadline, note.callback()), note)
    }
    fn wait((_, note): Self::Armed) -> u64 {
        note.wait().at
    }
}

impl<T: Timers, W: World> Standing<W> for ByCall<T> {
    fn has_fired((_, note): &mut Self::Armed) -> bool {
        note.called().is_some()
    }
}

/// Is awaited.
pub(super) struct BySleep<S>(S);

/// A future that has been polled; `None` when it is ready.
type Polling = Option<Pin<Box<dyn Future<Output = ()> + Send>>>;

impl<S: Sleep, W: World> Form<W> for BySleep<S> {
    const NAME: &'static str = "future";
    type Armed = Polling;

    fn start() -> Self {
        BySleep(S::start())
    }
    fn arm(&self, deadline: Deadline) -> Polling {
        let mut sleep: Polling = Some(Box::pin(self.0.sleep_until(deadline)));
        <Self as Standing<W>>::has_fired(&mut sleep);
        sleep
    }
    fn wait(sleep: Polling) -> u64 {
        if let Some(future) = sleep {
            W::block_on(future);
        }
        W::now_nanos()
    }
}

impl<S: Sleep, W: World> Standing<W> for BySleep<S> {
    fn has_fired(sleep: &mut Polling) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        if let Some(future) = sleep
            && future.as_mut().poll(&mut context).is_ready()
        {
            *sleep = None;
        }
        sleep.is_none()
    }
}

/// Holds up its thread, so that nothing is armed before the wait.
pub(super) struct ByThread<S>(Arc<S>);

impl<S: BlockingSleep, W: World> Form<W> for ByThread<S> {
    const NAME: &'static str = "thread";
    type Armed = (Arc<S>, Deadline);

    fn start() -> Self {
        ByThread(Arc::new(S::start()))
    }
    fn arm(&self, deadline: Deadline) -> Self::Armed {
        (self.0.clone(), deadline)
    }
    fn wait((service, deadline): Self::Armed) -> u64 {
        service.sleep_until(deadline);
        W::now_nanos()
    }
}

/// Closes a channel.
pub(super) struct ByChannel<S, C>(S, PhantomData<C>);

impl<S: Timeouts<C>, C: Blocking, W: World> Form<W> for ByChannel<S, C> {
    const NAME: &'static str = "channel";
    const LATE: u64 = Shared::LATE;
    type Armed = C::Rx<u32>;

    fn start() -> Self {
        ByChannel(S::start(), PhantomData)
    }
    fn arm(&self, deadline: Deadline) -> C::Rx<u32> {
        let left = deadline.as_nanos().saturating_sub(W::now_nanos());
        self.0.timeout(match deadline {
            Deadline::NEVER => Duration::MAX,
            _ => Duration::from_nanos(left),
        })
    }
    fn wait(mut rx: C::Rx<u32>) -> u64 {
        holds_eq!(
            C::take(&mut rx),
            Err(TakeError::Closed),
            "T1: a timeout is a channel without values"
        );
        W::now_nanos()
    }
}

impl<S: Timeouts<C>, C: Blocking, W: World> Standing<W> for ByChannel<S, C> {
    fn has_fired(rx: &mut C::Rx<u32>) -> bool {
        C::poll(rx) == Polled::Closed
    }
}
