//! What the threads of one execution did, for a picture of it: the steps of the facade with the lines that made
//! them, and what the model says of its own operations ([`World::note`](super::World::note)).
//!
//! Only while [`traced`] runs is anything written down; otherwise a step costs one relaxed load, or nothing in the
//! std world, which has no steps.

use ::std::collections::VecDeque;
use ::std::panic::Location;
use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::sync::{Mutex, MutexGuard, PoisonError};

use super::Note;

/// Something that a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number, 0 being the model's first thread; `None` for one that is not the model's.
    pub thread: Option<usize>,
    /// What it did.
    pub what: What,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A step of the facade.
    Step {
        /// Which, in a word or two.
        what: String,
        /// The line, such as `impls/src/channel/mutex/state.rs:210`.
        at: Option<String>,
    },
    /// What the model says.
    Said(Note),
}

/// Events kept: the last ones.
const ROOM: usize = 4_000;

type Who = fn() -> Option<usize>;

struct Trace {
    who: Option<Who>,
    events: VecDeque<Event>,
}

static ON: AtomicBool = AtomicBool::new(false);
static TRACE: Mutex<Trace> = Mutex::new(Trace {
    who: None,
    events: VecDeque::new(),
});

fn trace() -> MutexGuard<'static, Trace> {
    TRACE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs an exploration, and answers with what the threads of its last execution did; only the end of it, where it
/// was long. One at a time in a process.
pub fn traced<R>(run: impl FnOnce() -> R) -> (R, Vec<Event>) {
    trace().events.clear();
    ON.store(true, Ordering::Relaxed);
    let answer = run();
    ON.store(false, Ordering::Relaxed);
    let events = ::std::mem::take(&mut trace().events);
    (answer, events.into())
}

/// An execution begins, in which `who` tells which thread is running.
pub(crate) fn begin(who: Who) {
    if ON.load(Ordering::Relaxed) {
        let mut trace = trace();
        trace.who = Some(who);
        trace.events.clear();
    }
}

/// The running thread does that.
#[inline]
pub(crate) fn step(what: impl FnOnce() -> String, at: Option<&'static Location<'static>>) {
    if ON.load(Ordering::Relaxed) {
        let at = at.map(super::explored::place);
        put(What::Step { what: what(), at });
    }
}

/// The model says that.
#[inline]
pub(crate) fn note(note: impl FnOnce() -> Note) {
    if ON.load(Ordering::Relaxed) {
        put(What::Said(note()));
    }
}

fn put(what: What) {
    let who = trace().who;
    // Outside the lock: it is the checker's code.
    let thread = who.and_then(|who| who());
    let events = &mut trace().events;
    if events.len() == ROOM {
        events.pop_front();
    }
    events.push_back(Event { thread, what });
}
