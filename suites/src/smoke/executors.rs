//! An executor alone: one go block gives its result, and its channel closes.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, TakeError};
use flowmeter_harness::executor::{Executors, go};
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::std::Std;

/// One go block, which does not wait.
pub(crate) fn executor<E: Executors, C: Async>() {
    let executor = E::with_threads(NonZeroUsize::MIN);
    let mut results = go::<C, u32>(&executor.spawner(), async { Some(7) });
    let answers = [(); 2].map(|()| Std::block_on(C::take_async(&mut results)));
    assert_eq!(
        answers,
        [Ok(7), Err(TakeError::Closed)],
        "not the result and then closed"
    );
}
