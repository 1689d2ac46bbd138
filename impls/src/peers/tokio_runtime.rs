//! A tokio runtime that an adapter owns, and that can be dropped anywhere.

use ::std::ops::Deref;
use ::std::thread;

use ::tokio::runtime::{Builder, Handle, Runtime};

/// A runtime that can be dropped anywhere. Dropping a tokio runtime waits for its threads. Inside a task or a callback
/// of any runtime, where blocking is not allowed, it panics. There this type waits for another thread that drops it. In a
/// task of its own it leaves the threads to end by themselves, which they do soon.
#[derive(Debug)]
pub(super) struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    /// # Panics
    /// When the system refuses the threads.
    pub(super) fn built(builder: &mut Builder) -> Self {
        let builder = builder.enable_time();
        // A row of the corpus (scripts/corpus) is about this timer.
        #[cfg(feature = "alt-timer")]
        let builder = builder.enable_alt_timer();
        let runtime = builder.build();
        OwnRuntime(Some(
            runtime.expect("the system has room for the runtime's threads"),
        ))
    }

    /// A runtime with a timer and one thread to drive it.
    ///
    /// # Panics
    /// When the system refuses the thread.
    pub(super) fn of_timer() -> Self {
        OwnRuntime::built(Builder::new_multi_thread().worker_threads(1))
    }
}

impl Deref for OwnRuntime {
    type Target = Runtime;

    #[inline]
    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("it is here until it is dropped")
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        let Some(runtime) = self.0.take() else {
            return;
        };
        // The drop of a runtime waits, which tokio permits on no thread that runs its tasks.
        match Handle::try_current() {
            Ok(here) if here.id() == runtime.handle().id() => runtime.shutdown_background(),
            Ok(_) => {
                // It returns when the other thread has ended, also by a panic.
                let _ = thread::spawn(move || drop(runtime)).join();
            }
            Err(_) => drop(runtime),
        }
    }
}
