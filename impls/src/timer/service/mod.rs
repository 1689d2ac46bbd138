//! A timer service: one lock around an [`Agenda`], and one thread that sleeps until the next timer may be due.
//!
//! Deadlines are nanoseconds of the monotonic clock. The thread is woken only for a deadline earlier than the one that
//! it sleeps for. It runs callbacks one after the other, in the order of their deadlines, outside the lock. A panic of
//! a callback is counted and does not propagate.
//!
//! Due timers are called in rounds. A round picks them in steps and calls each step as it is picked. A timer armed
//! after a round began waits for the next round, however early its deadline. So a callback that arms itself again in
//! the past does not delay other timers (T5). Between two steps other threads can take the lock. A callback can be
//! cancelled until the moment it is called. The futures of a step are woken together, since a late wake-up of a dropped
//! future is harmless.
//!
//! The functions on the path of arming and cancelling are `inline(always)`. In a large program the compiler made a
//! dozen calls of them.

mod agenda;
mod call;
mod gate;
mod numbers;
mod slab;
mod sleep;
mod spinning;
mod tail;

use std::fmt;
use std::time::Duration;

use flowmeter_harness::channel::{Channels, Message};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{
    BlockingSleep, Cancel, Coalesce, Fired, Reset, Sleep, Timeouts, Timers,
};

use crate::channel::trampoline;
use crate::own_thread::OwnThread;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, MutexGuard, clock, precise_wakeups, spin_hint, spinning_pays};

use super::closing;
use super::contained::Contained;
use super::window;

pub use agenda::{Agenda, Index, Key};
pub use sleep::SleepFuture;
pub use spinning::Spinning;

pub(super) use agenda::Progress;
pub(super) use slab::{Link, Picked, Slab};

use agenda::{STEP, sort};
use call::Call;
use gate::Gate;
use slab::{Claim, Name};
use tail::Tail;

/// A timer service. Dropping it ends its thread. Armed callbacks are dropped uncalled, sleepers are woken, and timeouts
/// close (T8).
pub struct TimerService<I: Index> {
    shared: Arc<Shared<I>>,
    thread: OwnThread,
}

struct Shared<I> {
    state: Gate<State<I>>,
    changed: Condvar,
    /// Tells a thread that spins on the clock to look at its state instead.
    interrupted: AtomicBool,
    contained: Contained,
}

/// What the lock guards.
struct State<I> {
    agenda: Agenda<I, Call>,
    /// The deadline that the thread sleeps until, or that it is about to be woken for. `None` while it runs: it looks
    /// again before it sleeps.
    asleep_until: Option<Deadline>,
    /// The last deadline that the thread was to sleep until. Cancelling that timer leaves it unchanged: one useless
    /// wake-up is cheaper than a wake-up for each timer that comes and goes.
    alarm: Deadline,
    /// Whether the thread is to end.
    stopping: bool,
}

/// Names one timer for ever, and uniquely among all services.
#[derive(Debug)]
pub struct Handle(Name);

impl<I: Index> State<I> {
    /// Whether the thread has to be woken for that deadline.
    #[inline(always)]
    fn oversleeps(&mut self, due: Deadline) -> bool {
        let Some(until) = self.asleep_until.filter(|until| due < *until) else {
            return false;
        };
        // The index may want to look later than the deadline: at the end of a tick.
        let next = self.agenda.next();
        let oversleeps = next < until;
        if oversleeps {
            self.asleep_until = Some(next);
            self.alarm = next;
        }
        oversleeps
    }

    /// Until when the thread sleeps, after it has seen at `now` that nothing is due.
    fn fall_asleep(&mut self, now: u64) -> Deadline {
        let next = self.agenda.next();
        let is_ahead = self.alarm.as_nanos() > now;
        self.alarm = if is_ahead { next.min(self.alarm) } else { next };
        self.asleep_until = Some(self.alarm);
        self.alarm
    }

    /// Claims what is called next of a batch, and returns how many of its timers are done with. That is either one
    /// callback, since a callback can be cancelled until it begins, or several wakers, since a waker of a dropped
    /// future is harmless.
    fn claim_some(&mut self, batch: &[Picked], calls: &mut Vec<(Deadline, Call)>) -> usize {
        let mut done = 0;
        for picked in batch.iter().take(STEP) {
            let is_first = calls.is_empty();
            match self
                .agenda
                .claim_if(*picked, |call| call.wakes() || is_first)
            {
                Claim::Gone => done += 1,
                Claim::Left => break,
                Claim::Taken(call) => {
                    done += 1;
                    let is_callback = !call.wakes();
                    calls.push((picked.due, call));
                    if is_callback {
                        break;
                    }
                }
            }
        }
        done
    }
}

