//! Everything from one place to another: `pipe`, `onto_chan` and `to_chan` (M1, M7, M8).

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::{Spawn, go};
use flowmeter_harness::pipeline::AtEnd;

use crate::pipeline::{next, open};

use super::Outlet;

/// Moves everything that comes out of `from` to `to`, which is closed when `from` has ended, unless asked not to. Answers
/// a channel that closes, without a value, when the pipe has ended (core.async's answers `to`).
///
/// The next value is taken when the one before was accepted. Where `to` refuses one that value is lost, and nothing
/// further is taken: an idle source is let go at its next value only, as in core.async.
pub fn pipe<C: Async, T: Message>(
    spawner: &impl Spawn,
    mut from: C::Rx<T>,
    to: C::Tx<T>,
    at_end: AtEnd,
) -> C::Rx<()> {
    let mut to = Outlet::<C, T>::new(to, at_end);
    go::<C, ()>(spawner, async move {
        while let Some(value) = next::<C, T>(&mut from).await
            && to.put(value).await
        {}
        None
    })
}

/// Puts all values to `to`, which is closed after them, unless asked not to. Answers a channel that closes, without a
/// value, when it has ended.
///
/// A value is asked for when the one before was accepted, so there may be any number of them. Where `to` refuses one
/// that value is lost, and no other is asked for.
pub fn onto_chan<C: Async, T: Message>(
    spawner: &impl Spawn,
    to: C::Tx<T>,
    values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
    at_end: AtEnd,
) -> C::Rx<()> {
    let mut to = Outlet::<C, T>::new(to, at_end);
    let mut values = values.into_iter();
    go::<C, ()>(spawner, async move {
        while let Some(value) = values.next()
            && to.put(value).await
        {}
        None
    })
}

/// The room of a channel that [`to_chan`] makes, at most.
const AHEAD: usize = 100;

/// A channel of all values, closed after them. It has room for as many as there are at least, by what the iterator
/// says of itself, for one at least and a hundred at most.
///
/// # Panics
/// When the family has no fixed buffer.
pub fn to_chan<C: Async, T: Message>(
    spawner: &impl Spawn,
    values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
) -> C::Rx<T> {
    let values = values.into_iter();
    let room = values.size_hint().0.clamp(1, AHEAD);
    let (to, rx) = open::<C, T>(Buffer::fixed(room));
    onto_chan::<C, T>(spawner, to, values, AtEnd::Close);
    rx
}
