//! The shuttle world: schedules of a larger model, chosen at random.
//!
//! Four schedulers take turns, one execution each, unless the plan names one of seven
//! ([`Scheduling`](super::Scheduling)).
//!
//! | what | under shuttle 0.9.9 |
//! | --- | --- |
//! | threads | many, with stacks of 256 KiB |
//! | atomics, fences | sequentially consistent for every requested order: only loom checks memory orders |
//! | `UnsafeCell` | races not detected |
//! | `Mutex` | does not poison; the next holder is chosen by the schedule |
//! | mischief | in a quarter of the executions, each occasion with probability 1/8: a wait in a `Condvar`, a `Parker` or `block_on` ends spuriously; `notify_one` wakes another waiter than the longest waiting one; `compare_exchange_weak` fails spuriously. None in the others, nor in [`Sim`] |
//! | `Arc` | std's; leaks not detected |
//! | `Track` | leaks found, with the line |
//! | `thread_local!` | shuttle's; in a destructor of one at a thread's end, the facade no longer knows its thread |
//! | time | virtual; chosen per execution with probability 1/2 each: quiescent (a timer fires only when all others wait, so nothing takes any time but waiting) or adversarial (the earliest armed timer fires at any point, the first 64 firings of an execution) |
//! | `yield_now`, `spin_hint`, `spin_for`, `sleep_for` | let others run; after 100 of them without a new wait, a timer fires |
//! | `choose`, `random_u64` | random, part of the schedule |
//! | deadlock | found, with the place where each thread waits; `on_quiescence` runs instead, if registered |
//! | livelock | fails once every thread waits, or has yielded 5,000 times since anything was written or the clock was read |
//! | limits | an execution of more steps than planned (200,000) fails; never `complete` |

use ::shuttle::future::batch_semaphore::{BatchSemaphore, Fairness};
use ::shuttle::rand::{RngCore, thread_rng};
use ::shuttle::scheduler::{RoundRobinScheduler, Scheduler};
use ::shuttle::thread as raw;
use ::shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use ::std::cell::{Cell, RefCell};
use ::std::future::Future;
use ::std::panic::Location;
use ::std::rc::Rc;
use ::std::sync::PoisonError;
use ::std::sync::atomic::Ordering;
use ::std::time::Duration;

use super::body::{Answer, Body};
use super::cost::{Counts, Pace};
use super::explored::census::{self, Census};
use super::explored::exploration::{attempt, execute, executions, explore_apart};
use super::explored::made::Seen;
use super::explored::mischief::Mischief;
use super::explored::{Engine, Place, Word, address, facade, world};
use super::sites::Kind;
use super::world::Primitives;
use super::{Exploration, Failure, Replayed, Schedule, Steps};
use recorded::{Follower, Recorder, Tape};

mod access;
mod cost;
mod recorded;
mod schedulers;
mod shrunk;
pub mod twin;

pub use super::std::UnsafeCell;
pub use ::shuttle::sync::Arc;
pub use ::shuttle::thread_local;

/// Atomics and fences.
pub mod atomic {
    use super::Shuttle;
    use ::shuttle::sync::atomic as raw;
    super::explored::atomic::atomics!(Shuttle);
}

/// Schedules of a larger model, chosen at random.
#[derive(Debug)]
pub struct Shuttle;

facade!(Shuttle);

/// Stack of a thread in bytes.
const STACK: usize = 256 * 1024;
/// Timers that fire while a thread could run, in an adversarial execution.
const EAGER: u32 = 64;
/// One in this many occasions for mischief is taken, in an execution with mischief.
const SELDOM: u64 = 8;

::std::thread_local! {
    /// Whether this execution has mischief.
    static MISCHIEF: Cell<bool> = const { Cell::new(false) };
    /// Whether this execution is the one of [`Sim`].
    static IN_TURNS: Cell<bool> = const { Cell::new(false) };
}

impl Word for ::shuttle::sync::atomic::AtomicU64 {
    fn new(value: u64) -> Self {
        Self::new(value)
    }
    #[track_caller]
    fn load(&self) -> u64 {
        announce(self, Kind::Load);
        self.load(Ordering::SeqCst)
    }
    #[track_caller]
    fn store(&self, value: u64) {
        announce(self, Kind::Store);
        self.store(value, Ordering::SeqCst);
    }
    #[track_caller]
    fn swap(&self, value: u64, _order: Ordering) -> u64 {
        announce(self, Kind::ReadModifyWrite);
        self.swap(value, Ordering::SeqCst)
    }
    #[track_caller]
    fn touch(&self) {
        announce(self, Kind::ReadModifyWrite);
        self.fetch_add(0, Ordering::SeqCst);
    }
}

