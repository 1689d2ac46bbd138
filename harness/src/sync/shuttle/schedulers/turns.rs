//! Several schedulers, one execution each in turn. A fault costs the executions of the scheduler that finds it first, times
//! their number.

use ::shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

/// The scheduler.
pub(super) struct Turns {
    all: Vec<Box<dyn Scheduler>>,
    now: usize,
    left: usize,
}

impl Turns {
    pub(super) fn new(all: Vec<Box<dyn Scheduler>>, executions: usize) -> Turns {
        Turns {
            now: all.len() - 1,
            all,
            left: executions,
        }
    }
}

impl Scheduler for Turns {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        self.now = (self.now + 1) % self.all.len();
        self.all[self.now].new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.all[self.now].next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.all[self.now].next_u64()
    }
}
