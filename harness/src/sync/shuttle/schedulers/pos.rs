//! Partial-order sampling (Yuan, Yang, Gu, CAV 2018).
//!
//! Each pending step has a random priority, and the step of the highest priority runs. Then the steps that conflict with
//! it draw new ones. So the order of two conflicting steps does not depend on the orders before, and orders of steps that
//! do not conflict waste no executions.

use ::shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

use super::super::access;
use super::Draw;

/// The least priority that is drawn.
const DRAWN: u64 = 1 << 63;

/// The scheduler.
#[derive(Debug)]
pub(super) struct Pos {
    draw: Draw,
    left: usize,
    /// Priorities of the tasks' next steps; 0 is not drawn yet.
    priorities: Vec<u64>,
    /// Below all drawn priorities, and below those of the yields before.
    lowest: u64,
}

impl Pos {
    pub(super) fn new(seed: u64, executions: usize) -> Pos {
        Pos {
            draw: Draw::new(seed),
            left: executions,
            priorities: Vec::new(),
            lowest: DRAWN,
        }
    }

    /// The priority of a task's next step.
    fn priority(&mut self, task: TaskId) -> &mut u64 {
        let task = usize::from(task);
        if self.priorities.len() <= task {
            self.priorities.resize(task + 1, 0);
        }
        &mut self.priorities[task]
    }
}

impl Scheduler for Pos {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        self.priorities.clear();
        self.lowest = DRAWN;
        Some(Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        // What a spinning task waits for must not have to draw a higher priority than all its steps.
        if let Some(yielding) = current.filter(|_| is_yielding) {
            self.lowest -= 1;
            *self.priority(yielding) = self.lowest;
        }
        for task in runnable {
            if *self.priority(task.id()) == 0 {
                *self.priority(task.id()) = self.draw.next() | DRAWN;
            }
        }
        let tasks = runnable.iter().map(|task| task.id());
        let next = tasks.clone().max_by_key(|task| *self.priority(*task))?;
        *self.priority(next) = 0;
        if let Some(made) = access::of(next) {
            for task in tasks {
                if access::of(task).is_some_and(|pending| pending.conflicts(made)) {
                    *self.priority(task) = 0;
                }
            }
        }
        Some(next)
    }

    fn next_u64(&mut self) -> u64 {
        self.draw.next()
    }
}
