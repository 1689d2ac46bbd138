//! Lies: an implementation that is right but for one answer or effect.
//!
//! A mutant has one defect in its source, and most checks of a property stand behind others that a defect trips
//! first. A lie is smaller: `channels` and its siblings wrap every family in one that does what it does, except
//! that on one *occasion* it answers or does something else. Occasions have names and are counted, so a lie is a
//! name and a number, and all lies that a model can be told are found by running it once and writing down which
//! occasions there were. So each check can be asked whether it is needed: some lie has to be told that it finds,
//! and that nobody finds without it (`sweep`).
//!
//! Which lie is told is settled for a whole execution of a model; without one a wrapped family is the family.

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

/// A lie: on the `nth` occasion of that name in an execution, or on all where it is 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lie {
    /// The name of the occasion.
    pub name: String,
    /// Which of them, from 1; 0 for all.
    pub nth: u32,
}

/// Whether occasions are looked at: else a wrapped family costs a relaxed load.
static LISTENING: AtomicBool = AtomicBool::new(false);

/// Of std in every world: what is told must order nothing between the threads of a model.
static STATE: Mutex<State> = Mutex::new(State {
    lie: None,
    occasions: BTreeMap::new(),
    before: BTreeMap::new(),
});

struct State {
    lie: Option<Lie>,
    /// How many there were in this execution.
    occasions: BTreeMap<&'static str, u32>,
    /// How many there were in an execution before, at most: not every one comes to everything.
    before: BTreeMap<&'static str, u32>,
}

impl State {
    /// The execution is over.
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

/// Tells that lie from here on, or none; occasions are counted either way.
pub fn tell(lie: Option<Lie>) {
    let mut state = state();
    state.lie = lie;
    state.occasions.clear();
    state.before.clear();
    LISTENING.store(true, Ordering::Relaxed);
}

/// The occasions since then: as many of each as an execution had at most.
pub fn occasions() -> BTreeMap<&'static str, u32> {
    let mut state = state();
    state.end();
    state.before.clone()
}

/// There is an occasion of that name: whether the lie is told.
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
