//! The schedule of a modelled cost: nothing in it is drawn, and all random numbers of the model have one seed.

use ::shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

use super::super::super::cost::Pace;
use super::super::{access, cost};
use super::Draw;

/// One execution in which tasks run in the order of their numbers.
pub(in super::super) struct Paced {
    pace: Pace,
    ran: bool,
    draw: Draw,
}

impl Paced {
    pub(in super::super) fn new(pace: Pace) -> Paced {
        Paced {
            pace,
            ran: false,
            draw: Draw::new(0),
        }
    }

    /// Whether the task makes its next step too. Steps that are no access of the model are part of those that are, so
    /// that it does not matter how many the facade needs for a lock.
    fn goes_on(&self, task: TaskId) -> bool {
        self.pace == Pace::Bursts
            || access::of(task).is_none_or(|access| cost::is_left_out(access.object))
    }
}

impl Scheduler for Paced {
    fn new_execution(&mut self) -> Option<Schedule> {
        let first = !::std::mem::replace(&mut self.ran, true);
        first.then(|| Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let tasks = || runnable.iter().map(|task| task.id());
        let same = current.filter(|task| !is_yielding && tasks().any(|other| other == *task));
        if let Some(task) = same.filter(|task| self.goes_on(*task)) {
            return Some(task);
        }
        let later = tasks().filter(|task| current.is_some_and(|current| *task > current));
        later.min().or_else(|| tasks().min())
    }

    fn next_u64(&mut self) -> u64 {
        self.draw.next()
    }
}
