//! A tokio runtime that an adapter owns, and that can be dropped anywhere.

use ::std::cell::Cell;
use ::std::ops::Deref;
use ::std::sync::{Arc, Mutex, PoisonError};
use ::std::thread;

use ::tokio::runtime::{Builder, Handle, Runtime};

::std::thread_local! {
    /// The address of the mark of the runtime that this thread belongs to; 0 on other threads.
    static HERE: Cell<usize> = const { Cell::new(0) };
}

/// A runtime that can be dropped anywhere. Dropping a tokio runtime waits for its threads. Inside a task or a callback
/// of any runtime, where blocking is not allowed, it panics. There this type waits for another thread that drops it. On a
/// thread of its own it leaves its threads to end by themselves, which they do soon. As every drop that waits, it must not
/// come where a task of the runtime waits for it.
#[derive(Debug)]
pub(super) struct OwnRuntime {
    runtime: Option<Runtime>,
    mark: Arc<()>,
}

impl OwnRuntime {
    /// # Panics
    /// When the system refuses the threads.
    pub(super) fn built(builder: &mut Builder) -> Self {
        OwnRuntime::beginning(builder, || {})
    }

    /// A runtime with threads that call `begin` first.
    ///
    /// # Panics
    /// When the system refuses the threads.
    pub(super) fn beginning(
        builder: &mut Builder,
        begin: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let mark = Arc::new(());
        let of_threads = Arc::clone(&mark);
        let builder = builder.enable_time().on_thread_start(move || {
            HERE.with(|here| here.set(address(&of_threads)));
            begin();
        });
        // A row of the corpus (scripts/corpus) is about this timer.
        #[cfg(feature = "alt-timer")]
        let builder = builder.enable_alt_timer();
        let runtime = builder.build();
        OwnRuntime {
            runtime: Some(runtime.expect("the system has room for the runtime's threads")),
            mark,
        }
    }

    /// A runtime with a timer and one thread to drive it.
    ///
    /// # Panics
    /// When the system refuses the thread.
    pub(super) fn of_timer() -> Self {
        OwnRuntime::built(Builder::new_multi_thread().worker_threads(1))
    }
}

fn address(mark: &Arc<()>) -> usize {
    Arc::as_ptr(mark).addr()
}

impl Deref for OwnRuntime {
    type Target = Runtime;

    #[inline]
    fn deref(&self) -> &Runtime {
        self.runtime
            .as_ref()
            .expect("it is here until it is dropped")
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        let is_own = HERE.try_with(|here| here.get() == address(&self.mark));
        if is_own.unwrap_or(false) {
            runtime.shutdown_background();
        } else if Handle::try_current().is_ok() {
            drop_elsewhere(runtime);
        }
    }
}

/// Drops the runtime on another thread, and waits for the end of that. Where the system refuses a thread, the runtime
/// ends by itself.
fn drop_elsewhere(runtime: Runtime) {
    let slot = Arc::new(Mutex::new(Some(runtime)));
    let taken = |slot: &Mutex<Option<Runtime>>| {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    };
    let theirs = Arc::clone(&slot);
    match thread::Builder::new().spawn(move || drop(taken(&theirs))) {
        Ok(thread) => thread.join().expect("the drop of a runtime does not panic"),
        Err(_) => taken(&slot)
            .into_iter()
            .for_each(Runtime::shutdown_background),
    }
}
