//! A runtime of tokio's that an adapter owns, and that can be dropped anywhere.

use ::std::ops::Deref;

use ::tokio::runtime::{Builder, Handle, Runtime};

/// Dropping a runtime waits for its threads, and panics inside a task or a callback of any runtime, where nobody
/// may wait. There its threads are left to end by themselves, and they do so soon.
#[derive(Debug)]
pub(super) struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    /// # Panics
    /// When the system refuses the threads.
    pub(super) fn built(builder: &mut Builder) -> Self {
        let runtime = builder.enable_time().build();
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
        if Handle::try_current().is_ok()
            && let Some(runtime) = self.0.take()
        {
            runtime.shutdown_background();
        }
    }
}