impl<I: Index> TimerService<I> {
    /// Starts a service with a thread of its own.
    pub fn new() -> Self {
        let shared = Arc::new(Shared {
            state: Gate::new(State {
                agenda: Agenda::default(),
                asleep_until: None,
                alarm: Deadline::NEVER,
                stopping: false,
            }),
            changed: Condvar::new(),
            interrupted: AtomicBool::new(false),
            contained: Contained::new(),
        });
        let working = Arc::clone(&shared);
        let thread = OwnThread::start(move || {
            precise_wakeups();
            working.serve();
        });
        TimerService { shared, thread }
    }

    /// How many callbacks have panicked, when called or when dropped at the end of the service.
    pub fn panics(&self) -> u64 {
        self.shared.contained.panics()
    }
}

impl<I: Index> Default for TimerService<I> {
    fn default() -> Self {
        TimerService::new()
    }
}

impl<I: Index> fmt::Debug for TimerService<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TimerService")
    }
}

impl<I: Index> Drop for TimerService<I> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.stopping = true;
        let uncalled = state.agenda.take_all();
        drop(state);
        self.shared.wake();
        // Before joining the thread: it may run a callback that waits for one of these, or for a sleeper.
        for call in uncalled {
            self.shared.contained.run(|| call.abandon());
        }
        self.thread.join();
    }
}

impl<I: Index> Shared<I> {
    /// Arms a timer; after the end of the service the call is returned. Inlined into the caller, or its result would go
    /// through memory.
    #[inline(always)]
    fn schedule(&self, due: Deadline, call: Call) -> Result<Handle, Call> {
        let state = self.state.lock();
        self.schedule_in(state, due, call)
    }

    #[inline(always)]
    fn schedule_in(
        &self,
        mut state: MutexGuard<'_, State<I>>,
        due: Deadline,
        call: Call,
    ) -> Result<Handle, Call> {
        if state.stopping {
            return Err(call);
        }
        let name = state.agenda.add(due, call);
        let wake = state.oversleeps(due);
        drop(state);
        if wake {
            self.wake();
        }
        Ok(Handle(name))
    }

    /// Arms a timer for a sleeper. The call is returned if there is nothing to wait for: the moment has passed, or the
    /// service has ended. No clock is read where the thread looks by then anyway. Elsewhere the brisk clock is read
    /// first. It lags a little, so only the system's clock decides that the moment has passed.
    #[inline(always)]
    fn schedule_sleep(&self, due: Deadline, call: Call) -> Result<Handle, Call> {
        let state = self.state.lock();
        let is_awaited = state.asleep_until.is_some_and(|until| until <= due);
        if !is_awaited && clock::brisk_nanos() >= due.as_nanos() && clock::has_passed(due) {
            return Err(call);
        }
        self.schedule_in(state, due, call)
    }

