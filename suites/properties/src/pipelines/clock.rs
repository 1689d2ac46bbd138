//! The time of a model of tasks. When no task can go on, it advances to the earliest moment that a sleeping task
//! waits for. It needs a world that detects when no task can go on.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex};

use super::super::gate::{Gate, quiesce};
use crate::design::Channels;

/// A clock in milliseconds. It uses std in every world, so reading it is no step of a model.
#[derive(Clone, Default)]
pub struct Clock(Arc<Mutex<Time>>);

#[derive(Default)]
struct Time {
    now: u64,
    sleepers: BTreeMap<u64, Vec<Gate>>,
}

const WHOLE: &str = "no thread panics while it holds the lock";

impl Clock {
    /// Milliseconds since it began.
    pub fn now(&self) -> u64 {
        self.0.lock().expect(WHOLE).now
    }

    /// Ready `millis` later.
    pub fn sleep(&self, millis: u64) -> impl Future<Output = ()> + Send + use<> {
        let wakes = Gate::default();
        let mut time = self.0.lock().expect(WHOLE);
        if millis == 0 {
            wakes.open();
        } else {
            let moment = time.now + millis;
            time.sleepers.entry(moment).or_default().push(wakes.clone());
        }
        wakes.pass()
    }

    /// Advances time as long as a task sleeps.
    pub fn run(&self, channels: Channels) {
        loop {
            quiesce(channels, || true);
            let mut time = self.0.lock().expect(WHOLE);
            let Some((moment, sleepers)) = time.sleepers.pop_first() else {
                return;
            };
            time.now = moment;
            drop(time);
            sleepers.iter().for_each(Gate::open);
        }
    }
}
