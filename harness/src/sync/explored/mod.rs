//! The common part of the loom and the shuttle world: waiting, time and bookkeeping of the facade. It is written once,
//! over the few operations in which the two checkers differ ([`Engine`]).
//!
//! A checker knows which threads are blocked, but not why, and it has no time. So a [`census`] outside the model
//! records the model's threads and what each waits for. Both checkers run every thread of a model as a coroutine on the
//! one operating-system thread that called the checker (loom 0.7.2 `rt/scheduler.rs`, shuttle-engine 0.1.7
//! `runtime/execution.rs`; one of our models asserts it). The census is therefore a plain thread-local. It costs no
//! branches, and adds no happens-before edge that the program under test does not have.
//!
//! All waiting in the facade uses one mechanism. A thread takes a [`seat`](seat::Seat), puts it where its waker will
//! find it, and sits. The waker that takes the seat away rouses it, once. A roused thread counts as running from that
//! moment. A timer is one more waker.
//!
//! This invariant keeps loom's partial-order reduction sound: plain state of the facade (a waiter list, the armed
//! timers) is touched only right after an operation on a [`Word`], with no scheduling point in between. Every access to
//! the same state operates on the same word.

pub mod atomic;
pub mod census;
#[cfg(feature = "loom")]
pub mod choices;
pub mod deques;
pub mod exploration;
pub mod helper;
pub mod lock;
#[cfg_attr(
    not(feature = "loom"),
    allow(dead_code, reason = "only schedules of loom have fingerprints")
)]
pub mod made;
pub mod map;
pub mod mischief;
pub mod park;
pub mod seat;
pub mod stamp;
pub mod thread;
pub mod time;
pub mod track;

use ::std::ops::DerefMut;
use ::std::panic::Location;
use ::std::sync::atomic::Ordering;

use super::body::{Answer, Body};
use super::sites::Kind;
use super::world::Primitives;
use made::Seen;
use mischief::Mischief;

/// A 64-bit atomic that the checker watches.
pub trait Word: Send + Sync + 'static {
    /// An atomic holding `value`.
    fn new(value: u64) -> Self
    where
        Self: Sized;
    /// Reads, relaxed.
    #[track_caller]
    fn load(&self) -> u64;
    /// Writes, relaxed.
    #[track_caller]
    fn store(&self, value: u64);
    /// Exchanges.
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64;
    /// Changes nothing, but is a read-modify-write, so the checker orders it against all other accesses.
    #[track_caller]
    fn touch(&self);
}

/// Where one thread blocks once, and is released once. Making one is no scheduling point.
pub trait Place: Send + Sync + 'static {
    /// A place for the calling thread.
    fn here() -> Self;
    /// Blocks until released.
    fn sit(&self);
    /// Releases the thread that sits here, or will.
    fn release(&self);
}

/// The operations that the facade requires of a checker.
pub trait Engine: Sized + Send + Sync + 'static {
    /// The name of the world while it explores.
    const PRIMITIVES: Primitives;
    /// Whether a thread sees everything that ran before it.
    const SEQUENTIAL: bool;
    /// Its atomic.
    type Word: Word;
    /// Its way of blocking.
    type Place: Place;
    /// Its lock.
    type Mutex<T>;
    /// Its lock, held.
    type Guard<'a, T: 'a>: DerefMut<Target = T>;
    /// Its spawned thread.
    type JoinHandle: Send;

    /// An open lock.
    fn mutex<T>(value: T) -> Self::Mutex<T>;
    /// Waits for the lock.
    #[track_caller]
    fn lock<T>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T>;
    /// Locks if the lock is free.
    #[track_caller]
    fn try_lock<T>(mutex: &Self::Mutex<T>) -> Option<Self::Guard<'_, T>>;
    /// The value.
    fn into_inner<T>(mutex: Self::Mutex<T>) -> T;

    /// Starts a thread.
    #[track_caller]
    fn spawn(body: Body) -> Self::JoinHandle;
    /// Waits for its result.
    #[track_caller]
    fn join(handle: Self::JoinHandle) -> Answer;

    /// Lets others run.
    fn yield_now();

    /// The calling thread's number in the census. `None` for a thread that the facade did not start, or for one that
    /// has destroyed its thread-locals.
    fn me() -> Option<usize>;
    /// Gives the calling thread its number.
    fn set_me(number: usize);
    /// The calling thread has finished its work. What its destructors still do is attributed to no thread.
    fn leave() {}

    /// Selects one of `ways` admitted misbehaviours for the calling thread's present operation: 0 for none. No
    /// scheduling point.
    fn misbehaves(what: Mischief, ways: usize) -> usize;

    /// The calling thread's next step is an access to the object at that address.
    fn announce(_object: usize, _kind: Kind, _at: &'static Location<'static>) {}

    /// Another thread's wait is over because the calling thread notified, unparked or woke it.
    fn woke() {}

    /// Accesses to this word are the facade's own, and no cost of the model.
    fn leave_out(_word: &Self::Word) {}

    /// The calling thread has accessed an atomic, or made a fence. Returns what that returned.
    fn accessed<T: Seen>(_kind: Kind, seen: T) -> T {
        seen
    }
}