    /// Arms a callback. After the end of the service it is dropped uncalled, like those before it.
    #[inline]
    fn schedule_call(&self, due: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> Handle {
        let scheduled = self.schedule(due, Call::back(then));
        scheduled.unwrap_or(Handle(Name::OF_NONE))
    }

    #[inline]
    fn cancel(&self, handle: &Handle) -> bool {
        // A callback's own drop is foreign code: outside the lock.
        let disarmed = self.state.lock().agenda.remove(handle.0);
        disarmed.is_some()
    }

    /// Makes the thread look again.
    fn wake(&self) {
        if I::SPINS {
            // Relaxed: the thread takes the lock before it relies on anything.
            self.interrupted.store(true, Ordering::Relaxed);
        }
        self.changed.notify_one();
    }

    fn reset(&self, handle: &Handle, due: Deadline) -> bool {
        let mut state = self.state.lock();
        let armed = state.agenda.put_off(handle.0, due);
        let wake = armed && state.oversleeps(due);
        drop(state);
        if wake {
            self.wake();
        }
        armed
    }

    /// Sleeps until shortly before that moment, and spins on the clock for the rest.
    fn wait_spinning<'a>(
        &'a self,
        state: MutexGuard<'a, State<I>>,
        until: Deadline,
        tail: &mut Tail,
    ) -> MutexGuard<'a, State<I>> {
        let lead = if spinning_pays() { tail.lead() } else { 0 };
        if lead == 0 || until == Deadline::NEVER {
            return self.changed.wait_until(state, until).0;
        }
        let sooner = until.as_nanos().saturating_sub(lead);
        self.interrupted.store(false, Ordering::Relaxed);
        let asleep_from = clock::now_nanos();
        let (state, _) = self.changed.wait_until(state, Deadline::from_nanos(sooner));
        let mut now = clock::now_nanos();
        if now < sooner {
            // The state has changed.
            return state;
        }
        // Only a wake-up by the system, after an actual sleep, says how late the system is.
        if asleep_from < sooner && !self.interrupted.load(Ordering::Relaxed) {
            tail.woken(now - sooner);
        }
        drop(state);
        let mut apart = 0;
        while now < until.as_nanos() && !self.interrupted.load(Ordering::Relaxed) {
            spin_hint();
            let next = clock::now_nanos();
            apart = apart.max(next - now);
            now = next;
        }
        tail.looked(apart);
        self.state.lock()
    }

    /// The main loop of the thread.
    fn serve(&self) {
        let (mut batch, mut calls) = (Vec::new(), Vec::with_capacity(STEP));
        let mut tail = Tail::new();
        let mut state = self.state.lock();
        while !state.stopping {
            let now = clock::now_nanos();
            let mut is_idle = true;
            let mut progress = Progress::Looking;
            state.agenda.begin(now, &mut batch);
            while progress != Progress::Whole {
                progress = state.agenda.pick(&mut batch);
                if progress == Progress::Looking {
                    drop(state);
                    state = self.state.lock_again();
                } else if !batch.is_empty() {
                    is_idle = false;
                    state = self.call(state, now, &mut batch, &mut calls);
                }
            }
            // The service may have been dropped between two steps: then nothing would wake a thread that sleeps now.
            if is_idle && !state.stopping {
                let until = state.fall_asleep(now);
                state = match I::SPINS {
                    false => self.changed.wait_until(state, until).0,
                    true => self.wait_spinning(state, until, &mut tail),
                };
                state.asleep_until = None;
            }
        }
    }

    /// Calls the timers of a batch. The first are claimed under the same lock under which they were picked, while they
    /// are in the cache.
    fn call<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<I>>,
        now: u64,
        batch: &mut Vec<Picked>,
        calls: &mut Vec<(Deadline, Call)>,
    ) -> MutexGuard<'a, State<I>> {
        if batch.len() > 2 * STEP {
            // Sorting it takes longer than other threads should wait for the lock.
            drop(state);
            sort(batch);
            state = self.state.lock_again();
        } else {
            sort(batch);
        }
        let mut rest = &batch[..];
        while !rest.is_empty() {
            let done = state.claim_some(rest, calls);
            rest = &rest[done..];
            drop(state);
            self.fire(now, calls);
            state = self.state.lock_again();
        }
        batch.clear();
        state
    }

    /// Fires what was claimed in the round that began at `now`. All calls share one `contain`; after a panic the rest
    /// follow in another.
    fn fire(&self, now: u64, calls: &mut Vec<(Deadline, Call)>) {
        let mut claimed = calls.drain(..);
        while claimed.len() > 0 {
            self.contained.run(|| {
                for (due, call) in claimed.by_ref() {
                    call.fire(Fired {
                        due,
                        claimed_nanos: Some(now),
                    });
                }
            });
        }
    }
}

impl<I: Index> Timers for TimerService<I> {
    type Handle = Handle;

    fn start() -> Self {
        TimerService::new()
    }

    #[inline]
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> Handle {
        self.shared.schedule_call(deadline, then)
    }
}

impl<I: Index> Cancel for TimerService<I> {
    #[inline]
    fn cancel(&self, handle: &Handle) -> bool {
        self.shared.cancel(handle)
    }
}

impl<I: Index> Coalesce for TimerService<I> {
    fn schedule_within(
        &self,
        deadline: Deadline,
        window: Duration,
        then: impl FnOnce(Fired) + Send + 'static,
    ) -> Handle {
        self.shared
            .schedule_call(window::roundest(deadline, window), then)
    }
}

impl<I: Index> Reset for TimerService<I> {
    #[inline]
    fn reset(&self, handle: &Handle, deadline: Deadline) -> bool {
        self.shared.reset(handle, deadline)
    }
}

impl<I: Index> Sleep for TimerService<I> {
    fn start() -> Self {
        TimerService::new()
    }
    fn sleep_until(&self, deadline: Deadline) -> impl Future<Output = ()> + Send + 'static {
        SleepFuture::new(Arc::clone(&self.shared), deadline)
    }
}

impl<I: Index> BlockingSleep for TimerService<I> {
    fn start() -> Self {
        TimerService::new()
    }
    fn sleep_until(&self, deadline: Deadline) {
        trampoline::block_on(SleepFuture::new(Arc::clone(&self.shared), deadline));
    }
}

/// Each timeout is a fresh channel. Nothing is shared, so closing one timeout closes no other.
impl<C: Channels, I: Index> Timeouts<C> for TimerService<I> {
    fn start() -> Self {
        TimerService::new()
    }
    fn timeout<T: Message>(&self, delay: Duration) -> C::Rx<T> {
        let (closing, rx) = closing::open::<C, T>();
        self.shared
            .schedule_call(clock::after(delay), move |_| drop(closing));
        rx
    }
}
