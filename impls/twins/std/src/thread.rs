//! As `std::thread`, with threads of the explored world.

mod current;
mod local;

pub use ::std::thread::{Result, panicking};
pub use flowmeter_core::engine::{sleep, yield_now};

pub use current::{Thread, ThreadId, current, park, park_timeout};
pub use local::{AccessError, Key, LocalKey, key};

use ::std::fmt;
use ::std::num::NonZeroUsize;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicBool, Ordering};

use flowmeter_core::engine::{Place, place, point};
use flowmeter_harness::sync::shuttle;

/// One: a crate that spins where there are several cores would only make more steps.
///
/// # Errors
/// Never.
#[allow(clippy::unnecessary_wraps, reason = "std's signature")]
pub fn available_parallelism() -> ::std::io::Result<NonZeroUsize> {
    Ok(NonZeroUsize::MIN)
}

/// As `std::thread::JoinHandle`.
pub struct JoinHandle<T: 'static> {
    raw: Raw<T>,
    thread: Thread,
    finished: Arc<AtomicBool>,
}

enum Raw<T: 'static> {
    Explored(shuttle::JoinHandle<T>),
    Real(::std::thread::JoinHandle<T>),
}

#[allow(missing_docs, reason = "std documents them")]
impl<T> JoinHandle<T> {
    /// A panic of the thread has ended the execution already, so that no answer tells of it.
    ///
    /// # Errors
    /// With the panic of a thread outside of executions.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.raw {
            Raw::Explored(handle) => Ok(handle.join()),
            Raw::Real(handle) => handle.join(),
        }
    }

    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    #[track_caller]
    pub fn is_finished(&self) -> bool {
        point("looks whether a thread has ended");
        self.finished.load(Ordering::Acquire)
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

#[cfg(unix)]
impl<T> ::std::os::unix::thread::JoinHandleExt for JoinHandle<T> {
    fn as_pthread_t(&self) -> ::std::os::unix::thread::RawPthread {
        panic!("a thread of an execution is none of the system")
    }
    fn into_pthread_t(self) -> ::std::os::unix::thread::RawPthread {
        panic!("a thread of an execution is none of the system")
    }
}

/// As `std::thread::spawn`.
#[track_caller]
pub fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    started(Thread::new(None), body).expect("the system has a thread")
}

#[track_caller]
fn started<T: Send + 'static>(
    thread: Thread,
    body: impl FnOnce() -> T + Send + 'static,
) -> ::std::io::Result<JoinHandle<T>> {
    let finished = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&finished);
    let own = thread.clone();
    let run = move || {
        current::set(own);
        let answer = body();
        ends.store(true, Ordering::Release);
        answer
    };
    let raw = match place() {
        Place::Inside => Raw::Explored(shuttle::spawn(run)),
        _ => Raw::Real(::std::thread::Builder::new().spawn(run)?),
    };
    Ok(JoinHandle {
        raw,
        thread,
        finished,
    })
}

/// As `std::thread::Builder`. Stacks have the size that the world gives them.
#[derive(Debug, Default)]
#[must_use = "it starts nothing by itself"]
pub struct Builder {
    name: Option<String>,
}

#[allow(missing_docs, reason = "std documents them")]
impl Builder {
    pub fn new() -> Builder {
        Builder::default()
    }

    pub fn name(self, name: String) -> Builder {
        Builder { name: Some(name) }
    }

    pub fn stack_size(self, _size: usize) -> Builder {
        self
    }

    /// # Errors
    /// Outside of executions, when the system has no thread.
    #[track_caller]
    pub fn spawn<T: Send + 'static>(
        self,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> ::std::io::Result<JoinHandle<T>> {
        started(Thread::new(self.name), body)
    }
}
