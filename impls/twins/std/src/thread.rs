//! As `std::thread`, with threads of the explored world.

mod current;
mod local;

pub use ::std::thread::Result;
pub use flowmeter_core::engine::{sleep, yield_now};

pub use current::{Thread, ThreadId, current, park, park_timeout};
pub use local::{AccessError, Key, LocalKey, key};

use ::std::fmt;
use ::std::num::NonZeroUsize;
use ::std::panic::{AssertUnwindSafe, catch_unwind};
use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::sync::{Arc, PoisonError};

use flowmeter_core::engine::{Line, Place, detach, place, point};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::shuttle::twin;

/// As `std::thread::panicking`. What is unwound when an execution ends does not panic.
#[must_use]
pub fn panicking() -> bool {
    ::std::thread::panicking() && place() != Place::Ending
}

/// One: a crate that spins where there are several cores would only make more steps.
///
/// # Errors
/// Never.
#[allow(clippy::unnecessary_wraps, reason = "std's signature")]
pub fn available_parallelism() -> ::std::io::Result<NonZeroUsize> {
    Ok(NonZeroUsize::MIN)
}

/// As `std::thread::JoinHandle`.
pub struct JoinHandle<T> {
    thread: Thread,
    end: Arc<End<T>>,
}

/// Where a thread leaves its answer.
struct End<T> {
    finished: AtomicBool,
    answer: ::std::sync::Mutex<Option<Result<T>>>,
    /// The thread that joins it.
    line: Line,
}

impl<T> End<T> {
    fn leave(&self, answer: Result<T>) {
        *self.answer() = Some(answer);
        self.finished.store(true, Ordering::Release);
        self.line.wake_all();
    }

    fn answer(&self) -> ::std::sync::MutexGuard<'_, Option<Result<T>>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[allow(missing_docs, reason = "std documents them")]
impl<T> JoinHandle<T> {
    /// In an execution a panic of the thread is a failure of the whole, so that no answer tells of it.
    ///
    /// # Errors
    /// With the panic of a thread outside of executions.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        point("joins");
        let end = &self.end;
        while !end.finished.load(Ordering::Acquire) {
            if !end.line.wait("a join", Deadline::NEVER, || ()) {
                yield_now();
            }
        }
        end.answer().take().expect("a thread is joined once")
    }

    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    #[track_caller]
    pub fn is_finished(&self) -> bool {
        point("looks whether a thread has ended");
        self.end.finished.load(Ordering::Acquire)
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
    let end = Arc::new(End {
        finished: AtomicBool::new(false),
        answer: ::std::sync::Mutex::new(None),
        line: Line::new(),
    });
    let (own, its_end) = (thread.clone(), Arc::clone(&end));
    if place() == Place::Inside {
        twin::spawn(move || {
            detach();
            current::set(own);
            its_end.leave(Ok(body()));
        });
    } else {
        let run = move || {
            current::set(own);
            its_end.leave(catch_unwind(AssertUnwindSafe(body)));
        };
        drop(::std::thread::Builder::new().spawn(run)?);
    }
    Ok(JoinHandle { thread, end })
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
