//! Go blocks as state machines, alone: one with two states gives its result, and its channel closes.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::{AwaitAlts, Buffer, Callback, Offered, TakeError};
use flowmeter_harness::executor::{Executors, Frame, GoBlocks, Step};
use flowmeter_harness::sync::World;
use flowmeter_harness::sync::std::Std;

enum State {
    Begin,
    Took(Result<u32, TakeError>),
}

/// One go block, which takes a value that is there.
pub(crate) fn go_block<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>() {
    let executor = E::with_threads(NonZeroUsize::MIN);
    let (mut tx, rx) = C::open(Buffer::fixed(1)).expect("a family with alts has a buffer");
    assert_eq!(C::offer(&mut tx, 7), Offered::Done, "there is room");
    let spawner = executor.spawner();
    let mut results = G::go(&spawner, State::Begin, move |frame, state| match state {
        State::Begin => frame.take(&rx, State::Took),
        State::Took(taken) => Step::Return(taken.ok()),
    });
    let answers = [(); 2].map(|()| Std::block_on(C::take_async(&mut results)));
    assert_eq!(
        answers,
        [Ok(7), Err(TakeError::Closed)],
        "not the result and then closed"
    );
}
