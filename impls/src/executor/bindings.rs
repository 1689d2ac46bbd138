//! Bindings of a thread, and spawners that convey them (G5).
//!
//! A thread has a frame: its bindings, innermost first. Frames are immutable, so capturing one means keeping a pointer.
//! For each poll of a task, the frame of the thread that spawned it is installed, and the thread's own is restored
//! afterwards.
//!
//! Invariant: between polls a thread of an executor has the frame that it had before.
//!
//! ```
//! # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
//! use flowmeter_impls::channel::mutex::MutexChannels as C;
//! use flowmeter_impls::executor::bindings::Frames;
//! use flowmeter_impls::executor::fixed_pool::FixedPool;
//! use flowmeter_impls::executor::{Bindings, Executors, go};
//!
//! #[derive(Clone)]
//! struct User(&'static str);
//!
//! let pool = FixedPool::new();
//! let spawner = Frames::conveying(pool.spawner());
//! let user = Frames::bind(User("ann"), || {
//!     go::<C, _>(&spawner, async { Frames::bound::<User>().map(|user| user.0) })
//! });
//! assert_eq!(user.take(), Ok("ann"));
//! # }
//! ```
//!
//! Source: `clojure.lang.Var`'s thread binding frames, as the macro `go` captures them.

use std::any::Any;
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::mem::{ManuallyDrop, take};
use std::pin::pin;

use flowmeter_harness::executor::{Bindings, Spawn};

use crate::sync::{Arc, thread_local};

thread_local! {
    /// It needs no drop, so it is still there in the destructors of other thread-locals. `PutBack` leaves an ending
    /// thread with the frame that it began with, which is empty.
    static CURRENT: ManuallyDrop<RefCell<Frame>> =
        const { ManuallyDrop::new(RefCell::new(Frame(None))) };
}

/// Bindings as frames of threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames;

/// A spawner that conveys the bindings of the spawning thread.
#[derive(Clone, Debug)]
pub struct Conveying<S>(S);

/// A list of bindings, innermost first.
#[derive(Clone, Default)]
struct Frame(Option<Arc<Bound>>);

struct Bound {
    value: Box<dyn Any + Send + Sync>,
    outer: Frame,
}

/// Iterative: tasks that each bind and spawn the next make a chain that would overflow the stack.
impl Drop for Frame {
    fn drop(&mut self) {
        let mut last = self.0.take().and_then(|bound| Arc::try_unwrap(bound).ok());
        while let Some(mut bound) = last {
            last = bound
                .outer
                .0
                .take()
                .and_then(|bound| Arc::try_unwrap(bound).ok());
        }
    }
}

/// Restores a thread's own frame.
struct PutBack(Frame);

impl Bindings for Frames {
    type Conveying<S: Spawn + Clone + Send + 'static> = Conveying<S>;

    fn bind<T: Any + Send + Sync, R>(value: T, act: impl FnOnce() -> R) -> R {
        let inner = Bound {
            value: Box::new(value),
            outer: Frame::current(),
        };
        Frame(Some(Arc::new(inner))).during(act)
    }

    fn bound<T: Any + Send + Sync + Clone>() -> Option<T> {
        let mut frame = &Frame::current();
        while let Some(bound) = &frame.0 {
            if let Some(value) = bound.value.downcast_ref::<T>() {
                return Some(value.clone());
            }
            frame = &bound.outer;
        }
        None
    }

    fn conveying<S: Spawn + Clone + Send + 'static>(spawner: S) -> Conveying<S> {
        Conveying(spawner)
    }
}

impl<S: Spawn> Spawn for Conveying<S> {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let frame = Frame::current();
        self.0.spawn(async move {
            let mut task = pin!(task);
            poll_fn(|context| frame.clone().during(|| task.as_mut().poll(context))).await;
        });
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        let frame = Frame::current();
        self.0.spawn_blocking(move || frame.during(work));
    }
}

impl Frame {
    fn current() -> Frame {
        CURRENT.with(|current| current.borrow().clone())
    }

    /// Installs it while `act` runs, also if that panics.
    fn during<R>(self, act: impl FnOnce() -> R) -> R {
        let _put_back = PutBack(self.put());
        act()
    }

    /// Installs it; returns the frame that was there.
    fn put(self) -> Frame {
        CURRENT.with(|current| current.replace(self))
    }
}

impl Drop for PutBack {
    fn drop(&mut self) {
        // This may drop bound values, and their drops may bind.
        drop(take(&mut self.0).put());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_longer_than_a_stack_is_deep_is_dropped() {
        let longer = |outer, value: u32| {
            let value = Box::new(value);
            Frame(Some(Arc::new(Bound { value, outer })))
        };
        drop((0..1_000_000).fold(Frame(None), longer));
    }
}
