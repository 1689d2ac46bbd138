//! The loom world: every interleaving and memory order of a small model, up to a bound on preemptions.
//!
//! | what | under loom 0.7.2 |
//! | --- | --- |
//! | threads | 5 in all: main, up to 3 workers, and the clock's helper if timers or rescuers are used |
//! | stacks | main about 24 KiB; spawned threads 128 KiB |
//! | atomics, fences | memory orders explored; `SeqCst` accesses act as `AcqRel` (only `fence(SeqCst)` orders all); no load buffering |
//! | `UnsafeCell` | races found |
//! | `Mutex`, `Parker` | acquire and release, as std's; but after a caught panic that released a lock, the next thread that takes that lock fails (loom's own locks poison) |
//! | `Condvar` | a woken thread sees all that its waker saw |
//! | mischief | explored once the space without any is exhausted, from a script enumerated around the exploration: one occasion met there is taken, in a space of its own with at most one preemption. Its kinds: the n-th wait of a thread in a `Condvar`, a `Parker` or `block_on` ends spuriously; its n-th `notify_one` with several waiters wakes another waiter than the longest waiting one; its n-th `compare_exchange_weak` fails spuriously |
//! | `Arc` | loom's: leaks found (by number, without a line); no `Weak`, unsized only by `from_std` |
//! | `Track` | leaks found, with the line |
//! | constructors | none is `const`, so no statics |
//! | `thread_local!` | loom's; in a destructor of one, the facade no longer knows its thread |
//! | time | virtual; the earliest armed timer fires at any scheduling point (the first 8 firings of an execution; after those only when all others wait), so relative speed is arbitrary: assert that nothing is early or lost, not durations |
//! | `yield_now`, `spin_hint`, `spin_for`, `sleep_for` | let others run; after 100 of them without a new wait, a timer fires |
//! | a fired timer | carries what its helper saw: the past of the threads that started and woke the helper |
//! | `choose` | all of `0..n`, from a script enumerated around the exploration |
//! | `random_u64` | the same numbers for each thread in every execution |
//! | deadlock | found, with the place where each thread waits; `on_quiescence` runs instead, if registered |
//! | limits | at its time limit, or out of executions, the answer says `complete: false`; a limit is looked at every 1,000 executions |

use ::loom::model::Builder;
use ::loom::thread as raw;
use ::std::cell::Cell;
use ::std::future::Future;
use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::time::{Duration, Instant};

use super::body::{Answer, Body};
use super::explored::exploration::{attempt, execute, executions, explore_apart};
use super::explored::made::{self, Seen, What};
use super::explored::mischief::{self, Mischief};
use super::explored::{Engine, Place, Word, census, choices, facade, world};
use super::sites::Kind;
use super::world::Primitives;
use super::{Failure, Replayed, Schedule};

pub use crate::__loom_thread_local as thread_local;
pub use ::loom::cell::UnsafeCell;
pub use ::loom::sync::Arc;
#[doc(hidden)]
pub use ::loom::thread_local as __thread_local;

/// Atomics and fences.
pub mod atomic {
    use super::Loom;
    use ::loom::sync::atomic as raw;
    super::explored::atomic::atomics!(Loom);
}

