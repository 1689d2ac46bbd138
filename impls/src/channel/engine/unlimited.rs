//! Channels on which any number of requests may wait.

use flowmeter_harness::channel::Buffer;

use super::state::State;
use super::store::Store;
use crate::channel::design::Core;
use crate::channel::halves::{Consumer, Producer, split};
use crate::channel::handle::Handle;

type Tx<T, S> = Producer<State<T, S>>;
type Rx<T, S> = Consumer<State<T, S>>;

impl<T: Send, S: Store<T>> Handle<State<T, S>> {
    /// A new channel in halves, without core.async's limit of waiting requests (C7). So no operation is refused for
    /// having to wait: a put fails only if the channel is closed, and an iterator never panics.
    pub fn split_unlimited(buffer: Buffer) -> (Tx<T, S>, Rx<T, S>) {
        let mut state = State::new(buffer, None);
        state.puts.lift_limit();
        state.takes.lift_limit();
        split(Handle::called(None, state))
    }
}
