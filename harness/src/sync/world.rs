//! The world in which the caller runs, for code that is compiled once for all worlds: properties and generated
//! programs.
//!
//! In a thread of a model that loom or shuttle explores, it is that world; everywhere else it is std. All threads of
//! such a model are coroutines of one operating-system thread, so the world is a property of that thread.

use ::std::cell::Cell;
use ::std::future::Future;
use ::std::pin::{Pin, pin};

use super::std::Std;
use super::{Lock, Note, World};

/// The worlds with primitives of their own. Sim uses shuttle's.
#[derive(Clone, Copy, Debug)]
pub enum Primitives {
    /// Those of std.
    Std,
    /// Those of loom.
    #[cfg(feature = "loom")]
    Loom,
    /// Those of shuttle.
    #[cfg(feature = "shuttle")]
    Shuttle,
}

::std::thread_local! {
    static CURRENT: Cell<Primitives> = const { Cell::new(Primitives::Std) };
}

/// Sets the world of this operating-system thread.
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub(super) fn enter(world: Primitives) {
    CURRENT.set(world);
}

/// Evaluates an expression with the type of the current world.
macro_rules! with {
    ($world:ident => $call:expr) => {
        match CURRENT.get() {
            Primitives::Std => {
                type $world = Std;
                $call
            }
            #[cfg(feature = "loom")]
            Primitives::Loom => {
                type $world = super::loom::Loom;
                $call
            }
            #[cfg(feature = "shuttle")]
            Primitives::Shuttle => {
                type $world = super::shuttle::Shuttle;
                $call
            }
        }
    };
}

/// Wraps the result of a world's function.
macro_rules! wrapped {
    ($wrapper:ident: $call:ident($($argument:expr),*)) => {
        match CURRENT.get() {
            Primitives::Std => $wrapper::Std(Std::$call($($argument),*)),
            #[cfg(feature = "loom")]
            Primitives::Loom => $wrapper::Loom(super::loom::Loom::$call($($argument),*)),
            #[cfg(feature = "shuttle")]
            Primitives::Shuttle => $wrapper::Shuttle(super::shuttle::Shuttle::$call($($argument),*)),
        }
    };
}

/// A thread of a model.
#[derive(Debug)]
pub struct JoinHandle<T: Send + 'static>(Started<T>);

#[derive(Debug)]
enum Started<T: Send + 'static> {
    Std(<Std as World>::JoinHandle<T>),
    #[cfg(feature = "loom")]
    Loom(super::loom::JoinHandle<T>),
    #[cfg(feature = "shuttle")]
    Shuttle(super::shuttle::JoinHandle<T>),
}

/// As [`World::join`].
///
/// # Panics
/// When the thread panicked.
#[track_caller]
pub fn join<T: Send + 'static>(handle: JoinHandle<T>) -> T {
    match handle.0 {
        Started::Std(handle) => Std::join(handle),
        #[cfg(feature = "loom")]
        Started::Loom(handle) => handle.join(),
        #[cfg(feature = "shuttle")]
        Started::Shuttle(handle) => handle.join(),
    }
}

/// A lock of the world in which it was made.
pub struct Mutex<T>(Locked<T>);

enum Locked<T> {
    Std(super::std::Mutex<T>),
    #[cfg(feature = "loom")]
    Loom(super::loom::Mutex<T>),
    #[cfg(feature = "shuttle")]
    Shuttle(super::shuttle::Mutex<T>),
}

impl<T: Send + 'static> Mutex<T> {
    /// An open lock around `value`.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Mutex(match CURRENT.get() {
            Primitives::Std => Locked::Std(super::std::Mutex::new(value)),
            #[cfg(feature = "loom")]
            Primitives::Loom => Locked::Loom(super::loom::Mutex::new(value)),
            #[cfg(feature = "shuttle")]
            Primitives::Shuttle => Locked::Shuttle(super::shuttle::Mutex::new(value)),
        })
    }

    /// Looks at the value with the lock held.
    #[track_caller]
    pub fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        match &self.0 {
            Locked::Std(mutex) => mutex.with(look),
            #[cfg(feature = "loom")]
            Locked::Loom(mutex) => mutex.with(look),
            #[cfg(feature = "shuttle")]
            Locked::Shuttle(mutex) => mutex.with(look),
        }
    }
}

impl<T> ::std::fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

/// As [`World::name`].
pub fn name() -> &'static str {
    with!(W => W::name())
}

/// As [`World::spawn`].
#[track_caller]
pub fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    JoinHandle(wrapped!(Started: spawn(body)))
}

/// As [`World::perturb`].
pub fn perturb() {
    with!(W => W::perturb());
}

/// As [`World::yield_now`].
pub fn yield_now() {
    with!(W => W::yield_now());
}

/// As [`World::now_nanos`].
pub fn now_nanos() -> u64 {
    with!(W => W::now_nanos())
}

/// As [`World::lag`].
pub fn lag(nanos: u64) {
    with!(W => W::lag(nanos));
}

/// As [`World::stamp`].
pub fn stamp() -> u64 {
    with!(W => W::stamp())
}

/// As [`World::stamp_margin`].
pub fn stamp_margin() -> Option<u64> {
    with!(W => W::stamp_margin())
}

/// As [`World::note`].
pub fn note(note: impl FnOnce() -> Note) {
    with!(W => W::note(note));
}

/// As [`World::block_on`].
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut output = None;
    {
        // The worlds run one type of future, whatever the type of the given one.
        let running = pin!(async { output = Some(future.await) });
        let running: Pin<&mut dyn Future<Output = ()>> = running;
        with!(W => W::block_on(running));
    }
    output.expect("a future that has run has an output")
}

/// As [`World::choose`].
///
/// # Panics
/// When there is nothing to choose from.
pub fn choose(n: usize) -> usize {
    with!(W => W::choose(n))
}

/// As [`World::on_quiescence`].
pub fn on_quiescence(rescue: impl FnOnce() + Send + 'static) -> bool {
    let rescue: Box<dyn FnOnce() + Send> = Box::new(rescue);
    with!(W => W::on_quiescence(rescue))
}
