//! The single mechanism of waiting.

use ::std::panic::Location;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicBool, Ordering};

use super::super::{Deadline, trace};
use super::census::{self, State};
use super::{Engine, Place, Word, helper};

/// A seat; its thread can be roused, once.
pub trait Rouse: Send + Sync {
    /// Whether this call was the one that roused it.
    fn rouse(&self) -> bool;
    /// The thread that sits there.
    fn thread(&self) -> Option<usize>;
}

/// A seat for one wait of one thread.
pub struct Seat<E: Engine> {
    thread: Option<usize>,
    roused: AtomicBool,
    place: E::Place,
}

impl<E: Engine> Seat<E> {
    /// A seat for the calling thread. No scheduling point.
    pub fn take() -> Arc<Self> {
        Arc::new(Seat {
            thread: E::me(),
            roused: AtomicBool::new(false),
            place: E::Place::here(),
        })
    }

    /// Sits until roused by a waker that finds the seat, or by a timer at `deadline`. The timer first touches `gate`,
    /// as every other waker of this seat does. No scheduling point before the thread blocks.
    pub fn sit(
        self: &Arc<Self>,
        what: &'static str,
        at: &'static Location<'static>,
        deadline: Deadline,
        gate: &Arc<E::Word>,
    ) {
        trace::step(|| format!("waits in {what}"), Some(at));
        if let Some(thread) = self.thread {
            let timed = deadline != Deadline::NEVER;
            let settled = census::with(|census| {
                census.spun = 0;
                if !self.roused.load(Ordering::Relaxed) {
                    census.thread(thread).state = State::Seated { what, at };
                    if timed {
                        let gate: Arc<dyn Word> = gate.clone();
                        census.arm(deadline, self.clone(), gate);
                    }
                }
                census.settle()
            });
            if timed {
                helper::ensure::<E>();
            }
            helper::act(settled);
        }
        self.place.sit();
        trace::step(|| "goes on".to_owned(), None);
    }

    /// Sits as the helper without work; `self` must already be in the census.
    pub fn idle(&self) {
        self.place.sit();
    }
}

impl<E: Engine> Rouse for Seat<E> {
    fn rouse(&self) -> bool {
        let first = !self.roused.swap(true, Ordering::Relaxed);
        if first {
            if let Some(thread) = self.thread {
                census::with(|census| {
                    census.thread(thread).state = State::Running;
                    census.disarm(thread);
                    census.wrote();
                });
            }
            self.place.release();
        }
        first
    }

    fn thread(&self) -> Option<usize> {
        self.thread
    }
}
