//! Lies about pipelines: how many items are in flight, which are dealt with, and how it ends.

use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use super::told;

/// A pipeline that does what `P` does, but for one lie.
#[derive(Default)]
pub(super) struct Lying<P>(P);

impl<C: Async, E: Executors, P: Pipelines<C, E>> Pipelines<C, E> for Lying<P> {
    const ORDERED: bool = P::ORDERED;

    fn start<I: Message, O: Message, A, F>(
        &self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<C, E, P, I, O, A, F>
    where
        A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let parallelism = if told("one item more is in flight") {
            parallelism.saturating_add(1)
        } else if told("many items more are in flight") {
            parallelism.saturating_add(64)
        } else if told("one item is in flight") {
            NonZeroUsize::MIN
        } else {
            parallelism
        };
        let at_end = match (at_end, told("the output is ended otherwise")) {
            (AtEnd::Close, true) => AtEnd::LeaveOpen,
            (AtEnd::LeaveOpen, true) => AtEnd::Close,
            (at_end, false) => at_end,
        };
        let af = move |item, port| {
            let skipped = told("an item is skipped");
            let done = (!skipped).then(|| af(item, port));
            async move {
                if let Some(done) = done {
                    done.await;
                }
            }
        };
        let early = told("an end is told too early").then(|| spawner.clone());
        let end = self.0.start(spawner, parallelism, from, to, af, at_end);
        async move {
            match early {
                Some(spawner) => spawner.spawn(end),
                None => end.await,
            }
        }
    }
}
