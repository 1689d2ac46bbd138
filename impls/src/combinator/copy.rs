//! Moving all values from one place to another: `pipe`, `onto_chan` and `to_chan` (M1, M7, M8).

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::{Spawn, go};
use flowmeter_harness::pipeline::AtEnd;

use crate::pipeline::{next, open};

use super::Outlet;

/// Moves all values from `from` to `to`, which is closed when `from` has ended, unless asked not to. Returns a channel
/// that closes, without a value, when the pipe has ended (core.async returns `to`).
///
/// The next value is taken when the one before was accepted. If `to` refuses a value, that value is lost and nothing
/// further is taken. As in core.async an idle source is released only at its next value.
pub fn pipe<C: Async, T: Message>(
    spawner: &impl Spawn,
    mut from: C::Rx<T>,
    to: C::Tx<T>,
    at_end: AtEnd,
) -> C::Rx<()> {
    let mut to = Outlet::<C, T>::new(to, at_end);
    go::<C, ()>(spawner, async move {
        while let Some(value) = next::<C, T>(&mut from).await {
            if !to.put(value).await {
                break;
            }
        }
        None
    })
}

/// Puts all values to `to`, which is closed after them, unless asked not to. Returns a channel that closes, without a
/// value, when this has ended.
///
/// The next value is requested when the one before was accepted, so there may be any number of them. If `to` refuses a
/// value, that value is lost and no other is requested.
pub fn onto_chan<C: Async, T: Message>(
    spawner: &impl Spawn,
    to: C::Tx<T>,
    values: impl IntoIterator<Item = T, IntoIter: Send + 'static>,
    at_end: AtEnd,
) -> C::Rx<()> {
    let mut to = Outlet::<C, T>::new(to, at_end);
    let values = values.into_iter();
    go::<C, ()>(spawner, async move {
        for value in values {
            if !to.put(value).await {
                break;
            }
        }
        None
    })
}

/// The largest capacity of a channel that [`to_chan`] makes.
const AHEAD: usize = 100;

/// A channel of all values, closed after them. Its capacity is the lower bound of the iterator's size hint, but at
/// least one and at most a hundred.
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
