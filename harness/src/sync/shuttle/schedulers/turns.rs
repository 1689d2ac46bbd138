//! Several schedulers, one execution each in turn: a fault that one of them finds soon is found soon.

use ::shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

use super::super::super::Scheduling;
use super::super::access;
use super::Draw;
use super::reads::Reads;

/// The scheduler.
pub(super) struct Turns {
    all: Vec<One>,
    now: usize,
    left: usize,
    done: u64,
    draw: Draw,
    reads: Reads,
    adaptive: bool,
}

struct One {
    scheduler: Box<dyn Scheduler>,
    executions: u64,
    gains: u64,
    /// Whether it had a choice in its executions. PCT refuses a program without any.
    chose: bool,
}

impl Turns {
    pub(super) fn new(seed: u64, executions: usize, adaptive: bool) -> Turns {
        let one = |scheduling| One {
            scheduler: super::new(scheduling, seed, executions),
            executions: 0,
            gains: 0,
            chose: false,
        };
        Turns {
            all: Scheduling::SINGLE.map(one).into(),
            now: 0,
            left: executions,
            done: 0,
            draw: Draw::new(seed),
            reads: Reads::default(),
            adaptive,
        }
    }

    fn next(&mut self) -> usize {
        if !self.adaptive {
            return (self.done % self.all.len() as u64) as usize;
        }
        let all = self.done.max(1) as f64;
        let mut best = (0, f64::MIN);
        for (place, one) in self.all.iter().enumerate() {
            if one.executions == 0 {
                return place;
            }
            let n = one.executions as f64;
            let value = one.gains as f64 / n + (2.0 * all.ln() / n).sqrt();
            if value > best.1 {
                best = (place, value);
            }
        }
        best.0
    }
}

impl Scheduler for Turns {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        let gained = self.reads.begin();
        if self.done > 0 {
            self.all[self.now].gains += u64::from(gained);
        }
        self.now = self.next();
        let one = &self.all[self.now];
        if one.executions > 0 && !one.chose {
            self.now = 0;
        }
        self.done += 1;
        self.all[self.now].executions += 1;
        self.all[self.now].scheduler.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let one = &mut self.all[self.now];
        one.chose |= runnable.len() > 1;
        let next = one.scheduler.next_task(runnable, current, is_yielding)?;
        if self.adaptive
            && let Some(access) = access::of(next)
        {
            self.reads.made(access);
        }
        Some(next)
    }

    fn next_u64(&mut self) -> u64 {
        self.all[self.now].scheduler.next_u64()
    }
}
