//! Shuttle's PCT, which refuses to go on after an execution without a choice between tasks. It begins anew then.

use ::shuttle::scheduler::{PctScheduler, Schedule, Scheduler, Task, TaskId};

/// The scheduler.
pub(super) struct Pct {
    pct: PctScheduler,
    seed: u64,
    depth: usize,
    left: usize,
    /// Whether it ever had a choice.
    chose: bool,
}

impl Pct {
    pub(super) fn new(seed: u64, depth: usize, executions: usize) -> Pct {
        Pct {
            pct: PctScheduler::new_from_seed(seed, depth, executions),
            seed,
            depth,
            left: executions,
            chose: false,
        }
    }
}

impl Scheduler for Pct {
    fn new_execution(&mut self) -> Option<Schedule> {
        if !self.chose {
            let seed = self.seed.wrapping_add(self.left as u64);
            self.pct = PctScheduler::new_from_seed(seed, self.depth, self.left);
        }
        self.left = self.left.checked_sub(1)?;
        self.pct.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.chose |= runnable.len() > 1;
        self.pct.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.pct.next_u64()
    }
}
