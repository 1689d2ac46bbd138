//! futures: `StreamExt::buffered` and `buffer_unordered` as pipelines.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | bound n | `buffered`, `buffer_unordered`: "No more than `n` futures will be buffered at any point in time" |
//! | ordered (`buffered`) | "return the outputs in the same order as the underlying stream" |
//! | in the order of completion (`buffer_unordered`) | "return the outputs in the order in which they complete" |
//!
//! A stream's future returns one value. So the future of an item runs `af` and collects all its results, and they leave
//! together. The family has to keep buffered values at a close. An item is in flight until its future ends. As with any
//! stream, items make progress only while the stream is polled. It is not polled while its consumer waits for room in
//! the output. A panic in one item ends all of them (P4).

use ::std::num::NonZeroUsize;
use ::std::pin::pin;

use flowmeter_harness::channel::{Async, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use futures_util::future::join;
use futures_util::stream::{self, Stream, StreamExt};

use crate::pipeline::{Demand, ONE, Output, next, open};

/// `StreamExt::buffered`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buffered;

/// `StreamExt::buffer_unordered`.
#[derive(Clone, Copy, Debug, Default)]
pub struct BufferUnordered;

/// The results of an item. A single one needs no allocation.
pub(super) struct Results<O> {
    first: Option<O>,
    further: Vec<O>,
}

/// The values of `from`, while their results are wanted.
pub(super) fn inputs<C: Async, I: Message>(
    from: C::Rx<I>,
    demand: Demand,
) -> impl Stream<Item = I> + Send + 'static {
    stream::unfold((from, demand), |(mut from, demand)| async move {
        let input = demand.next::<C, I>(&mut from).await?;
        Some((input, (from, demand)))
    })
}

/// A future of all results of an input. This calls `af` for it.
pub(super) fn item<C: Async, I: Message, O: Message, A, F>(
    af: &A,
    input: I,
) -> impl Future<Output = Results<O>> + Send + use<C, I, O, A, F>
where
    A: Fn(I, ResultPort<C, O>) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let (port, mut results) = open::<C, O>(ONE);
    let work = af(input, ResultPort::new(port));
    let collect = async move {
        let first = next::<C, O>(&mut results).await;
        let mut further = Vec::new();
        while let Some(result) = next::<C, O>(&mut results).await {
            further.push(result);
        }
        Results { first, further }
    };
    async move { join(work, collect).await.1 }
}

/// The items of `from`, each a future of all its results.
fn items<C: Async, I: Message, O: Message, F>(
    from: C::Rx<I>,
    demand: Demand,
    af: impl Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
) -> impl Stream<Item = impl Future<Output = Results<O>> + Send> + Send
where
    F: Future<Output = ()> + Send + 'static,
{
    inputs::<C, I>(from, demand).map(move |input| item::<C, I, O, _, F>(&af, input))
}

/// Puts the results of the stream into the output.
pub(super) async fn deliver<C: Async, O: Message>(
    mut output: Output<C, O>,
    finished: impl Stream<Item = Results<O>>,
) {
    let mut finished = pin!(finished);
    while let Some(results) = finished.next().await {
        for result in results.first.into_iter().chain(results.further) {
            output.put(result).await;
        }
    }
}

impl<C: Async, E: Executors> Pipelines<C, E> for Buffered {
    const ORDERED: bool = true;
    type Permit = ();

    fn start<I: Message, O: Message, A, F>(
        self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let (output, end) = Output::<C, O>::only(to, at_end);
        let items = items::<C, I, O, F>(from, output.demand(), af);
        spawner.spawn(deliver(output, items.buffered(parallelism.get())));
        end
    }
}

impl<C: Async, E: Executors> Pipelines<C, E> for BufferUnordered {
    const ORDERED: bool = false;
    type Permit = ();

    fn start<I: Message, O: Message, A, F>(
        self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let (output, end) = Output::<C, O>::only(to, at_end);
        let items = items::<C, I, O, F>(from, output.demand(), af);
        spawner.spawn(deliver(output, items.buffer_unordered(parallelism.get())));
        end
    }
}
