//! One set of primitives in three worlds: [`mod@std`] compiles to the bare primitives, `loom` explores
//! every interleaving and memory order of a small model, `shuttle` explores schedules of a larger one.
//!
//! An implementation takes its locks, atomics, parking and time from one of these modules, chosen by a
//! feature of its own package, and never from `std`. The modules have the same names in them:
//!
//! | name | what it is |
//! | --- | --- |
//! | `Mutex`, `MutexGuard` | a lock that does not poison |
//! | `LightMutex`, `LightMutexGuard` | a lock for short work, without a condition variable; under std it is released by a store and counts its uses |
//! | `Condvar` | `wait`, `wait_until`, `notify_one`, `notify_all` |
//! | `Parker`, `Unparker` | one thread's waiting place: `park`, `park_until`; one token |
//! | `atomic` | atomics, `fence`, `Ordering` |
//! | `barrier` | `here`, `everywhere`: a fence in two halves, of which the first is nearly free under std on Linux |
//! | `UnsafeCell` | `with`, `with_mut`; races are found under loom |
//! | `Arc` | shared ownership; no `Weak`, for loom has none |
//! | `thread_local!` | per-thread state, with or without a `const` initialiser |
//! | `block_on` | runs a future on this thread |
//! | `contain`, `caught` | runs foreign code that may panic; drops the panic or returns it |
//! | `Track` | a value with leak detection under loom and shuttle |
//! | `OrderedMap` | an ordered map that threads share (std: feature `ordered-map`) |
//! | `Worker`, `Stealer`, `Injector` | work-stealing queues (std: feature `deques`) |
//! | `spawn`, `try_spawn`, `JoinHandle`, `yield_now`, `spin_hint`, `spin_for`, `sleep_for` | threads |
//! | `spinning_pays`, `wait_costs` | whether to look again before waiting, and what waiting costs |
//! | `is_taken_apart` | whether a model has failed here, so that destructors should do nothing |
//! | `precise_wakeups` | asks for wake-ups at deadlines, not some time after (std on Linux) |
//! | `clock` | `now_nanos`, `brisk_nanos`, `after`, `has_passed`, `left` |
//! | `choose` | one of n, explored where the world can |
//! | `random_u64`, `order_key` | random numbers, and unique keys, that replay |
//! | `LockPlace` | an order in which to lock objects, which replays where schedules are explored |
//!
//! Every call is `#[inline]` and `#[track_caller]`, so that the harness can name the line that made it. Where schedules
//! are explored, the harness can also break that line (`sites`). Names that belong to other crates (`Arc`, under std
//! the atomics) are passed through unchanged.
//!
//! What each world sees, in short; the modules of loom and shuttle tell their limits in full:
//!
//! | | std | loom | shuttle |
//! | --- | --- | --- | --- |
//! | threads | the system's | coroutines, 5 in all | coroutines, many |
//! | schedules | whatever happens, stirred by `perturb` | all, up to a bound on preemptions | random ones |
//! | memory orders | the machine's | explored | sequentially consistent |
//! | races on `UnsafeCell` | not seen | found | not seen |
//! | leaks of `Track` / `Arc` | not seen | found / found | found / not seen |
//! | time | the machine's | virtual, fires at any point | virtual, fires when all wait, or at any point |
//! | deadlock | hangs | found, with the place where each thread waits | found, with the place where each thread waits |
//! | `on_quiescence` | refused | runs when all wait | runs when all wait |
//! | `choose` | random | enumerated | random |
//! | random numbers, keys | differ from run to run | replay | replay with the schedule |
//! | spurious wake-ups, spurious failures of weak exchanges | happen | each, one at a time | random, in a quarter of the executions |
//! | the waiter that `notify_one` wakes | any | the first; each other, one at a time | the first; any in a quarter of the executions |
//! | a failing execution | is lost | is identified by its number | is recorded, and shrunk |
//! | a panic in `contain` | stops there | fails the model | fails the model |
//!
//! `shuttle::Sim` is a fourth world with the same primitives as shuttle's. It has a single schedule, in which threads
//! take turns and time passes only when all wait. It allows exact checks of durations, rates and bounds.
//!
//! Under loom and shuttle all of this works only inside [`World::explore`]. If no timer is armed and no rescuer
//! registered, a model has exactly the threads that it starts.

use ::std::fmt;
use ::std::future::Future;
use ::std::time::Duration;

mod body;
pub mod cost;
#[cfg(feature = "deques")]
mod deques;
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod explored;
#[cfg(feature = "loom")]
pub mod loom;
mod note;
#[cfg(feature = "ordered-map")]
mod ordered_map;
mod schedule;
#[cfg(feature = "shuttle")]
pub mod shuttle;
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub mod sites;
pub mod std;
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub mod trace;
pub mod world;

use cost::{Counts, Pace};
pub use note::Note;
pub use schedule::{Failure, Member, Schedule, Steps};

