//! Feedback from what was read (after Wolff, Shi, Duck, Mathur, Roychoudhury, ASPLOS 2024).
//!
//! A schedule in which some line read what another had written, for the first time, is kept. Later executions change a
//! kept schedule at one place, follow it as far as it goes, and are partial-order sampling from there.

use ::shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use ::std::cell::RefCell;
use ::std::rc::Rc;

use super::super::super::schedule::Steps;
use super::super::access;
use super::super::recorded::{Follower, Recorder, Tape, stretches};
use super::Draw;
use super::pos::Pos;
use super::reads::Reads;

/// The number of schedules kept.
const KEPT: usize = 256;

/// The scheduler.
#[derive(Debug)]
pub(super) struct Feedback {
    inner: Recorder<Following>,
    tape: Rc<RefCell<Tape>>,
    draw: Draw,
    reads: Reads,
    kept: Vec<Steps>,
}

impl Feedback {
    pub(super) fn new(seed: u64, executions: usize) -> Feedback {
        let tape = Rc::new(RefCell::new(Tape::default()));
        let following = Following {
            follower: None,
            beyond: Pos::new(seed, executions),
        };
        Feedback {
            inner: Recorder::new(following, Rc::clone(&tape)),
            tape,
            draw: Draw::new(!seed),
            reads: Reads::default(),
            kept: Vec::new(),
        }
    }

    /// Keeps the schedule of the execution before.
    fn keep(&mut self) {
        let steps = self.tape.borrow().latest().clone();
        if self.kept.len() < KEPT {
            self.kept.push(steps);
        } else {
            let place = self.draw.below(KEPT);
            self.kept[place] = steps;
        }
    }

    /// A kept schedule with one change; in half of the executions, none.
    fn changed(&mut self) -> Option<Follower> {
        if self.kept.is_empty() || self.draw.below(2) == 0 {
            return None;
        }
        let steps = &self.kept[self.draw.below(self.kept.len())];
        let mut stretches = stretches(steps);
        let place = self.draw.below(stretches.len().max(1));
        match self.draw.below(3) {
            0 => stretches.truncate(place),
            1 if place < stretches.len() => drop(stretches.remove(place)),
            _ if place + 1 < stretches.len() => stretches.swap(place, place + 1),
            _ => {}
        }
        Some(Follower::along(stretches, steps))
    }
}

impl Scheduler for Feedback {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.reads.begin() {
            self.keep();
        }
        let follower = self.changed();
        self.inner.scheduler().follower = follower;
        self.inner.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let next = self.inner.next_task(runnable, current, is_yielding)?;
        if let Some(access) = access::of(next) {
            self.reads.made(access);
        }
        Some(next)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}

/// Follows a schedule, and another scheduler beyond its end.
#[derive(Debug)]
struct Following {
    follower: Option<Follower>,
    beyond: Pos,
}

impl Scheduler for Following {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.beyond.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let follower = self.follower.as_mut();
        let followed = follower.and_then(|it| it.followed(runnable, current, is_yielding));
        if followed.is_some() {
            return followed;
        }
        self.follower = None;
        self.beyond.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        let drawn = self.follower.as_mut().and_then(Follower::drawn);
        drawn.unwrap_or_else(|| self.beyond.next_u64())
    }
}
