//! My implementations and all others, in one registry.

use flowmeter_harness::registry::{AsyncRegistry, Registry, Visitor};
use flowmeter_impls::registry::All;
use outside::Mine;

#[derive(Clone, Copy, Debug)]
pub struct Rivals;

impl Registry for Rivals {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        Mine.channels(visitor);
        All.channels(visitor);
    }
    fn timers<V: Visitor>(self, visitor: &mut V) {
        Mine.timers(visitor);
        All.timers(visitor);
    }
}

impl AsyncRegistry for Rivals {
    type Executor = <All as AsyncRegistry>::Executor;
    type Sleep = <All as AsyncRegistry>::Sleep;
}