/// Loom's `thread_local!`, which does not know `const` initialisers.
#[doc(hidden)]
#[macro_export]
macro_rules! __loom_thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::sync::loom::__thread_local! { $(#[$attr])* $vis static $name: $t = $init }
        $($crate::__loom_thread_local! { $($rest)* })?
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr $(; $($rest:tt)*)?) => {
        $crate::sync::loom::__thread_local! { $(#[$attr])* $vis static $name: $t = $init }
        $($crate::__loom_thread_local! { $($rest)* })?
    };
}

/// Every interleaving of a small model.
#[derive(Debug)]
pub struct Loom;

facade!(Loom);

/// Threads in a model, main and the clock's helper included: loom's own limit.
const THREADS: usize = 5;
/// Scheduling points in one execution, at most.
const BRANCHES: usize = 20_000;
/// How often loom looks at its limits, in executions.
const CHECKPOINT: usize = 1_000;
/// Timers that fire while a thread could run; each multiplies the space.
const EAGER: u32 = 8;
/// How loom's report of a race begins.
const RACE: &str = "Causality violation";
/// Loom's messages at its own limits: of branches, and of threads in both places where it counts them.
const LIMITS: [&str; 3] = [
    "Model exceeded maximum number of branches",
    "threads.len() < self.max()",
    "threads.len() < self.max_threads",
];
/// Stack of a spawned thread in machine words.
const STACK_WORDS: usize = 16 * 1024;

impl Word for ::loom::sync::atomic::AtomicU64 {
    fn new(value: u64) -> Self {
        Self::new(value)
    }
    fn load(&self) -> u64 {
        let seen = self.load(Ordering::Relaxed);
        make(What::Word, seen);
        seen
    }
    fn store(&self, value: u64) {
        self.store(value, Ordering::Relaxed);
        make(What::Word, 0);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        let seen = self.swap(value, order);
        make(What::Word, seen);
        seen
    }
    fn touch(&self) {
        self.fetch_add(0, Ordering::Relaxed);
        make(What::Word, 0);
    }
}

/// Loom's own parking. Used freely it loses its token to locks and spurious wake-ups. Here a thread is only released
/// while it sits, or before it sits.
#[derive(Debug)]
pub struct Chair {
    thread: raw::Thread,
    released: AtomicBool,
}

impl Place for Chair {
    fn here() -> Self {
        Chair {
            thread: raw::current(),
            released: AtomicBool::new(false),
        }
    }
    fn sit(&self) {
        while !self.released.load(Ordering::Relaxed) {
            raw::park();
        }
        make(What::Sit, 0);
    }
    fn release(&self) {
        make(What::Release, 0);
        self.released.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

/// The body that a thread is about to run. If an execution fails before the thread begins, loom drops it outside the
/// model. Dropping anything of loom's there would abort the process.
struct Unbegun(Option<Body>);

impl Unbegun {
    fn run(mut self) -> Answer {
        let body = self.0.take().expect("it runs once");
        body()
    }
}

impl Drop for Unbegun {
    fn drop(&mut self) {
        if ::std::thread::panicking() {
            ::std::mem::forget(self.0.take());
        }
    }
}

::loom::thread_local! {
    static ME: Cell<Option<usize>> = Cell::new(None);
}

impl Engine for Loom {
    const PRIMITIVES: Primitives = Primitives::Loom;
    const SEQUENTIAL: bool = false;
    type Word = ::loom::sync::atomic::AtomicU64;
    type Place = Chair;
    type Mutex<T> = ::loom::sync::Mutex<T>;
    type Guard<'a, T: 'a> = ::loom::sync::MutexGuard<'a, T>;
    type JoinHandle = raw::JoinHandle<Answer>;

    fn mutex<T>(value: T) -> Self::Mutex<T> {
        ::loom::sync::Mutex::new(value)
    }
    #[track_caller]
    fn lock<T>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T> {
        let guard = mutex
            .lock()
            .expect("a thread panicked while it held this lock");
        make(What::Lock, 0);
        guard
    }
    #[track_caller]
    fn try_lock<T>(mutex: &Self::Mutex<T>) -> Option<Self::Guard<'_, T>> {
        let guard = mutex.try_lock().ok();
        make(What::TryLock, u64::from(guard.is_some()));
        guard
    }
    fn into_inner<T>(mutex: Self::Mutex<T>) -> T {
        mutex
            .into_inner()
            .expect("a thread panicked while it held this lock")
    }

    #[track_caller]
    fn spawn(body: Body) -> raw::JoinHandle<Answer> {
        let body = Unbegun(Some(body));
        make(What::Spawn, 0);
        raw::Builder::new()
            .stack_size(STACK_WORDS)
            .spawn(move || body.run())
            .expect("loom starts threads without the system")
    }
    #[track_caller]
    fn join(handle: raw::JoinHandle<Answer>) -> Answer {
        let answer = handle
            .join()
            .expect("a panic in a loom thread ends the execution");
        make(What::Join, 0);
        answer
    }

    fn yield_now() {
        raw::yield_now();
        make(What::Yield, 0);
    }

    fn me() -> Option<usize> {
        ME.try_with(Cell::get).ok().flatten()
    }
    fn set_me(number: usize) {
        ME.with(|me| me.set(Some(number)));
    }

    fn misbehaves(what: Mischief, ways: usize) -> usize {
        let way = Loom::me().map_or(0, |me| mischief::scripted(me, what, ways));
        if way > 0 {
            make(What::Misbehave, way as u64);
        }
        way
    }

    fn accessed<T: Seen>(kind: Kind, seen: T) -> T {
        make(What::Atomic(kind, seen.is_failure()), seen.seen());
        seen
    }
}

/// Notes an operation of the calling thread.
fn make(what: What, seen: u64) {
    made::make(Loom::me(), what, seen);
}

/// A random number: the same sequence for each thread in every execution.
#[inline]
#[track_caller]
pub fn random_u64() -> u64 {
    let thread = Loom::me().unwrap_or(usize::MAX);
    let drawn = census::with(|census| {
        let entry = census.thread(thread);
        entry.drawn += 1;
        entry.drawn
    });
    super::split_mix(super::split_mix(thread as u64 + 1).wrapping_add(drawn))
}

/// One of `0..n`; each value is explored in turn.
///
/// # Panics
/// When there is nothing to choose from.
#[inline]
#[track_caller]
pub fn choose(n: usize) -> usize {
    assert!(n > 0, "choose(0): there is nothing to choose from");
    let choice = choices::choose(Loom::me().unwrap_or(usize::MAX), n);
    make(What::Choose, choice as u64);
    choice
}

/// The part of the space that loom explores under one script of choices.
#[derive(Clone, Copy)]
struct Stretch {
    preemptions: Option<usize>,
    /// Loom checks its limits before every `interval`-th execution.
    interval: usize,
    /// The number of executions, including the next one, at which it stops if it checks then.
    permutations: usize,
    time: Option<Duration>,
}

/// The failure of that stretch, and the number of its execution.
fn check(
    stretch: Stretch,
    model: &::std::sync::Arc<impl Fn() + Send + Sync + 'static>,
) -> Option<Failure> {
    let check = |located: bool| {
        let mut builder = Builder::new();
        builder.max_threads = THREADS;
        builder.max_branches = BRANCHES;
        builder.preemption_bound = stretch.preemptions;
        builder.max_permutations = Some(stretch.permutations);
        builder.max_duration = stretch.time;
        builder.checkpoint_interval = stretch.interval;
        // Loading a checkpoint fails in this version of loom.
        builder.checkpoint_file = None;
        builder.location = located;
        let model = model.clone();
        attempt(move || builder.check(move || execute::<Loom>(EAGER, &*model)))
    };
    let before = executions();
    let found = check(false)?;
    let (operations, fingerprint) = made::made();
    let schedule = Schedule::Nth {
        choices: choices::written(),
        mischief: mischief::written(),
        preemptions: stretch.preemptions,
        execution: executions() - before,
        operations,
        fingerprint,
    };
    // The same exploration reaches the same race. This time loom also records the lines, which is slow.
    let again = found.contains(RACE).then(|| check(true)).flatten();
    Some(Failure {
        limit: LIMITS.iter().any(|limit| found.contains(limit)),
        message: again.unwrap_or(found),
        schedule: Some(schedule),
        member: None,
    })
}

world!(Loom over Loom, "loom",
explore: |plan, model| {
    let began = Instant::now();
    let model = ::std::sync::Arc::new(model);
    let mut complete = true;
    choices::clear();
    mischief::clear();
    let failure = loop {
        let time = plan.time.saturating_sub(began.elapsed());
        let room = plan.executions.saturating_sub(executions());
        if time.is_zero() || room == 0 {
            complete = false;
            break None;
        }
        let room = usize::try_from(room).unwrap_or(usize::MAX - 1);
        let (interval, permutations) = match room < CHECKPOINT {
            true => (room + 1, room + 1),
            false => (CHECKPOINT, room - room % CHECKPOINT),
        };
        let (before, script) = (executions(), Instant::now());
        let stretch = Stretch {
            preemptions: match mischief::is_taken() {
                true => Some(plan.preemptions.unwrap_or(1).min(1)),
                false => plan.preemptions,
            },
            interval,
            permutations,
            time: Some(time),
        };
        if let Some(failure) = check(stretch, &model) {
            break Some(failure);
        }
        // Loom returns in the same way at a limit and at the end of the space.
        let next = usize::try_from(executions() - before).unwrap_or(usize::MAX - 1) + 1;
        if next % interval == 0 && (next >= permutations || script.elapsed() >= time) {
            complete = false;
        }
        // A script of choices that has ended is empty: it begins anew with the next occasion.
        if !(choices::advance() || plan.mischief && mischief::advance()) {
            break None;
        }
    };
    (complete, failure)
},
replay: Schedule::Nth {
    choices: written,
    mischief: stroke,
    preemptions,
    execution,
    operations,
    fingerprint,
} => |model| {
    let last = usize::try_from(*execution).unwrap_or(usize::MAX - 1);
    let stretch = Stretch {
        preemptions: *preemptions,
        interval: last.saturating_add(1),
        permutations: last.saturating_add(1),
        time: None,
    };
    if !choices::follow(written) {
        return Err(format!("'{written}' answers no choices"));
    }
    if !mischief::follow(stroke) {
        return Err(format!("'{stroke}' is no mischief"));
    }
    let model = ::std::sync::Arc::new(model);
    let expected = (*operations, *fingerprint);
    let mut fits = false;
    let explored = explore_apart(|| {
        choices::follow(written);
        mischief::follow(stroke);
        made::expect(expected);
        let failure = check(stretch, &model);
        let reached = match failure.as_ref().and_then(|failure| failure.schedule.as_ref()) {
            Some(Schedule::Nth { execution, .. }) => *execution,
            _ => executions(),
        };
        // An execution that makes the same operations answers the same choices. One that comes before it may ask others.
        fits = reached == *execution && made::are_as(expected) && choices::written() == *written;
        (false, failure)
    });
    Ok(Replayed {
        fits,
        failure: explored.failure,
    })
});
