//! Selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025).
//!
//! Each execution selects some lines that access the same objects. Every order of the steps at these lines is about as
//! likely as every other; all other steps are a random walk. For that, the task of the next selected step is drawn in
//! proportion to the number of selected steps that it still has, as the execution before showed.

use ::shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use ::std::collections::{BTreeMap, HashMap};

use super::super::access::{self, Access};
use super::Draw;

/// A line, numbered in the order of first use, which no address decides.
type Line = usize;

/// Steps of others for which a selected step is held back, at most.
const PATIENCE: usize = 1_000;

/// The scheduler.
#[derive(Debug)]
pub(super) struct Surw {
    draw: Draw,
    left: usize,
    lines: HashMap<usize, Line>,
    /// Another line that accesses the same objects, by line; a line itself for one of each group.
    groups: Vec<Line>,
    /// The line that first accessed an object in this execution.
    objects: HashMap<usize, Line>,
    /// Lines that accessed the same object in this execution. They are one group from the next one on.
    together: Vec<(Line, Line)>,
    /// Steps of each task at each line, in the execution before.
    before: BTreeMap<(usize, Line), u64>,
    made: BTreeMap<(usize, Line), u64>,
    /// The selected group.
    selected: Option<Line>,
    /// Selected steps that each task still has.
    remaining: Vec<u64>,
    /// The task that started a task; itself for the first. Tasks of this execution come first.
    parents: Vec<usize>,
    /// How many tasks this execution has.
    tasks: usize,
    /// The task of the next selected step. It may not have been started yet.
    intended: Option<usize>,
    /// Steps since the last selected one.
    idle: usize,
}

impl Surw {
    pub(super) fn new(seed: u64, executions: usize) -> Surw {
        Surw {
            draw: Draw::new(seed),
            left: executions,
            lines: HashMap::new(),
            groups: Vec::new(),
            objects: HashMap::new(),
            together: Vec::new(),
            before: BTreeMap::new(),
            made: BTreeMap::new(),
            selected: None,
            remaining: Vec::new(),
            parents: Vec::new(),
            tasks: 0,
            intended: None,
            idle: 0,
        }
    }

    fn group(&self, mut line: Line) -> Line {
        while self.groups[line] != line {
            line = self.groups[line];
        }
        line
    }

    fn line(&mut self, access: Access) -> Line {
        let next = self.groups.len();
        let line = *self.lines.entry(access.line).or_insert(next);
        if line == next {
            self.groups.push(line);
        }
        line
    }

    /// Whether the task has to wait until it is the intended one. One that has had its expected steps does not.
    fn is_held(&mut self, task: usize) -> bool {
        self.remaining.get(task).is_some_and(|left| *left > 0) && self.is_selected(task)
    }

    /// Whether the next step of that task is a selected one.
    fn is_selected(&mut self, task: usize) -> bool {
        let Some(access) = access::of(TaskId::from(task)) else {
            return false;
        };
        let line = self.line(access);
        Some(self.group(line)) == self.selected
    }

    /// Selects a group of lines that more than one task has reached.
    fn select(&mut self) {
        let mut reached: BTreeMap<Line, Vec<usize>> = BTreeMap::new();
        for &(task, line) in self.before.keys() {
            let tasks = reached.entry(self.group(line)).or_default();
            if !tasks.contains(&task) {
                tasks.push(task);
            }
        }
        reached.retain(|_, tasks| tasks.len() > 1);
        let groups: Vec<Line> = reached.into_keys().collect();
        self.selected = match groups.len() {
            0 => None,
            n => Some(groups[self.draw.below(n)]),
        };
        self.remaining.fill(0);
        for (&(task, line), &steps) in &self.before {
            if Some(self.group(line)) == self.selected {
                if self.remaining.len() <= task {
                    self.remaining.resize(task + 1, 0);
                }
                self.remaining[task] += steps;
            }
        }
    }

    /// Draws the task of the next selected step.
    fn intend(&mut self) {
        self.intended = self.draw.weighted(&self.remaining);
        self.idle = 0;
    }

    /// The intended task; while it has not been started, the one that will start it or a task above it.
    fn intended(&self) -> Option<usize> {
        let mut task = self.intended?;
        while task >= self.tasks {
            task = self.parents.get(task).copied().unwrap_or(0);
        }
        Some(task)
    }

    fn make(&mut self, task: usize) {
        let Some(access) = access::of(TaskId::from(task)) else {
            return;
        };
        let is_selected = self.is_selected(task);
        let line = self.line(access);
        *self.made.entry((task, line)).or_default() += 1;
        let first = *self.objects.entry(access.object).or_insert(line);
        if first != line {
            self.together.push((first, line));
        }
        if is_selected {
            if let Some(remaining) = self.remaining.get_mut(task) {
                *remaining = remaining.saturating_sub(1);
            }
            self.intend();
        }
    }
}

impl Scheduler for Surw {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        for (first, second) in ::std::mem::take(&mut self.together) {
            let (first, second) = (self.group(first), self.group(second));
            self.groups[first.max(second)] = first.min(second);
        }
        self.before = ::std::mem::take(&mut self.made);
        self.objects.clear();
        self.tasks = 1;
        self.select();
        self.intend();
        Some(Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        _current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        for task in runnable {
            let number = usize::from(task.id());
            self.tasks = self.tasks.max(number + 1);
            if self.parents.len() <= number {
                self.parents.resize(number + 1, 0);
            }
            self.parents[number] = task.parent_task_id().map_or(0, usize::from);
        }
        // A task that yields, or goes on and on, may wait for one that is held back.
        self.idle += 1;
        if is_yielding || self.idle > PATIENCE {
            self.intend();
        }
        let intended = self.intended();
        let ready: Vec<usize> = runnable.iter().map(|task| usize::from(task.id())).collect();
        let mut free = ready.clone();
        free.retain(|task| Some(*task) == intended || !self.is_held(*task));
        let next = match free.len() {
            // The intended task waits, or has ended.
            0 => {
                let weights = ready.iter().map(|task| self.remaining.get(*task).copied());
                let weights: Vec<u64> = weights.map(Option::unwrap_or_default).collect();
                let drawn = self.draw.weighted(&weights);
                ready[drawn.unwrap_or_else(|| self.draw.below(ready.len()))]
            }
            n => free[self.draw.below(n)],
        };
        self.make(next);
        Some(TaskId::from(next))
    }

    fn next_u64(&mut self) -> u64 {
        self.draw.next()
    }
}
