//! A place for one value, which somebody else's word says to be there or not.

use std::mem::MaybeUninit;
use std::panic::RefUnwindSafe;

use crate::sync::UnsafeCell;

/// It neither knows whether it holds a value nor drops one: that is told by the stamp beside it.
pub(super) struct Cell<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: a cell gives no reference to what it holds. It is written and read by value, by those who keep the contracts
// of `write` and `read`; so values only go from one thread to another.
unsafe impl<T: Send> Sync for Cell<T> {}

// What is in a cell while somebody panics was moved in whole, and is moved out whole.
impl<T> RefUnwindSafe for Cell<T> {}

/// Drops all that is left in a queue, one after the other: the others also where the drop of one panics.
pub(super) fn drain<T>(mut pop: impl FnMut() -> Option<T>) {
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
    pub(super) fn new() -> Self {
        Cell(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Stores a value.
    ///
    /// # Safety
    /// Nobody reads or writes the cell meanwhile, and it holds none.
    #[inline]
    pub(super) unsafe fn write(&self, value: T) {
        self.0.with_mut(|place| {
            // SAFETY: the pointer is the cell's own, and the caller has it for itself.
            unsafe { (*place).write(value) };
        });
    }

    /// Moves its value out.
    ///
    /// # Safety
    /// Nobody reads or writes the cell meanwhile, and it holds one, whose writing happened before.
    #[inline]
    pub(super) unsafe fn read(&self) -> T {
        // Under loom as a write, so that two who read one value are found.
        self.0.with_mut(|place| {
            // SAFETY: the pointer is the cell's own, the caller has it for itself, and there is a value; nobody reads
            // it again before another one is written.
            unsafe { (*place).assume_init_read() }
        })
    }
}
