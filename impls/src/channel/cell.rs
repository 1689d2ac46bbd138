//! Storage for one value. A stamp or a count outside of it says whether it holds one.

use std::mem::MaybeUninit;
use std::panic::RefUnwindSafe;

use crate::sync::UnsafeCell;

/// Storage for one value. It does not know whether it holds one, and does not drop it: its queue knows.
pub(in crate::channel) struct Cell<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: a cell gives no reference to its value. Callers that keep the contracts of `write` and `read` move it in and
// out by value. So values only move from one thread to another.
unsafe impl<T: Send> Sync for Cell<T> {}

// A panic cannot leave half a value in a cell: values are moved in and out whole.
impl<T> RefUnwindSafe for Cell<T> {}

/// Drops all values that are left in a queue, one after the other. If the drop of one panics, the others are dropped
/// all the same.
pub(in crate::channel) fn drain<T>(mut pop: impl FnMut() -> Option<T>) {
    struct Rest<D: FnMut() -> bool>(D);
    impl<D: FnMut() -> bool> Drop for Rest<D> {
        fn drop(&mut self) {
            while (self.0)() {}
        }
    }
    let mut rest = Rest(|| pop().is_some());
    while (rest.0)() {}
}

impl<T> Cell<T> {
    pub(in crate::channel) fn new() -> Self {
        Cell(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Stores a value.
    ///
    /// # Safety
    /// No other thread reads or writes the cell meanwhile, and it holds no value.
    #[inline]
    pub(in crate::channel) unsafe fn write(&self, value: T) {
        self.0.with_mut(|place| {
            // SAFETY: the pointer is the cell's own, and the caller has exclusive access.
            unsafe { (*place).write(value) };
        });
    }

    /// Moves its value out.
    ///
    /// # Safety
    /// No other thread reads or writes the cell meanwhile. It holds a value, and writing that happened before.
    #[inline]
    pub(in crate::channel) unsafe fn read(&self) -> T {
        // A mutable access, so that loom reports two threads that read the same value.
        self.0.with_mut(|place| {
            // SAFETY: the pointer is the cell's own, the caller has exclusive access, and there is a value. It is not
            // read again before another one is written.
            unsafe { (*place).assume_init_read() }
        })
    }
}
