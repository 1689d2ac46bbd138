//! A pipeline alone: three items go through it, one at a time.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Offered, Polled};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::std::Std;

const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// Three items arrive in their order, and the output closes after them.
pub(crate) fn pipeline<P, C, E>()
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    const ITEMS: u32 = 3;
    const OPENS: &str = "a family with futures has a buffer";
    let room = Buffer::fixed(ITEMS as usize);
    let executor = E::with_threads(ONE);
    let (mut inputs, from) = C::open::<u32>(room).expect(OPENS);
    for input in 0..ITEMS {
        assert_eq!(C::offer(&mut inputs, input), Offered::Done, "there is room");
    }
    C::close(&inputs);
    drop(inputs);
    let (to, mut results) = C::open::<u32>(room).expect(OPENS);
    let af = |input, mut port: ResultPort<C, u32, P::Permit>| async move {
        let _ = port.put(input + 1).await;
    };
    let end = P::default().start(executor.spawner(), ONE, from, to, af, AtEnd::Close);
    Std::block_on(end);
    for input in 0..ITEMS {
        assert_eq!(
            C::poll(&mut results),
            Polled::Done(input + 1),
            "an item is missing, or out of its place"
        );
    }
    assert_eq!(
        C::poll(&mut results),
        Polled::Closed,
        "the output was not closed"
    );
}
