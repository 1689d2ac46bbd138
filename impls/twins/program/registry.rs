//! What takes part in this program: the published crates that have twins, with the claims that they have under std.

#[path = "../../src/registry/published.rs"]
mod published;

use flowmeter_harness::registry::{AsyncRegistry, Enrol, Registry};
use flowmeter_impls_shuttle::executor::fixed_pool::FixedPool;
use flowmeter_impls_shuttle::timer::heap::Heap;

/// The published crates.
#[derive(Clone, Copy, Debug)]
pub struct Twins;

impl Registry for Twins {
    fn channels<H: Enrol>(self, hall: &mut H) {
        published::channels(hall);
    }

    fn timers<H: Enrol>(self, hall: &mut H) {
        published::timers(hall);
    }

    fn limiters<H: Enrol>(self, hall: &mut H) {
        published::limiters(hall);
    }

    fn executors<H: Enrol>(self, hall: &mut H) {
        published::executors(hall);
    }
}

/// No implementation: outside an execution there is nothing to prove here.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Registry for Nothing {}

impl AsyncRegistry for Nothing {
    type Executor = FixedPool;
    type Sleep = Heap;
}
