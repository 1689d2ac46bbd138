//! Records what the threads of one execution did, for a picture of it: the steps of the facade with their lines, and
//! the model's notes on its own operations ([`World::note`](super::World::note)).
//!
//! Events are recorded only while [`traced`] runs. Otherwise a step costs one relaxed load, or nothing in the std
//! world, which has no steps.

use ::std::collections::VecDeque;
use ::std::panic::Location;
use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::sync::{Mutex, MutexGuard, PoisonError};

use super::Note;

/// An event of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number, 0 for the model's first thread; `None` for a thread outside the model.
    pub thread: Option<usize>,
    /// What the thread did.
    pub what: What,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A step of the facade.
    Step {
        /// The kind of step, in a word or two.
        what: String,
        /// The line, such as `impls/src/channel/mutex/state.rs:210`.
        at: Option<String>,
    },
    /// A note of the model.
    Said(Note),
}

/// The number of events kept, the latest ones.
const ROOM: usize = 4_000;

type Who = fn() -> Option<usize>;

struct Trace {
    task: Option<Who>,
    events: VecDeque<Event>,
}

static ON: AtomicBool = AtomicBool::new(false);
static TRACE: Mutex<Trace> = Mutex::new(Trace {
    task: None,
    events: VecDeque::new(),
});

fn trace() -> MutexGuard<'static, Trace> {
    TRACE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs an exploration, and also returns the events of its last execution; only the latest, if there were many. Only
/// one at a time in a process.
pub fn traced<R>(run: impl FnOnce() -> R) -> (R, Vec<Event>) {
    trace().events.clear();
    ON.store(true, Ordering::Relaxed);
    let answer = run();
    ON.store(false, Ordering::Relaxed);
    let events = ::std::mem::take(&mut trace().events);
    (answer, events.into())
}

/// Begins an execution, in which `task` returns the running thread.
pub(crate) fn begin(task: Who) {
    if ON.load(Ordering::Relaxed) {
        let mut trace = trace();
        trace.task = Some(task);
        trace.events.clear();
    }
}

/// Records a step of the running thread.
#[inline]
pub(crate) fn step(what: impl FnOnce() -> String, at: Option<&'static Location<'static>>) {
    if ON.load(Ordering::Relaxed) {
        let at = at.map(super::explored::place);
        put(What::Step { what: what(), at });
    }
}

/// Records a note of the model.
#[inline]
pub(crate) fn note(note: impl FnOnce() -> Note) {
    if ON.load(Ordering::Relaxed) {
        put(What::Said(note()));
    }
}

fn put(what: What) {
    let task = trace().task;
    // Outside the lock: it is the checker's code.
    let thread = task.and_then(|task| task());
    let events = &mut trace().events;
    if events.len() == ROOM {
        events.pop_front();
    }
    events.push_back(Event { thread, what });
}