/// The address of an object, which tells it from others while it lives.
pub fn address<T>(object: &T) -> usize {
    ::std::ptr::from_ref(object).addr()
}

/// A source location, with the path relative to the workspace.
pub fn place(location: &Location<'_>) -> String {
    format!("{}:{}", source_file(location), location.line())
}

/// A source file, relative to the workspace. The twins of `impls` compile its sources under another folder
/// (`impls/loom/../src/…`). Files that a build script wrote are named from its own folder on.
pub fn source_file(location: &Location<'_>) -> String {
    let file = location.file();
    let built = file.split_once("/build/").map_or("", |(_, built)| built);
    let file = built
        .split_once("/out/")
        .map_or(file, |(_, written)| written);
    let mut parts: Vec<&str> = Vec::new();
    for part in file.split('/') {
        if part == ".." && parts.last().is_some_and(|last| *last != "..") {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// Defines the names that every world has, for an [`Engine`].
macro_rules! facade {
    ($engine:ident) => {
        use $crate::sync::explored;

        /// A lock that does not poison: a panic while it is held leaves it usable.
        pub type Mutex<T> = explored::lock::Mutex<$engine, T>;
        /// The lock, held.
        pub type MutexGuard<'a, T> = explored::lock::MutexGuard<'a, $engine, T>;
        /// A lock. How std's is released is of no interest here.
        pub type LightMutex<T> = Mutex<T>;
        /// The lock, held.
        pub type LightMutexGuard<'a, T> = MutexGuard<'a, T>;
        impl<T: Send + 'static> $crate::sync::Lock<T> for Mutex<T> {
            fn new(value: T) -> Self {
                Mutex::new(value)
            }
            fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
                look(&mut self.lock())
            }
        }

        /// A condition variable.
        pub type Condvar = explored::lock::Condvar<$engine>;
        /// The waiting place of the thread that made it. Holds at most one token.
        pub type Parker = explored::park::Parker<$engine>;
        /// Wakes the thread of a [`Parker`].
        pub type Unparker = explored::park::Unparker<$engine>;
        /// An ordered map that threads share.
        pub type OrderedMap<K, V> = explored::map::OrderedMap<$engine, K, V>;
        /// A queue that one thread puts into and takes from, and other threads steal from.
        pub type Worker<T> = explored::deques::Worker<$engine, T>;
        /// Steals from a [`Worker`].
        pub type Stealer<T> = explored::deques::Stealer<$engine, T>;
        /// A queue that any thread puts into.
        pub type Injector<T> = explored::deques::Injector<$engine, T>;
        /// A thread.
        pub type JoinHandle<T> = explored::thread::JoinHandle<$engine, T>;
        pub use $crate::sync::explored::thread::{LockPlace, order_key};
        pub use $crate::sync::explored::track::Track;

        /// Starts a thread.
        #[inline]
        #[track_caller]
        pub fn spawn<T: Send + 'static>(
            body: impl FnOnce() -> T + Send + 'static,
        ) -> JoinHandle<T> {
            explored::thread::spawn::<$engine, T>(body)
        }

        /// Starts a thread, which never fails here.
        #[inline]
        #[track_caller]
        pub fn try_spawn<T: Send + 'static>(
            body: impl FnOnce() -> T + Send + 'static,
        ) -> Option<JoinHandle<T>> {
            Some(spawn(body))
        }

        /// Nothing to do: virtual time has no slack.
        #[inline]
        pub fn precise_wakeups() {}

        /// Never: in a model another look is only another step, and equivalent to waiting.
        #[inline]
        pub fn spinning_pays() -> bool {
            false
        }

        /// None: looking again does not pay here.
        #[inline]
        #[track_caller]
        pub fn wait_costs() -> Option<$crate::sync::WaitCosts> {
            None
        }

        /// A memory barrier in two halves, as std's of that name. Here both are a fence, which is stronger: no model finds
        /// code that relies on two threads that both pass [`here`](barrier::here).
        pub mod barrier {
            use super::atomic::{Ordering, fence};

            /// The half for the common path.
            #[inline]
            #[track_caller]
            pub fn here() {
                fence(Ordering::SeqCst);
            }

            /// The half for the rare path, which is never refused here.
            #[inline]
            #[must_use = "as std's"]
            #[track_caller]
            pub fn everywhere() -> bool {
                fence(Ordering::SeqCst);
                true
            }
        }

        /// Whether the model has failed and its state is being dropped. Destructors should then skip their work. Part
        /// of it happens outside the model, where none of its primitives can be used. Part of it happens where a lock
        /// was held or a race found, and using these again aborts the process.
        #[inline]
        pub fn is_taken_apart() -> bool {
            ::std::thread::panicking()
        }

        /// Lets others run.
        #[inline]
        #[track_caller]
        pub fn yield_now() {
            explored::thread::yield_now::<$engine>();
        }

        /// One iteration of spinning: lets others run.
        #[inline]
        #[track_caller]
        pub fn spin_hint() {
            explored::thread::yield_now::<$engine>();
        }

        /// Lets others run. The time is ignored.
        #[inline]
        #[track_caller]
        pub fn spin_for(_nanos: u32) {
            explored::thread::yield_now::<$engine>();
        }

        /// Lets others run. No virtual time passes: those that sleep ask `wait_costs` first, which is `None` here.
        #[inline]
        #[track_caller]
        pub fn sleep_for(_nanos: u32) {
            explored::thread::yield_now::<$engine>();
        }

        /// Runs foreign code; as in [`contain`], its panic fails the model.
        ///
        /// # Errors
        /// Never.
        #[inline]
        #[track_caller]
        pub fn caught<R>(call: impl FnOnce() -> R) -> Result<R, Box<dyn ::std::any::Any + Send>> {
            Ok(call())
        }

        /// Runs foreign code. The checker reports failures as panics, so none is caught: an assertion or a deadlock in
        /// the code fails the model.
        #[inline]
        #[track_caller]
        pub fn contain<R>(call: impl FnOnce() -> R) -> Option<R> {
            Some(call())
        }

        /// Runs a future on this thread.
        #[inline]
        #[track_caller]
        pub fn block_on<F: Future>(future: F) -> F::Output {
            explored::park::block_on::<$engine, F>(future)
        }

        /// The virtual clock: moves only when a timer fires, and then to its deadline.
        pub mod clock {
            pub use $crate::sync::explored::time::{
                after, brisk_nanos, has_passed, left, now_nanos,
            };
        }
    };
}
pub(super) use facade;

