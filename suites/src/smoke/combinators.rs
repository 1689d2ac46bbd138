//! Combinators alone: values go through a pipe and are folded.

use std::num::NonZeroUsize;
use std::ops::ControlFlow::Continue;

use flowmeter_harness::channel::{AwaitAlts, Buffer, TakeError};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::std::Std;

/// Three values.
pub(crate) fn combinators<F, C, E>()
where
    F: Combinators<C>,
    C: AwaitAlts,
    E: Executors,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let go = executor.spawner();
    let (to, moved) = C::open::<u32>(Buffer::fixed(3)).expect("a family with alts has a buffer");
    let numbers = F::to_chan::<u32>(&go, [1, 2, 3]);
    F::pipe::<u32>(&go, numbers, to, AtEnd::Close);
    let mut sum = F::reduce::<u32, u32>(&go, moved, 0, |sum, number| Continue(sum + number));
    let answers = [(); 2].map(|()| Std::block_on(C::take_async(&mut sum)));
    assert_eq!(
        answers,
        [Ok(6), Err(TakeError::Closed)],
        "not the sum and then closed"
    );
}
