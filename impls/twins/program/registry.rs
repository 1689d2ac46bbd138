//! What takes part in this program: the published crates that have twins, with the claims that they have under std.

#[path = "../../src/registry/published.rs"]
mod published;

use flowmeter_harness::registry::{AsyncRegistry, Visitor, Registry};
use flowmeter_impls_shuttle::executor::fixed_pool::FixedPool;
use flowmeter_impls_shuttle::timer::heap::Heap;

/// What pipelines run on.
type OfPipelines = FixedPool;

/// The published crates.
#[derive(Clone, Copy, Debug)]
pub struct Twins;

impl Registry for Twins {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        published::channels(visitor);
    }

    fn timers<V: Visitor>(self, visitor: &mut V) {
        published::timers(visitor);
    }

    fn limiters<V: Visitor>(self, visitor: &mut V) {
        published::limiters(visitor);
    }

    fn pipelines<V: Visitor>(self, visitor: &mut V) {
        published::pipelines(visitor);
    }

    fn executors<V: Visitor>(self, visitor: &mut V) {
        published::executors(visitor);
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
