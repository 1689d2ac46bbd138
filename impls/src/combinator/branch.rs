//! One channel to two, and many to one: `split` and `merge` (M2, M3).

use std::future::pending;

use flowmeter_harness::channel::{Async, AwaitAlts, Buffer, Message, Order, Winner};
use flowmeter_harness::executor::{Spawn, go};

use crate::channel::boxed;
use crate::pipeline::{TOO_MANY, next, open};

use super::Outlet;

/// Two channels with these buffers: the values for which `is_first` is true, and the others. Both close when the source
/// has ended.
///
/// A value waits for room on its side, and those behind it wait with it. If a side refuses a value nothing further is
/// taken, and both are closed; core.async leaves the other one open for ever.
///
/// # Panics
/// When the family has no such buffers.
pub fn split<C: Async, T: Message>(
    spawner: &impl Spawn,
    mut from: C::Rx<T>,
    mut is_first: impl FnMut(&T) -> bool + Send + 'static,
    buffers: (Buffer, Buffer),
) -> (C::Rx<T>, C::Rx<T>) {
    let (first, first_rx) = open::<C, T>(buffers.0);
    let (second, second_rx) = open::<C, T>(buffers.1);
    let mut first = Outlet::<C, T>::closing(first);
    let mut second = Outlet::<C, T>::closing(second);
    go::<C, ()>(spawner, async move {
        while let Some(value) = next::<C, T>(&mut from).await {
            let side = match is_first(&value) {
                true => &mut first,
                false => &mut second,
            };
            if !side.put(value).await {
                break;
            }
        }
        None
    });
    (first_rx, second_rx)
}

/// A channel of all values of the sources, in the order in which they arrive, closed when all sources have ended.
///
/// As in core.async it does not check whether the output is still open.
///
/// # Panics
/// When the family has no such buffer.
pub fn merge<C: AwaitAlts, T: Message>(
    spawner: &impl Spawn,
    mut sources: Vec<C::Rx<T>>,
    buffer: Buffer,
) -> C::Rx<T> {
    let (to, rx) = open::<C, T>(buffer);
    let mut to = Outlet::<C, T>::closing(to);
    go::<C, ()>(spawner, async move {
        while !sources.is_empty() {
            match next_of::<C, T>(&mut sources).await {
                (_, Some(value)) => {
                    to.put(value).await;
                }
                (ended, None) => drop(sources.swap_remove(ended)),
            }
        }
        None
    });
    rx
}

/// The next value of any source, and the index of that source; no value once it has ended.
async fn next_of<C: AwaitAlts, T: Message>(sources: &mut [C::Rx<T>]) -> (usize, Option<T>) {
    let mut takes: Vec<_> = sources.iter().map(C::take_clause::<T>).collect();
    let winner = {
        let mut clauses: Vec<_> = takes.iter_mut().map(C::any_take::<T>).collect();
        boxed::run_async::<C>(&mut clauses, Order::Random, pending()).await
    };
    match winner.expect(TOO_MANY) {
        Winner::Clause(index) => (index, C::taken(&mut takes[index])),
        Winner::Default | Winner::TimedOut => unreachable!("it waits for ever"),
    }
}
