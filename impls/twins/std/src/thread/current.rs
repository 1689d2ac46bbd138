//! `Thread`, `current` and parking.

use ::std::cell::RefCell;
use ::std::fmt;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use ::std::time::Duration;

use flowmeter_core::engine::{self, Line, Place, changes, changes_again, place};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::shuttle::twin::{apart, wakes_spuriously, woke};

/// As `std::thread::Thread`.
#[derive(Clone)]
pub struct Thread(Arc<Inner>);

struct Inner {
    id: ThreadId,
    name: Option<String>,
    token: AtomicBool,
    /// The thread itself, while it is parked.
    line: Line,
    /// Outside of executions: the thread of the system that is to be unparked.
    real: ::std::sync::OnceLock<::std::thread::Thread>,
}

/// As `std::thread::ThreadId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(u64);

crate::thread_local! {
    static CURRENT: RefCell<Option<Thread>> = const { RefCell::new(None) };
}

#[allow(missing_docs, reason = "std documents them")]
impl Thread {
    pub(super) fn new(name: Option<String>) -> Thread {
        static LAST: AtomicU64 = AtomicU64::new(0);
        engine::about_to_write(&LAST);
        let _apart = apart();
        Thread(Arc::new(Inner {
            id: ThreadId(LAST.fetch_add(1, Ordering::Relaxed)),
            name,
            token: AtomicBool::new(false),
            line: Line::new(),
            real: ::std::sync::OnceLock::new(),
        }))
    }

    #[must_use]
    pub fn id(&self) -> ThreadId {
        self.0.id
    }

    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    #[track_caller]
    pub fn unpark(&self) {
        changes(&self.0.token, "unparks");
        self.0.token.store(true, Ordering::Release);
        woke(self.0.line.wake_all());
        if let Some(real) = self.0.real.get() {
            real.unpark();
        }
    }

    #[track_caller]
    fn park(&self, deadline: Deadline) {
        changes(&self.0.token, "parks");
        let token = || self.0.token.swap(false, Ordering::Acquire);
        if token() {
            return;
        }
        match place() {
            Place::Inside if wakes_spuriously() => {}
            Place::Inside => {
                self.0.line.wait("park", deadline, || ());
                changes_again(&self.0.token, "takes the token");
                token();
            }
            Place::Ending => {}
            Place::Outside => {
                self.0.real.get_or_init(::std::thread::current);
                if token() {
                    return;
                }
                match deadline {
                    Deadline::NEVER => ::std::thread::park(),
                    _ => {
                        let left = deadline.as_nanos().saturating_sub(engine::now());
                        ::std::thread::park_timeout(Duration::from_nanos(left));
                    }
                }
                token();
            }
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id();
        f.debug_struct("Thread")
            .field("id", &id)
            .finish_non_exhaustive()
    }
}

/// Says which thread the calling one is.
pub(super) fn set(thread: Thread) {
    CURRENT.with(|current| *current.borrow_mut() = Some(thread));
}

/// As `std::thread::current`.
#[must_use]
pub fn current() -> Thread {
    let known = |current: &RefCell<Option<Thread>>| {
        let mut current = current.borrow_mut();
        current.get_or_insert_with(|| Thread::new(None)).clone()
    };
    CURRENT
        .try_with(known)
        .unwrap_or_else(|_| Thread::new(None))
}

/// As `std::thread::park`.
#[track_caller]
pub fn park() {
    current().park(Deadline::NEVER);
}

/// As `std::thread::park_timeout`.
#[track_caller]
pub fn park_timeout(time: Duration) {
    current().park(engine::after(time));
}
