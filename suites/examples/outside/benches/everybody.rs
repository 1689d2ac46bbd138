//! My implementations and all others, in one registry.

use flowmeter_harness::registry::{AsyncRegistry, Enrol, Registry};
use flowmeter_impls::registry::Everybody;
use outside::Mine;

#[derive(Clone, Copy, Debug)]
pub struct Rivals;

impl Registry for Rivals {
    fn channels<H: Enrol>(self, hall: &mut H) {
        Mine.channels(hall);
        Everybody.channels(hall);
    }
    fn timers<H: Enrol>(self, hall: &mut H) {
        Mine.timers(hall);
        Everybody.timers(hall);
    }
}

impl AsyncRegistry for Rivals {
    type Executor = <Everybody as AsyncRegistry>::Executor;
    type Sleep = <Everybody as AsyncRegistry>::Sleep;
}
