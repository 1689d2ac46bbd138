//! Where threads wait for each other.

use ::std::collections::VecDeque;
use ::std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::shuttle::clock;
use flowmeter_harness::sync::shuttle::twin::{self, Wait};

use super::{Place, about_to_write, place, wrote, yield_now};

/// The threads that wait in one place, the longest waiting first.
#[derive(Debug, Default)]
pub struct Line(Mutex<VecDeque<Arc<Wait>>>);

impl Line {
    /// An empty one.
    pub const fn new() -> Line {
        Line(Mutex::new(VecDeque::new()))
    }

    fn waits(&self) -> MutexGuard<'_, VecDeque<Arc<Wait>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until woken, or until the deadline. `first` runs when the thread can be found here, and before it blocks.
    /// `false` if nothing can be waited for: the execution ends, or there is none.
    #[track_caller]
    pub fn wait(&self, what: &'static str, deadline: Deadline, first: impl FnOnce()) -> bool {
        if place() != Place::Inside {
            first();
            return false;
        }
        let _apart = twin::apart();
        // A guest may wait in a static when its execution ends.
        about_to_write(self);
        let wait = Arc::new(Wait::here());
        self.waits().push_back(Arc::clone(&wait));
        first();
        if deadline.as_nanos() <= clock::now_nanos() {
            // No time passes in a wait for no time. A thread that repeats it until the clock is past a moment spins.
            yield_now();
        } else {
            wait.sit(what, deadline);
        }
        self.waits().retain(|other| !Arc::ptr_eq(other, &wait));
        true
    }

    /// Wakes one thread: the first, unless the world misbehaves. One that its deadline has ended does not count.
    /// Whether there was one.
    pub fn wake_one(&self) -> bool {
        wrote();
        let _apart = twin::apart();
        let others = self.waits().len().saturating_sub(1);
        let mut at = match place() {
            Place::Inside => twin::notified(others),
            Place::Outside | Place::Ending => 0,
        };
        loop {
            let next = self.waits().remove(::std::mem::take(&mut at));
            let Some(wait) = next else { return false };
            if wait.end() {
                return true;
            }
        }
    }

    /// Wakes all threads. How many there were.
    pub fn wake_all(&self) -> u64 {
        wrote();
        let _apart = twin::apart();
        let all = ::std::mem::take(&mut *self.waits());
        match place() {
            Place::Inside => all.iter().map(|wait| u64::from(wait.end())).sum(),
            Place::Outside | Place::Ending => 0,
        }
    }
}
