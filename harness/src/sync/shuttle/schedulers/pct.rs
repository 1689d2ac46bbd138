//! Shuttle's PCT, which refuses a model without a choice between tasks. Such a model is executed at random instead.

use ::shuttle::scheduler::{PctScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId};

/// The scheduler.
pub(super) struct Pct {
    pct: PctScheduler,
    random: RandomScheduler,
    executions: u64,
    /// Whether PCT had a choice.
    chose: bool,
}

impl Pct {
    pub(super) fn new(seed: u64, depth: usize, executions: usize) -> Pct {
        Pct {
            pct: PctScheduler::new_from_seed(seed, depth, executions),
            random: RandomScheduler::new_from_seed(seed, executions),
            executions: 0,
            chose: false,
        }
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        match self.chose || self.executions <= 1 {
            true => &mut self.pct,
            false => &mut self.random,
        }
    }
}

impl Scheduler for Pct {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.executions += 1;
        self.scheduler().new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let next = self.scheduler().next_task(runnable, current, is_yielding);
        self.chose |= self.executions == 1 && runnable.len() > 1;
        next
    }

    fn next_u64(&mut self) -> u64 {
        self.scheduler().next_u64()
    }
}