/// Defines a [`World`](super::World) of explored executions, except how to explore.
macro_rules! world {
    (
        $world:ident over $engine:ident, $name:literal,
        explore: |$plan:ident, $model:ident| $explore:expr,
        replay: $schedule:pat => |$again:ident| $replay:expr
        $(, $more:item)*
    ) => {
        impl $crate::sync::World for $world {
            const NAME: &'static str = $name;
            type Models = $engine;
            type JoinHandle<T: Send + 'static> = JoinHandle<T>;
            type Mutex<T: Send + 'static> = Mutex<T>;

            #[track_caller]
            fn spawn<T: Send + 'static>(
                body: impl FnOnce() -> T + Send + 'static,
            ) -> JoinHandle<T> {
                spawn(body)
            }
            #[track_caller]
            fn join<T: Send + 'static>(handle: JoinHandle<T>) -> T {
                handle.join()
            }
            fn yield_now() {
                yield_now();
            }
            fn now_nanos() -> u64 {
                clock::now_nanos()
            }
            fn lag(nanos: u64) {
                explored::time::lag(nanos);
            }
            fn stamp() -> u64 {
                explored::stamp::next()
            }
            fn stamp_margin() -> Option<u64> {
                <$engine as explored::Engine>::SEQUENTIAL.then_some(0)
            }
            fn note(note: impl FnOnce() -> $crate::sync::Note) {
                $crate::sync::trace::note(note);
            }
            #[track_caller]
            fn block_on<F: Future>(future: F) -> F::Output {
                block_on(future)
            }
            fn choose(n: usize) -> usize {
                choose(n)
            }
            fn on_quiescence(rescue: impl FnOnce() + Send + 'static) -> bool {
                explored::thread::on_quiescence::<$engine>(rescue);
                true
            }
            fn explore(
                $plan: &$crate::sync::Exploration,
                $model: impl Fn() + Send + Sync + 'static,
            ) -> $crate::sync::Explored {
                explored::exploration::explore(|| $explore)
            }
            fn replay(
                schedule: &$crate::sync::Schedule,
                $again: impl Fn() + Send + Sync + 'static,
            ) -> Result<$crate::sync::Replayed, String> {
                let $schedule = schedule else {
                    return Err(format!("it is no schedule of the {} world", $name));
                };
                $replay
            }
            $($more)*
        }
    };
}
pub(super) use world;
