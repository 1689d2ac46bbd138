//! futures: `StreamExt::buffered` and `buffer_unordered` as pipelines.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | bound n | `buffered`, `buffer_unordered`: "No more than `n` futures will be buffered at any point in time" |
//! | ordered (`buffered`) | "return the outputs in the same order as the underlying stream" |
//! | in the order of completion (`buffer_unordered`) | "return the outputs in the order in which they complete" |
//!
//! A stream's future answers once, so the future of an item collects all its results, and they leave together.
//! `af` runs in a task of its own, as in ours: a stream makes progress only while it is polled, which it is not
//! while its consumer waits for room in the output, and a panic in it would end all items.

use ::std::num::NonZeroUsize;
use ::std::pin::pin;

use flowmeter_harness::channel::{Async, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use futures_util::stream::{self, Stream, StreamExt};

use crate::pipeline::{Demand, ONE, Output, begin, next};
use crate::sync::Arc;

/// `StreamExt::buffered`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buffered;

/// `StreamExt::buffer_unordered`.
#[derive(Clone, Copy, Debug, Default)]
pub struct BufferUnordered;

/// The items of `from`, each a future of all its results.
fn items<C: Async, E: Executors, I: Message, O: Message, F>(
    spawner: E::Spawner,
    from: C::Rx<I>,
    demand: Demand,
    af: impl Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
) -> impl Stream<Item = impl Future<Output = Vec<O>> + Send> + Send
where
    F: Future<Output = ()> + Send + 'static,
{
    let af = Arc::new(af);
    let inputs = stream::unfold((from, demand), |(mut from, demand)| async move {
        let input = demand.next::<C, I>(&mut from).await?;
        Some((input, (from, demand)))
    });
    inputs.map(move |input| {
        let mut results = begin::<C, I, O, F>(&spawner, ONE, &af, input);
        async move {
            let mut all = Vec::new();
            while let Some(result) = next::<C, O>(&mut results).await {
                all.push(result);
            }
            all
        }
    })
}

/// Delivers what the stream brings.
async fn deliver<C: Async, O: Message>(
    mut output: Output<C, O>,
    finished: impl Stream<Item = Vec<O>>,
) {
    let mut finished = pin!(finished);
    while let Some(results) = finished.next().await {
        for result in results {
            output.put(result).await;
        }
    }
}

impl<C: Async, E: Executors> Pipelines<C, E> for Buffered {
    const ORDERED: bool = true;

    fn start<I: Message, O: Message, A, F>(
        &self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<C, E, I, O, A, F>
    where
        A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let (output, end) = Output::<C, O>::only(to, at_end);
        let items = items::<C, E, I, O, F>(spawner.clone(), from, output.demand(), af);
        spawner.spawn(deliver(output, items.buffered(parallelism.get())));
        end
    }
}

impl<C: Async, E: Executors> Pipelines<C, E> for BufferUnordered {
    const ORDERED: bool = false;

    fn start<I: Message, O: Message, A, F>(
        &self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<C, E, I, O, A, F>
    where
        A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let (output, end) = Output::<C, O>::only(to, at_end);
        let items = items::<C, E, I, O, F>(spawner.clone(), from, output.demand(), af);
        spawner.spawn(deliver(output, items.buffer_unordered(parallelism.get())));
        end
    }
}
