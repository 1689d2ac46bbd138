//! `map`: channels side by side (M12).

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::{Spawn, go};

use crate::pipeline::{next, open};

use super::Outlet;

/// A channel of the results of `f`: over the first values of all sources, in the order of the sources, then over the
/// second values, and so on. It closes once one of the sources has ended. The other values of that round are dropped,
/// and waiting takes are cancelled; core.async waits for them. Without sources it is closed at once.
///
/// As in core.async it does not check whether the output is still open.
///
/// # Panics
/// When the family has no such buffer.
pub fn map<C: Async, T: Message, U: Message>(
    spawner: &impl Spawn,
    mut sources: Vec<C::Rx<T>>,
    buffer: Buffer,
    mut f: impl FnMut(Vec<T>) -> U + Send + 'static,
) -> C::Rx<U> {
    let (to, rx) = open::<C, U>(buffer);
    let mut to = Outlet::<C, U>::closing(to);
    go::<C, ()>(spawner, async move {
        while !sources.is_empty() {
            let Some(values) = one_of_each::<C, T>(&mut sources).await else {
                break;
            };
            to.put(f(values)).await;
        }
        None
    });
    rx
}

/// One value of each source, taken from all of them at once; `None` once one of them has ended.
async fn one_of_each<C: Async, T: Message>(sources: &mut [C::Rx<T>]) -> Option<Vec<T>> {
    let takes = sources.iter_mut().map(|source| {
        let take = Box::pin(async move { next::<C, T>(source).await });
        Taking::Waits(take)
    });
    let mut takes: Vec<_> = takes.collect();
    let complete = poll_fn(|context| {
        let mut complete = true;
        for taking in &mut takes {
            let Taking::Waits(take) = taking else {
                continue;
            };
            match Pin::new(take).poll(context) {
                Poll::Ready(Some(value)) => *taking = Taking::Took(value),
                Poll::Ready(None) => return Poll::Ready(false),
                Poll::Pending => complete = false,
            }
        }
        if complete {
            Poll::Ready(true)
        } else {
            Poll::Pending
        }
    });
    if !complete.await {
        return None;
    }
    let values = takes.into_iter().map(|taking| match taking {
        Taking::Took(value) => value,
        Taking::Waits(_) => unreachable!("all were taken"),
    });
    Some(values.collect())
}

/// A take of one source.
enum Taking<F, T> {
    Waits(F),
    Took(T),
}
