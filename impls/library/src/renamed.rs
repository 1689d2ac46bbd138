//! A future whose error has another name.
//!
//! An `async` block would do the same. It moves the future into its state and the answer out of it, which costs a send and
//! a receive that need not wait a quarter of their instructions (docs/lab/2026-11-27-seats-and-calls.md).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) struct Renamed<F, N> {
    future: F,
    rename: N,
}

impl<F, N> Renamed<F, N> {
    pub(crate) fn new(future: F, rename: N) -> Self {
        Renamed { future, rename }
    }
}

impl<F, N, T, E, R> Future for Renamed<F, N>
where
    F: Future<Output = Result<T, E>>,
    N: Fn(E) -> R,
{
    type Output = Result<T, R>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of it.
        let me = unsafe { self.get_unchecked_mut() };
        // SAFETY: this field is pinned with the whole: it is never moved, and the type has no `Drop`.
        let future = unsafe { Pin::new_unchecked(&mut me.future) };
        future.poll(context).map_err(&me.rename)
    }
}
