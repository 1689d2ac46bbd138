//! Thread-locals: shuttle's in an execution, and the process's own outside.

use ::std::any::Any;
use ::std::cell::{Cell, RefCell};
use ::std::collections::HashMap;
use ::std::fmt;

use flowmeter_core::engine::{Place, place};
use flowmeter_harness::sync::shuttle::twin::apart;

/// What [`thread_local`](crate::thread_local) makes for each value.
pub type Key<T> = shuttle::thread::LocalKey<T>;

/// A key with that first value.
pub const fn key<T>(first: fn() -> T) -> Key<T> {
    Key {
        init: first,
        _p: ::std::marker::PhantomData,
    }
}

/// As `std::thread::LocalKey`.
pub struct LocalKey<T: 'static>(&'static Key<T>);

/// As `std::thread::AccessError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the thread has destroyed its value")
    }
}

impl ::std::error::Error for AccessError {}

::std::thread_local! {
    /// The values of a thread outside of executions, by key.
    static OUTSIDE: RefCell<HashMap<usize, &'static dyn Any>> = RefCell::default();
}

#[allow(missing_docs, reason = "std documents them")]
impl<T: 'static> LocalKey<T> {
    pub const fn new(key: &'static Key<T>) -> Self {
        LocalKey(key)
    }

    pub fn with<R>(&'static self, look: impl FnOnce(&T) -> R) -> R {
        let seen = self.try_with(look);
        seen.expect("cannot access a value that its thread has destroyed")
    }

    pub fn try_with<R>(
        &'static self,
        look: impl FnOnce(&T) -> R,
    ) -> ::std::result::Result<R, AccessError> {
        if place() == Place::Outside {
            return Ok(look(self.outside()));
        }
        // A thread's first look makes the value, where std's would be there already.
        let apart = apart();
        let look = |value: &T| {
            drop(apart);
            look(value)
        };
        self.0.try_with(look).map_err(|_| AccessError)
    }

    /// It is never dropped: little is left outside of executions, and processes that explore are short.
    fn outside(&self) -> &'static T {
        let key = (&raw const *self.0).addr();
        let known = OUTSIDE.with_borrow(|all| all.get(&key).copied());
        let value = known.unwrap_or_else(|| {
            let value: &'static dyn Any = Box::leak(Box::new((self.0.init)()));
            OUTSIDE.with_borrow_mut(|all| all.insert(key, value));
            value
        });
        value.downcast_ref().expect("a key has one type")
    }
}

#[allow(missing_docs, reason = "std documents them")]
impl<T: 'static> LocalKey<Cell<T>> {
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    #[must_use]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

#[allow(missing_docs, reason = "std documents them")]
impl<T: 'static> LocalKey<RefCell<T>> {
    pub fn with_borrow<R>(&'static self, look: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| look(&cell.borrow()))
    }

    pub fn with_borrow_mut<R>(&'static self, look: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| look(&mut cell.borrow_mut()))
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
