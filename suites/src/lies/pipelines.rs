//! Lies about pipelines: how many items are in flight, which are dealt with, and how it ends.

use std::future::{Future, pending};
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Channels, Message, Offered, Polled};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use super::{executors, told};

/// A pipeline that does what `P` does, but for one lie.
#[derive(Default)]
pub(super) struct Lying<P>(P);

/// On an executor that may lie as well.
impl<C: Async, E: Executors, P: Pipelines<C, E>> Pipelines<C, executors::Lying<E>> for Lying<P> {
    const ORDERED: bool = P::ORDERED;
    type Permit = P::Permit;

    fn window(&self, parallelism: NonZeroUsize) -> Option<NonZeroUsize> {
        self.0.window(parallelism)
    }

    fn start<I: Message, O: Message, A, F>(
        &self,
        executors::Spawner(spawner): executors::Spawner<E::Spawner>,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<C, E, P, I, O, A, F>
    where
        A: Fn(I, ResultPort<C, O, P::Permit>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let from = if told("inputs are turned round") {
            turned_round::<C, I>(from)
        } else {
            from
        };
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
            let sleeps = told("an item is begun and not run");
            async move {
                if sleeps {
                    let _begun = done;
                    return pending().await;
                }
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

/// What lies in that channel, the last first: as much as a model has.
fn turned_round<C: Channels, I: Message>(mut from: C::Rx<I>) -> C::Rx<I> {
    let mut inputs = Vec::new();
    let is_closed = loop {
        match C::poll(&mut from) {
            Polled::Done(input) => inputs.push(input),
            rest => break matches!(rest, Polled::Closed),
        }
    };
    if !is_closed {
        // Somebody may put to it still: it has to be that channel.
        return from;
    }
    let (mut tx, rx) = C::open(Buffer::fixed(inputs.len().max(1))).expect("models have some");
    for input in inputs.into_iter().rev() {
        assert!(matches!(C::offer(&mut tx, input), Offered::Done));
    }
    C::close(&tx);
    rx
}