/// The calling thread's next step is an access to a word of the facade.
#[track_caller]
fn announce(word: &::shuttle::sync::atomic::AtomicU64, kind: Kind) {
    access::announce(address(word), kind, Location::caller());
}

/// A semaphore of one permit. Unlike shuttle's parking it does not wake spuriously, so a waiting thread is a blocked
/// one.
#[derive(Debug)]
pub struct Chair(BatchSemaphore);

impl Place for Chair {
    fn here() -> Self {
        Chair(BatchSemaphore::new(0, Fairness::StrictlyFair))
    }
    fn sit(&self) {
        // An error means that the semaphore was closed. That happens only while an execution is torn down, when there
        // is nothing to wait for.
        let _ = self.0.acquire_blocking(1);
    }
    fn release(&self) {
        self.0.release(1);
    }
}

/// A task that is no thread of the model.
const NOBODY: usize = usize::MAX;

// Indexed by task: shuttle's own thread-locals are looked up in a map at each access. All threads of a model run on one
// operating-system thread.
::std::thread_local! {
    static NUMBERS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn task() -> Option<usize> {
    ::shuttle::current::try_get_current_task().map(usize::from)
}

impl Engine for Shuttle {
    const PRIMITIVES: Primitives = Primitives::Shuttle;
    const SEQUENTIAL: bool = true;
    type Word = ::shuttle::sync::atomic::AtomicU64;
    type Place = Chair;
    type Mutex<T> = ::shuttle::sync::Mutex<T>;
    type Guard<'a, T: 'a> = ::shuttle::sync::MutexGuard<'a, T>;
    type JoinHandle = raw::JoinHandle<Answer>;

    fn mutex<T>(value: T) -> Self::Mutex<T> {
        ::shuttle::sync::Mutex::new(value)
    }
    #[track_caller]
    fn lock<T>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
    #[track_caller]
    fn try_lock<T>(mutex: &Self::Mutex<T>) -> Option<Self::Guard<'_, T>> {
        use ::std::sync::TryLockError;
        match mutex.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
    fn into_inner<T>(mutex: Self::Mutex<T>) -> T {
        mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn spawn(body: Body) -> raw::JoinHandle<Answer> {
        raw::spawn(body)
    }
    #[track_caller]
    fn join(handle: raw::JoinHandle<Answer>) -> Answer {
        handle
            .join()
            .unwrap_or_else(|panic| ::std::panic::resume_unwind(panic))
    }

    fn yield_now() {
        raw::yield_now();
    }

    fn me() -> Option<usize> {
        let number = NUMBERS.with_borrow(|numbers| numbers.get(task()?).copied());
        number.filter(|number| *number != NOBODY)
    }
    fn set_me(number: usize) {
        NUMBERS.with_borrow_mut(|numbers| {
            if number == 0 {
                // The first thread of an execution: entries of the execution before are left.
                numbers.clear();
            }
            let Some(task) = task() else { return };
            if numbers.len() <= task {
                numbers.resize(task + 1, NOBODY);
            }
            numbers[task] = number;
        });
    }
    fn leave() {
        NUMBERS.with_borrow_mut(|numbers| {
            if let Some(number) = task().and_then(|task| numbers.get_mut(task)) {
                *number = NOBODY;
            }
        });
        twin::end_if_only_guests();
    }

    fn announce(object: usize, kind: Kind, at: &'static Location<'static>) {
        access::announce(object, kind, at);
    }

    fn woke() {
        cost::woke(1);
    }
    fn leave_out(word: &Self::Word) {
        cost::leave_out(address(word));
    }

    fn accessed<T: Seen>(kind: Kind, seen: T) -> T {
        if !matches!(kind, Kind::Load | Kind::Fence) && !seen.is_failure() {
            census::try_with(Census::wrote);
        }
        seen
    }

    fn misbehaves(_what: Mischief, ways: usize) -> usize {
        if ways > 0 && MISCHIEF.get() && thread_rng().next_u64() % SELDOM == 0 {
            1 + choose(ways)
        } else {
            0
        }
    }
}

/// A random number, part of the schedule.
#[inline]
#[track_caller]
pub fn random_u64() -> u64 {
    thread_rng().next_u64()
}

/// One of `0..n`, at random.
///
/// # Panics
/// When there is nothing to choose from.
#[inline]
#[track_caller]
pub fn choose(n: usize) -> usize {
    super::scale(random_u64(), n)
}

fn config(steps: Option<usize>) -> Config {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.max_steps = steps.map_or(MaxSteps::None, MaxSteps::FailAfter);
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    // A failing execution stops at once: no other thread runs while a panic unwinds.
    config
        .ungraceful_shutdown_config
        .immediately_return_on_panic = true;
    config
}

/// Shuttle's message at its limit of steps: a thread never ends, or the model is large.
const TOO_MANY_STEPS: &str = "exceeded max_steps bound";

type Model = ::std::sync::Arc<dyn Fn() + Send + Sync>;

/// Executes the model as often as the scheduler says, until it fails. Also returns the steps of the last execution.
fn run(
    scheduler: Box<dyn Scheduler>,
    config: Config,
    mischief: bool,
    model: &Model,
) -> (Option<Failure>, Steps) {
    let tape = Rc::new(RefCell::new(Tape::default()));
    let recorder = Recorder::new(twin::Ending(scheduler), Rc::clone(&tape));
    let (before, model) = (executions(), model.clone());
    let message = attempt(move || {
        Runner::new(recorder, config).run(move || {
            let drawn = thread_rng().next_u32();
            let eager = if drawn % 2 == 0 { 0 } else { EAGER };
            MISCHIEF.set(mischief && (drawn >> 1) % 4 == 0);
            IN_TURNS.set(false);
            execute::<Shuttle>(eager, &*model);
        });
    });
    let steps = Steps {
        mischief,
        ..tape.borrow_mut().of(executions() - before)
    };
    let failure = message.map(|message| Failure {
        limit: message.contains(TOO_MANY_STEPS),
        message,
        schedule: Some(Schedule::Steps(steps.clone())),
        member: None,
    });
    (failure, steps)
}

/// One execution along a schedule, and its steps.
fn once(follower: Follower, mischief: bool, model: &Model) -> (Option<Failure>, Steps) {
    let mut made = Steps::default();
    let explored = explore_apart(|| {
        let (failure, steps) = run(
            Box::new(follower),
            config(Some(Exploration::STEPS)),
            mischief,
            model,
        );
        made = steps;
        (false, failure)
    });
    (explored.failure, made)
}

world!(Shuttle over Shuttle, "shuttle",
explore: |plan, model| {
    let model: Model = ::std::sync::Arc::new(model);
    let executions = usize::try_from(plan.executions).unwrap_or(usize::MAX);
    let scheduler = schedulers::new(plan.scheduling, plan.seed, executions);
    let mut config = config(plan.steps);
    config.max_time = Some(plan.time);
    let (failure, _) = run(scheduler, config, plan.mischief, &model);
    (false, failure)
},
replay: Schedule::Steps(steps) => |model| {
    let model: Model = ::std::sync::Arc::new(model);
    let (failure, made) = once(Follower::new(steps), steps.mischief, &model);
    Ok(Replayed {
        fits: made.begins_with(steps),
        failure,
    })
},
fn count(
    pace: Pace,
    model: impl Fn() + Send + Sync + 'static,
) -> Option<Result<Counts, String>> {
    Some(cost::count(pace, model))
},
fn name() -> &'static str {
    if IN_TURNS.get() { Sim::NAME } else { Shuttle::NAME }
},
fn shrink(
    failure: &Failure,
    model: impl Fn() + Send + Sync + 'static,
    limit: Duration,
) -> Option<Failure> {
    let Some(Schedule::Steps(found)) = &failure.schedule else {
        return None;
    };
    let model: Model = ::std::sync::Arc::new(model);
    let attempt = |follower: Follower| {
        let failed = once(follower, found.mischief, &model).0?;
        (failed.violated() == failure.violated()).then_some(failed)
    };
    shrunk::shrink(found, attempt, limit)
});

/// Shuttle's primitives under a single schedule, the same every time: threads take turns, and time passes only when all
/// of them wait. So durations are exact, a simulated day takes only as long as its events, and a model may be large:
/// its steps are not limited. There is only one execution, whatever the plan asks for.
#[derive(Debug)]
pub struct Sim;

/// Runs the one execution.
fn turns(model: impl Fn() + Send + Sync + 'static) -> Option<Failure> {
    let message = attempt(move || {
        let scheduler = twin::Ending(Box::new(RoundRobinScheduler::new(1)));
        MISCHIEF.set(false);
        IN_TURNS.set(true);
        Runner::new(scheduler, config(None)).run(move || execute::<Shuttle>(0, &model));
    });
    IN_TURNS.set(false);
    let message = message?;
    Some(Failure {
        message,
        schedule: Some(Schedule::Turns),
        member: None,
        limit: false,
    })
}

world!(Sim over Shuttle, "sim",
explore: |_plan, model| (false, turns(model)),
replay: Schedule::Turns => |model| Ok(Replayed {
    failure: explore_apart(|| (false, turns(model))).failure,
    fits: true,
}));
