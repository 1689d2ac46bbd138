//! The time of a model of tasks: it passes when nobody can go on, to the moment for which the first of those who sleep
//! asked. A world has to know when that is.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex};

use super::super::gate::{Gate, quiesce};
use super::PATIENCE;
use crate::design::Channels;

/// A clock in milliseconds, made of std in every world: reading it is no step of a model.
#[derive(Clone, Default)]
pub struct Clock(Arc<Mutex<Time>>);

#[derive(Default)]
struct Time {
    now: u64,
    sleepers: BTreeMap<u64, Vec<Gate>>,
}

const WHOLE: &str = "nobody panics with the lock";

impl Clock {
    /// Nanoseconds since it began.
    pub fn now(&self) -> u64 {
        self.0.lock().expect(WHOLE).now
    }

    /// Ready so much later than now.
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

    /// Lets time pass for as long as somebody sleeps.
    pub fn run(&self, channels: Channels) {
        loop {
            quiesce(channels, PATIENCE, || true);
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
