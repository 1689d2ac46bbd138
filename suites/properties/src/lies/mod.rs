//! Injected faults (lies): an implementation that is correct except for one answer or effect.
//!
//! A mutant has one defect in its source, and most checks of a property come after others that the defect trips
//! first. An injected fault is smaller. `channels` and its siblings wrap every family in one with the same behaviour,
//! except that on one *occasion* it answers or does something else. Occasions have names and are counted, so a fault
//! is a name and a number. Running a model once and recording its occasions finds all faults that can be injected
//! into it. This shows whether a check is needed: some fault has to exist that it finds, and that no other check
//! finds (`sweep`).
//!
//! The fault is fixed for a whole execution of a model. Without a fault a wrapped family behaves like the family.

mod bindings;
pub(crate) mod channels;
pub(crate) mod combinators;
mod deadlines;
pub(crate) mod executors;
mod future;
mod go_blocks;
pub(crate) mod limiters;
mod parallel_maps;
pub(crate) mod pipelines;
pub mod places;
pub(crate) mod timers;
mod values;
mod workers;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// A fault: on the `nth` occasion of that name in an execution, or on all where it is 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lie {
    /// The name of the occasion.
    pub name: String,
    /// Which of them, from 1; 0 for all.
    pub nth: u32,
}

/// Whether occasions are counted. If not, a wrapped family costs one relaxed load.
static LISTENING: AtomicBool = AtomicBool::new(false);

/// Of std in every world: it must order nothing between the threads of a model.
static STATE: Mutex<State> = Mutex::new(State {
    lie: None,
    occasions: BTreeMap::new(),
    before: BTreeMap::new(),
});

struct State {
    lie: Option<Lie>,
    /// How many there were in this execution.
    occasions: BTreeMap<&'static str, u32>,
    /// The largest number in an earlier execution: not every execution reaches all occasions.
    before: BTreeMap<&'static str, u32>,
}

impl State {
    /// The execution has ended.
    fn end(&mut self) {
        for (name, count) in std::mem::take(&mut self.occasions) {
            let most = self.before.entry(name).or_default();
            *most = count.max(*most);
        }
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An execution begins.
pub fn begin() {
    if LISTENING.load(Ordering::Relaxed) {
        state().end();
    }
}

/// Injects that fault from here on, or none. Occasions are counted either way.
pub fn tell(lie: Option<Lie>) {
    let mut state = state();
    state.lie = lie;
    state.occasions.clear();
    state.before.clear();
    LISTENING.store(true, Ordering::Relaxed);
}

/// The occasions since then; of each name the largest number in one execution.
pub fn occasions() -> BTreeMap<&'static str, u32> {
    let mut state = state();
    state.end();
    state.before.clone()
}

/// An occasion of that name occurs; returns whether the fault is injected.
fn told(name: &'static str) -> bool {
    if !LISTENING.load(Ordering::Relaxed) {
        return false;
    }
    let mut state = state();
    let count = state.occasions.entry(name).or_default();
    *count += 1;
    let count = *count;
    let lie = state.lie.as_ref();
    lie.is_some_and(|lie| lie.name == name && (lie.nth == count || lie.nth == 0))
}
