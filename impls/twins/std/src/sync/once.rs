//! `Once`, `OnceLock` and `LazyLock`. Those in statics begin anew in each execution, and leak their value.

use ::std::cell::UnsafeCell;
use ::std::fmt;
use ::std::mem::{ManuallyDrop, MaybeUninit, forget, replace};
use ::std::ops::Deref;
use ::std::panic::{RefUnwindSafe, UnwindSafe};

use flowmeter_core::engine::{Line, yield_now};
use flowmeter_harness::sync::Deadline;

use super::atomic::{AtomicU8, Ordering};

const EMPTY: u8 = 0;
const BUSY: u8 = 1;
const FULL: u8 = 2;

/// As `std::sync::OnceLock`.
pub struct OnceLock<T> {
    state: AtomicU8,
    line: Line,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: as std's.
unsafe impl<T: Send> Send for OnceLock<T> {}
// SAFETY: one thread writes the value, before others can see that it is there.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}

/// Empties the lock again when the function that fills it panics.
struct Undo<'a, T>(&'a OnceLock<T>);

impl<T> Drop for Undo<'_, T> {
    fn drop(&mut self) {
        self.0.state.store(EMPTY, Ordering::Release);
        self.0.line.wake_all();
    }
}

#[allow(missing_docs, reason = "std documents them")]
impl<T> OnceLock<T> {
    pub const fn new() -> Self {
        OnceLock {
            state: AtomicU8::new(EMPTY),
            line: Line::new(),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let full = self.state.load(Ordering::Acquire) == FULL;
        // SAFETY: it is full, and stays so while it is borrowed.
        full.then(|| unsafe { (*self.value.get()).assume_init_ref() })
    }

    pub fn get_mut(&mut self) -> Option<&mut T> {
        let full = *self.state.get_mut() == FULL;
        // SAFETY: it is full.
        full.then(|| unsafe { self.value.get_mut().assume_init_mut() })
    }

    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("a function that runs once"));
        value.map_or(Ok(()), Err)
    }

    #[track_caller]
    pub fn get_or_init(&self, first: impl FnOnce() -> T) -> &T {
        let mut first = Some(first);
        loop {
            let begun =
                (self.state).compare_exchange(EMPTY, BUSY, Ordering::Acquire, Ordering::Acquire);
            match begun {
                Ok(_) => {
                    let undo = Undo(self);
                    let value = first.take().expect("the lock is filled once")();
                    // SAFETY: the state is busy, so that no other thread looks at the value.
                    unsafe { (*self.value.get()).write(value) };
                    forget(undo);
                    self.state.store(FULL, Ordering::Release);
                    self.line.wake_all();
                }
                // SAFETY: it is full, and stays so while it is borrowed.
                Err(FULL) => return unsafe { (*self.value.get()).assume_init_ref() },
                Err(_) => {
                    if !self.line.wait("a once", Deadline::NEVER, || ()) {
                        yield_now();
                    }
                }
            }
        }
    }

    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    pub fn take(&mut self) -> Option<T> {
        let full = replace(self.state.get_mut(), EMPTY) == FULL;
        // SAFETY: it was full, and its state says now that it is not.
        full.then(|| unsafe { self.value.get_mut().assume_init_read() })
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        self.take();
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}

/// As `std::sync::Once`.
#[derive(Debug, Default)]
pub struct Once(OnceLock<()>);

/// As `std::sync::OnceState`.
#[derive(Debug)]
pub struct OnceState(());

#[allow(missing_docs, reason = "std documents them")]
impl OnceState {
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        false
    }
}

#[allow(missing_docs, reason = "std documents them")]
impl Once {
    pub const fn new() -> Once {
        Once(OnceLock::new())
    }

    #[track_caller]
    pub fn call_once(&self, call: impl FnOnce()) {
        self.0.get_or_init(call);
    }

    #[track_caller]
    pub fn call_once_force(&self, call: impl FnOnce(&OnceState)) {
        self.0.get_or_init(|| call(&OnceState(())));
    }

    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.0.get().is_some()
    }
}

/// As `std::sync::LazyLock`. Each filling uses a copy of the function, since a static is filled once an execution.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    first: ManuallyDrop<F>,
}

// SAFETY: as std's. Only the thread that fills the lock uses the function.
unsafe impl<T: Send + Sync, F: Send> Sync for LazyLock<T, F> {}

#[allow(missing_docs, reason = "std documents them")]
impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    pub const fn new(first: F) -> Self {
        LazyLock {
            value: OnceLock::new(),
            first: ManuallyDrop::new(first),
        }
    }

    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.value.get_or_init(|| {
            // SAFETY: the function is used up once for each filling. What it owns is never dropped by this lock. One
            // that is filled anew lies in a static, where a function owns nothing.
            let first = unsafe { ::std::ptr::read(&this.first) };
            ManuallyDrop::into_inner(first)()
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyLock").finish_non_exhaustive()
    }
}
