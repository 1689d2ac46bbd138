//! Records and follows schedules of shuttle: one wrapper records the decisions of any scheduler, and one scheduler
//! follows a record.
//!
//! Shuttle's own records hold seeds instead of the drawn numbers, and its replay ends at the first step that cannot be
//! followed. A schedule that is being shrunk has many such steps.

use ::shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use ::std::cell::RefCell;
use ::std::collections::{BTreeMap, VecDeque};
use ::std::rc::Rc;

use super::super::schedule::Steps;
use super::super::split_mix;

/// The decisions of the latest executions of a run.
#[derive(Debug, Default)]
pub(super) struct Tape {
    /// Executions begun.
    begun: u64,
    latest: Steps,
    /// The execution before: a leak is reported only when the next one has begun.
    former: Steps,
}

impl Tape {
    /// The steps of the last execution that has begun.
    pub(super) fn latest(&self) -> &Steps {
        &self.latest
    }

    /// The steps of the last of `executions` executions.
    pub(super) fn of(&mut self, executions: u64) -> Steps {
        ::std::mem::take(match self.begun > executions {
            true => &mut self.former,
            false => &mut self.latest,
        })
    }
}

/// Records the decisions of a scheduler.
#[derive(Debug)]
pub(super) struct Recorder<S> {
    scheduler: S,
    tape: Rc<RefCell<Tape>>,
    running: u32,
}

impl<S: Scheduler> Recorder<S> {
    pub(super) fn new(scheduler: S, tape: Rc<RefCell<Tape>>) -> Recorder<S> {
        Recorder {
            scheduler,
            tape,
            running: 0,
        }
    }

    /// The scheduler whose decisions it records.
    pub(super) fn scheduler(&mut self) -> &mut S {
        &mut self.scheduler
    }
}

impl<S: Scheduler> Scheduler for Recorder<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        let schedule = self.scheduler.new_execution()?;
        let tape = &mut *self.tape.borrow_mut();
        tape.begun += 1;
        ::std::mem::swap(&mut tape.latest, &mut tape.former);
        tape.latest.runs.clear();
        tape.latest.drawn.clear();
        Some(schedule)
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let next = self.scheduler.next_task(runnable, current, is_yielding)?;
        self.running = number(next);
        let runs = &mut self.tape.borrow_mut().latest.runs;
        match runs.last_mut() {
            Some((task, steps)) if *task == self.running => *steps += 1,
            _ => runs.push((self.running, 1)),
        }
        Some(next)
    }

    fn next_u64(&mut self) -> u64 {
        let number = self.scheduler.next_u64();
        let drawn = &mut self.tape.borrow_mut().latest.drawn;
        drawn.push((self.running, number));
        number
    }
}

fn number(task: TaskId) -> u32 {
    u32::try_from(usize::from(task)).expect("fewer threads than that fit into memory")
}

/// Steps for which a stretch waits for its task to be started, at most. A changed schedule may name one that never is.
const PATIENCE: u32 = 10_000;

/// A stretch of a schedule: this task goes on until it has made that many steps in total. Because each task's own steps
/// are counted, removing a stretch leaves the others in place.
type Stretch = (u32, u64);

/// Follows a record, once: exactly as long as the program makes the same steps. Steps that cannot be followed are
/// skipped. At the end of the record each task goes on until it waits or yields.
#[derive(Debug)]
pub(super) struct Follower {
    stretches: VecDeque<Stretch>,
    drawn: BTreeMap<u32, VecDeque<u64>>,
    /// Steps of each task so far.
    made: BTreeMap<u32, u64>,
    running: u32,
    /// Steps for which the front stretch has waited for its task to be started.
    waited: u32,
    begun: bool,
}

impl Follower {
    pub(super) fn new(steps: &Steps) -> Follower {
        Follower::along(stretches(steps), steps)
    }

    /// Follows these stretches, with the random numbers of `steps`.
    pub(super) fn along(stretches: impl IntoIterator<Item = Stretch>, steps: &Steps) -> Follower {
        let mut drawn: BTreeMap<u32, VecDeque<u64>> = BTreeMap::new();
        for &(task, number) in &steps.drawn {
            drawn.entry(task).or_default().push_back(number);
        }
        Follower {
            stretches: stretches.into_iter().collect(),
            drawn,
            made: BTreeMap::new(),
            running: 0,
            waited: 0,
            begun: false,
        }
    }

    fn made(&self, task: u32) -> u64 {
        self.made.get(&task).copied().unwrap_or(0)
    }

    fn makes(&mut self, task: u32) -> TaskId {
        *self.made.entry(task).or_default() += 1;
        self.running = task;
        TaskId::from(task as usize)
    }

    /// The task that goes on: the one that runs, if it can and does not yield.
    fn goes_on(runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<u32> {
        let current = current.filter(|_| !is_yielding)?;
        let is_ready = runnable.iter().any(|ready| ready.id() == current);
        is_ready.then(|| number(current))
    }

    /// The next task on the record; `None` at its end.
    pub(super) fn followed(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let ready = |task: u32| runnable.iter().any(|ready| number(ready.id()) == task);
        let goes_on = Follower::goes_on(runnable, current, is_yielding);
        let next = loop {
            let &(task, until) = self.stretches.front()?;
            if self.made(task) < until && ready(task) {
                break task;
            }
            // The task has not been started yet; the running task may still start it.
            if self.made(task) == 0
                && self.waited < PATIENCE
                && let Some(goes_on) = goes_on
            {
                self.waited += 1;
                break goes_on;
            }
            self.waited = 0;
            self.stretches.pop_front();
        };
        Some(self.makes(next))
    }

    /// The number that the record has for the running task; `None` beyond its end.
    pub(super) fn drawn(&mut self) -> Option<u64> {
        self.drawn.get_mut(&self.running)?.pop_front()
    }
}

/// The stretches of a record.
pub(super) fn stretches(steps: &Steps) -> Vec<Stretch> {
    let mut made: BTreeMap<u32, u64> = BTreeMap::new();
    let all = steps.runs.iter().map(|&(task, steps)| {
        let made = made.entry(task).or_default();
        *made += u64::from(steps);
        (task, *made)
    });
    all.collect()
}

impl Scheduler for Follower {
    fn new_execution(&mut self) -> Option<Schedule> {
        let first = !::std::mem::replace(&mut self.begun, true);
        first.then(|| Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let followed = self.followed(runnable, current, is_yielding);
        followed.or_else(|| {
            let goes_on = Follower::goes_on(runnable, current, is_yielding);
            let current = current.map(number);
            let all = || runnable.iter().map(|task| number(task.id()));
            let after = || all().find(|task| current.is_none_or(|now| *task > now));
            let next = goes_on.or_else(after).or_else(|| all().next())?;
            Some(self.makes(next))
        })
    }

    fn next_u64(&mut self) -> u64 {
        let drawn = self.drawn();
        // Beyond the record any number will do, as long as it is reproducible.
        drawn.unwrap_or_else(|| split_mix(self.made(self.running)))
    }
}
