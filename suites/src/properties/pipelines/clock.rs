//! The time of a model of tasks: it passes when nobody can go on, to the moment for which the first of those who sleep
//! asked. A world has to know when that is.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::Async;
use flowmeter_harness::sync::World;

use super::super::gate::{Gate, settle};
use super::PATIENCE;

/// In milliseconds; no primitive of a world, as a [`Gate`].
#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<Mutex<Time>>);

#[derive(Default)]
struct Time {
    now: u64,
    sleepers: BTreeMap<u64, Vec<Gate>>,
}

const WHOLE: &str = "nobody panics with the lock";

impl Clock {
    pub(crate) fn now(&self) -> u64 {
        self.0.lock().expect(WHOLE).now
    }

    /// Ready so much later than now.
    pub(crate) fn sleep(&self, millis: u64) -> impl Future<Output = ()> + Send + use<> {
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
    pub(crate) fn run<C: Async, W: World>(&self) {
        loop {
            settle::<C, W>(PATIENCE, || true);
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
