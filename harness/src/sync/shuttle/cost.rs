//! Counts what an execution costs, if it is one that is counted. Both the facade and twins announce each access, and it
//! is counted when the schedule lets the task make it.
//!
//! A move is counted as in the MESI protocol with one object to a line: a read needs a valid copy, and a write makes all
//! other copies invalid. Nothing has a copy of what is new. So addresses must not be used again, and a program that
//! counts needs an allocator that keeps what is released. The same allocator tells of each allocation.

use ::shuttle::Runner;
use ::std::cell::RefCell;
use ::std::collections::{BTreeMap, BTreeSet};

use super::super::Failure;
use super::super::cost::{Counts, Pace, allocations};
use super::super::explored::exploration::{attempt, execute, explore_apart};
use super::super::sites::Kind;
use super::schedulers::Paced;
use super::twin::Ending;
use super::{Shuttle, config};

/// Steps of an execution; one with more is taken for one that does not end.
const STEPS: usize = 4_000_000;

const SWITCHED: &str = "a primitive of this world switches threads and is not kept apart, so allocations cannot be \
                        counted; see harness/src/sync/cost/allocations.rs";

#[derive(Default)]
struct Counter {
    counts: Counts,
    /// The tasks with a valid copy of each object.
    copies: BTreeMap<usize, BTreeSet<usize>>,
    left_out: Vec<usize>,
    /// Whether threads switched outside of the world's primitives, so that allocations are not those of the right one.
    switched_within: bool,
}

::std::thread_local! {
    static COUNTER: RefCell<Option<Counter>> = const { RefCell::new(None) };
}

impl Counter {
    fn made(&mut self, task: usize, object: usize, kind: Kind) {
        if self.left_out.contains(&object) {
            return;
        }
        let counts = &mut self.counts;
        let writes = match kind {
            Kind::Load => {
                counts.loads += 1;
                false
            }
            Kind::Store => {
                counts.stores += 1;
                true
            }
            Kind::Lock | Kind::TryLock => {
                counts.locks += 1;
                true
            }
            _ => {
                counts.read_modify_writes += 1;
                true
            }
        };
        let copies = self.copies.entry(object).or_default();
        let is_new = copies.is_empty();
        let is_valid = copies.contains(&task) && (!writes || copies.len() == 1);
        counts.moves += u64::from(!is_new && !is_valid);
        if writes {
            copies.clear();
        }
        copies.insert(task);
    }
}

fn with<R>(look: impl FnOnce(&mut Counter) -> R) -> Option<R> {
    COUNTER.with_borrow_mut(|counter| counter.as_mut().map(look))
}

/// The task accesses the object.
pub(super) fn made(task: usize, object: usize, kind: Kind) {
    with(|counter| counter.made(task, object, kind));
}

/// So many waits of other tasks are over because of the calling one.
pub(super) fn woke(waits: u64) {
    with(|counter| counter.counts.wakes += waits);
}

/// Accesses to this object do not count.
pub(super) fn leave_out(object: usize) {
    with(|counter| counter.left_out.push(object));
}

/// Whether accesses to this object do not count.
pub(super) fn is_left_out(object: usize) -> bool {
    with(|counter| counter.left_out.contains(&object)).unwrap_or(false)
}

/// The next thread is chosen.
pub(super) fn switches() {
    if allocations::is_within() {
        with(|counter| counter.switched_within = true);
    }
}

/// Whether this execution is counted.
pub(super) fn counts() -> bool {
    with(|_| ()).is_some()
}

/// Runs the model once in that pace, and counts; or says why the execution failed.
pub(super) fn count(
    pace: Pace,
    model: impl Fn() + Send + Sync + 'static,
) -> Result<Counts, String> {
    let mut counted = Counts::default();
    let explored = explore_apart(|| {
        let message = attempt(move || {
            let scheduler = Ending(Box::new(Paced::new(pace)));
            Runner::new(scheduler, config(Some(STEPS))).run(move || {
                COUNTER.set(Some(Counter::default()));
                execute::<Shuttle>(0, &model);
            });
        });
        let counter = COUNTER.take().unwrap_or_default();
        let allocations = allocations::so_far();
        counted = Counts {
            allocations,
            ..counter.counts
        };
        let message = message.or_else(|| counter.switched_within.then(|| SWITCHED.to_owned()));
        (false, message.map(Failure::from))
    });
    explored
        .failure
        .map_or(Ok(counted), |failure| Err(failure.message))
}
