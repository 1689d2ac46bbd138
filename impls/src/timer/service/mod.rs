//! A timer service: one lock around an [`Agenda`], and one thread that sleeps until it comes to something.
//!
//! Deadlines are nanoseconds of the monotonic clock. The thread is woken only for a deadline earlier than the one it
//! sleeps for. Callbacks run on it one after the other, in the order of their deadlines, outside the lock; what one of
//! them panics with is counted and goes no further. What is due is called in a round, in steps as it is picked: one that is
//! armed after a round began, however early its deadline, comes in the next, so that a callback that arms itself anew in the
//! past holds up nobody else (T5). Between two steps others may get the lock. A callback can be called off until the
//! moment it is called; futures are woken a step together, since a waker that comes too late does no harm.
//!
//! What arming and calling off pass through is `inline(always)`: left to the compiler, in a large program it was a dozen calls.

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

/// A timer service. Dropping it ends its thread: armed callbacks are dropped uncalled, and who sleeps or waits
/// for a timeout is answered (T8).
pub struct TimerService<I: Index> {
    shared: Arc<Shared<I>>,
    thread: OwnThread,
}

struct Shared<I> {
    state: Gate<State<I>>,
    changed: Condvar,
    /// Whether a thread that looks at the clock is to look at its state instead.
    interrupted: AtomicBool,
    contained: Contained,
}

/// Behind the lock.
struct State<I> {
    agenda: Agenda<I, Call>,
    /// Until when the thread sleeps, or what it is about to be woken for; `None` while it runs, and will look before
    /// it sleeps.
    asleep_until: Option<Deadline>,
    /// What the thread was last to sleep until. One that is called off leaves it: waking once for nothing is cheaper
    /// than being woken for each that comes and goes.
    alarm: Deadline,
    /// Whether the thread is to end.
    stopping: bool,
}

/// Names one timer for ever, and among those of all services.
#[derive(Debug)]
pub struct Handle(Name);

impl<I: Index> State<I> {
    /// Whether the thread has to be woken for that deadline.
    #[inline(always)]
    fn oversleeps(&mut self, due: Deadline) -> bool {
        let Some(until) = self.asleep_until.filter(|until| due < *until) else {
            return false;
        };
        // It may look later than the deadline: at the end of a tick.
        let next = self.agenda.next();
        let oversleeps = next < until;
        if oversleeps {
            self.asleep_until = Some(next);
            self.alarm = next;
        }
        oversleeps
    }

    /// Until when the thread sleeps that has seen at `now` that nothing is due.
    fn fall_asleep(&mut self, now: u64) -> Deadline {
        let next = self.agenda.next();
        let is_ahead = self.alarm.as_nanos() > now;
        self.alarm = if is_ahead { next.min(self.alarm) } else { next };
        self.asleep_until = Some(self.alarm);
        self.alarm
    }

    /// Takes off what is to be called next of a batch: one callback, since it can be called off until it begins, or several
    /// wakers, since one that comes after its future was dropped wakes nobody. Answers how many of the batch are done with.
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
    /// A service of its own.
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

    /// How many callbacks have panicked, when called or when dropped by the end of the service.
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
        // Before the wait for the thread: it may run a callback that waits for one of these, or for a sleeper.
        for call in uncalled {
            self.shared.contained.run(|| call.abandon());
        }
        self.thread.join();
    }
}

impl<I: Index> Shared<I> {
    /// Arms a timer; one that comes after the end is handed back. Compiled into who calls it, or its answer would go
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

    /// Arms a timer for who sleeps; one that need not wait, since the moment has passed or the service has ended, is handed
    /// back. No clock is asked where the thread looks by then anyway: if the moment has passed, so has the thread's. Elsewhere
    /// the brisk one is asked first; it is behind a little, so that it is the other's word that counts.
    #[inline(always)]
    fn schedule_sleep(&self, due: Deadline, call: Call) -> Result<Handle, Call> {
        let state = self.state.lock();
        let is_awaited = state.asleep_until.is_some_and(|until| until <= due);
        if !is_awaited && clock::brisk_nanos() >= due.as_nanos() && clock::has_passed(due) {
            return Err(call);
        }
        self.schedule_in(state, due, call)
    }

    /// Has `then` called. One that comes after the end is dropped uncalled, like those before it.
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

    /// Has the thread look again.
    fn wake(&self) {
        if I::SPINS {
            // Relaxed: it takes the lock before it believes anything.
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

    /// Sleeps until shortly before that moment, and looks at the clock for the rest.
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
            // There is something new to look at.
            return state;
        }
        // Who was woken by others, or had no time left to sleep, has learnt nothing of the system.
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

    /// What the thread does.
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
            // It may have been dropped between two steps: nobody would wake a thread that sleeps now.
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

    /// Calls what a batch holds. The first of it are claimed in the turn in which they were picked, while they are near.
    fn call<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<I>>,
        now: u64,
        batch: &mut Vec<Picked>,
        calls: &mut Vec<(Deadline, Call)>,
    ) -> MutexGuard<'a, State<I>> {
        if batch.len() > 2 * STEP {
            // To sort it takes longer than others are to wait for the lock.
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

    /// Fires what was claimed in the round that began at `now`: all in one go, and what one that panics leaves in the next.
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

/// A fresh channel for each timeout: nothing is shared, so nobody's close is another's.
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
