//! A pipeline of transforms alone: three inputs, one at a time.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Emit, Offered, Polled};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::transform_pipeline::TransformPipelines;

/// One result for each arrives.
pub(crate) fn workers<P, C, E>()
where
    P: TransformPipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    const OPENS: &str = "a family with futures has a buffer";
    let (one, room) = (NonZeroUsize::MIN, Buffer::fixed(3));
    let executor = E::with_threads(one);
    let (mut inputs, from) = C::open::<u32>(room).expect(OPENS);
    for input in 0..3 {
        assert_eq!(C::offer(&mut inputs, input), Offered::Done, "there is room");
    }
    C::close(&inputs);
    let (to, mut results) = C::open::<u32>(room).expect(OPENS);
    let after = |input, emit: Emit<'_, u32>| {
        let _ = emit(input + 1);
    };
    let spawner = executor.spawner();
    let end = P::default().start(spawner, one, from, to, after, |_| None, AtEnd::Close);
    Std::block_on(end);
    for result in 1..=3 {
        assert_eq!(
            C::poll(&mut results),
            Polled::Done(result),
            "a result is missing, or out of its place"
        );
    }
}