/// A moment on the clock of a world, in nanoseconds since that clock began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deadline(u64);

impl Deadline {
    /// A moment that never comes.
    pub const NEVER: Deadline = Deadline(u64::MAX);

    /// The moment `nanos` after the clock began.
    pub const fn from_nanos(nanos: u64) -> Deadline {
        Deadline(nanos)
    }

    /// Nanoseconds since the clock began.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The moment `delay` after `now_nanos`; what does not fit is [`Deadline::NEVER`].
    pub fn after(now_nanos: u64, delay: Duration) -> Deadline {
        match u64::try_from(delay.as_nanos()) {
            Ok(delay) => Deadline(now_nanos.saturating_add(delay)),
            Err(_) => Deadline::NEVER,
        }
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Deadline::NEVER {
            f.write_str("never")
        } else {
            write!(f, "{} ns", self.0)
        }
    }
}

/// What waiting costs on a machine, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCosts {
    /// A cache line to another core and back.
    pub round_trip_nanos: u32,
    /// From the call that wakes a thread that sleeps on another core until that thread runs.
    pub wake_nanos: u32,
    /// A yield where no other thread wants the core.
    pub yield_nanos: u32,
}

/// How much of a model's space to explore.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Executions at most (std: exactly that many; loom: stops there as incomplete).
    pub executions: u64,
    /// Wall time at most.
    pub time: Duration,
    /// Seed of all random decisions.
    pub seed: u64,
    /// loom: how often a thread may be preempted; `None` for no bound.
    pub preemptions: Option<usize>,
    /// shuttle: steps of one execution at most, `None` for no bound. An execution with more is undecided. A replay has
    /// [`Exploration::STEPS`].
    pub steps: Option<usize>,
    /// loom and shuttle: whether primitives also misbehave as their contracts admit. Waits end spuriously, `notify_one`
    /// wakes another waiter than the longest waiting one, weak exchanges fail spuriously.
    pub mischief: bool,
    /// How long to look for a smaller program when a generated one fails.
    pub shrinking: Duration,
    /// shuttle: how the schedule of each execution is chosen.
    pub scheduling: Scheduling,
}

/// How shuttle chooses schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Scheduling {
    /// Those of [`Scheduling::TURNS`], one execution each in turn.
    #[default]
    Turns,
    /// A random task at each step.
    Random,
    /// Uniform random walk: all interleavings are about as likely.
    Urw,
    /// Random priorities of tasks, and one random step at which one changes.
    Pct2,
    /// As `Pct2`, with two such steps.
    Pct3,
    /// Random priorities of steps, drawn anew for steps that conflict with the one made.
    Pos,
    /// Uniform random walk over the steps at some lines that access the same objects.
    Surw,
    /// Variations of schedules in which a line read for the first time what another had written.
    Feedback,
}

impl Scheduling {
    /// Those that take turns: `docs/schedulers.md` has what each finds, alone and in turns.
    pub const TURNS: [Scheduling; 4] = [
        Scheduling::Urw,
        Scheduling::Pct2,
        Scheduling::Pct3,
        Scheduling::Pos,
    ];

    /// All of them.
    pub const ALL: [Scheduling; 8] = [
        Scheduling::Turns,
        Scheduling::Random,
        Scheduling::Urw,
        Scheduling::Pct2,
        Scheduling::Pct3,
        Scheduling::Pos,
        Scheduling::Surw,
        Scheduling::Feedback,
    ];

    /// The name, as in commands.
    pub const fn name(self) -> &'static str {
        match self {
            Scheduling::Turns => "turns",
            Scheduling::Random => "random",
            Scheduling::Urw => "urw",
            Scheduling::Pct2 => "pct2",
            Scheduling::Pct3 => "pct3",
            Scheduling::Pos => "pos",
            Scheduling::Surw => "surw",
            Scheduling::Feedback => "feedback",
        }
    }
}

impl Exploration {
    /// Steps of one execution, unless a plan says otherwise.
    pub const STEPS: usize = 200_000;
}

impl Default for Exploration {
    fn default() -> Self {
        Exploration {
            executions: 2_000,
            time: Duration::from_secs(20),
            seed: 0x666c_6f77,
            preemptions: Some(2),
            steps: Some(Exploration::STEPS),
            mischief: true,
            shrinking: Duration::from_secs(2),
            scheduling: Scheduling::default(),
        }
    }
}

/// What an exploration found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Executions of the model.
    pub executions: u64,
    /// Whether the space was exhausted.
    pub complete: bool,
    /// Histories for which a judge had no answer. They show neither that the model holds nor that it fails.
    pub undecided: u64,
    /// The panic or deadlock that ended it.
    pub failure: Option<Failure>,
}

/// The result of an execution that was run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The failure, with the schedule of this execution.
    pub failure: Option<Failure>,
    /// Whether the model made the steps of the schedule, and perhaps more.
    pub fits: bool,
}

