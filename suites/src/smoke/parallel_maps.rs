//! A parallel map alone: three inputs, one at a time.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::parallel_map::{Outcomes, ParallelMaps};
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::std::Std;

/// Three results arrive, in the order of inputs where there is one at a time.
pub(crate) fn parallel_map<M, C, E>()
where
    M: ParallelMaps<C, E> + Default,
    C: Async,
    E: Executors,
{
    let one = NonZeroUsize::MIN;
    let executor = E::with_threads(one);
    let after = |input: u32| async move { input + 1 };
    let mut outcomes = M::default().start(executor.spawner(), one, (), 0..3, after);
    for result in 1..=3 {
        assert_eq!(
            Std::block_on(outcomes.completed()),
            Some(Ok(result)),
            "a result is missing, or out of its place"
        );
    }
}