/// A lock of a world.
pub trait Lock<T>: Send + Sync + 'static {
    /// An open lock around `value`.
    fn new(value: T) -> Self;

    /// Looks at the value with the lock held.
    fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R;
}

/// A world, for code that is written once and run in all of them: properties and models.
pub trait World: Send + Sync + 'static {
    /// `std`, `loom`, `shuttle` or `sim`.
    const NAME: &'static str;

    /// The world that provides the types for models of this world. It is another one where both have the same
    /// primitives, so that nothing is compiled twice.
    type Models: World<Models = Self::Models>;

    /// Name of the exploring world: [`World::NAME`], except for models that worlds share.
    fn name() -> &'static str {
        Self::NAME
    }

    /// A spawned thread.
    type JoinHandle<T: Send + 'static>: Send;

    /// A lock for state that the threads of a model share besides the code under test. Wakers need it: a checker must
    /// see that a waker was handed over before it is woken.
    type Mutex<T: Send + 'static>: Lock<T>;

    /// Starts a thread of the world.
    fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T>;

    /// Waits for the thread's result.
    ///
    /// # Panics
    /// When the thread panicked.
    fn join<T: Send + 'static>(handle: Self::JoinHandle<T>) -> T;

    /// Call this before an operation that races with others. Where schedules are explored it does nothing. Under std
    /// the threads that this one has started begin now, together, and the caller waits for a short random time:
    /// otherwise real threads would seldom meet.
    fn perturb() {}

    /// Lets others run.
    fn yield_now();

    /// Nanoseconds since the world's clock began.
    fn now_nanos() -> u64;

    /// Lets the brisk clock of implementations lag so far behind, for the rest of the execution. Without effect where
    /// that clock is a real one, which lags as it does.
    fn lag(_nanos: u64) {}

    /// A stamp for the records of a checker about the calling thread: no smaller than any earlier stamp of that thread.
    /// Taking one adds no synchronisation to the program, and is no step of a model.
    fn stamp() -> u64;

    /// The least difference between the stamps of two threads that shows which is later. `None` where stamps follow the
    /// order of a schedule: there a thread need not have seen what ran before it.
    fn stamp_margin() -> Option<u64>;

    /// Adds a note about the calling thread to the picture of the execution, if one is being made.
    fn note(_note: impl FnOnce() -> Note) {}

    /// Runs a future on this thread.
    fn block_on<F: Future>(future: F) -> F::Output;

    /// One of `0..n`: explored where the world can, otherwise random.
    fn choose(n: usize) -> usize;

    /// Registers `rescue` to run once, on a thread of its own, when every other thread of the model waits and no timer
    /// is armed. It keeps correct waiting from being reported as a deadlock. It may lock, notify and unpark; if it
    /// waits for other threads, that is a deadlock. Under std that moment cannot be detected, and the result is
    /// `false`: `rescue` will not run.
    fn on_quiescence(rescue: impl FnOnce() + Send + 'static) -> bool;

    /// Runs `model` repeatedly, in as many different ways as the plan admits. Never panics: a panic of the model is the
    /// failure in the result.
    fn explore(plan: &Exploration, model: impl Fn() + Send + Sync + 'static) -> Explored;

    /// Runs that execution of the model again, and under loom also those before it. If it fails again with the same
    /// schedule, it was the same execution.
    ///
    /// # Errors
    /// When the schedule belongs to another world, or is invalid.
    fn replay(
        schedule: &Schedule,
        model: impl Fn() + Send + Sync + 'static,
    ) -> Result<Replayed, String>;

    /// Runs the model once under that schedule, and counts, or says why the execution failed. Only shuttle can; elsewhere
    /// the result is `None`.
    fn count(
        pace: Pace,
        model: impl Fn() + Send + Sync + 'static,
    ) -> Option<Result<Counts, String>> {
        let _ = (pace, model);
        None
    }

    /// Looks, for a limited time, for an execution that fails as this one does with fewer switches between threads. Its
    /// schedule is as exact as the given one. Only shuttle can; elsewhere, and if nothing smaller fails, the result is
    /// `None`.
    fn shrink(
        failure: &Failure,
        model: impl Fn() + Send + Sync + 'static,
        limit: Duration,
    ) -> Option<Failure> {
        let _ = (failure, model, limit);
        None
    }
}

/// Number `index` of a random sequence: SplitMix64's mix (Steele, Lea, Flood 2014), a bijection.
#[inline]
pub(crate) fn split_mix(index: u64) -> u64 {
    let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A random number scaled to `0..n` by multiply and shift: without division, and with a bias below n / 2^64.
///
/// # Panics
/// When there is nothing to choose from.
#[inline]
#[track_caller]
pub(crate) fn scale(random: u64, n: usize) -> usize {
    assert!(n > 0, "choose(0): there is nothing to choose from");
    ((u128::from(random) * n as u128) >> 64) as usize
}

/// The message of a panic.
pub fn panic_text(panic: &(dyn ::std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&'static str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}
