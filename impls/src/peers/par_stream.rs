//! par-stream: `ParStreamExt::par_then_unordered` as a pipeline.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | bound n | `par_then_unordered`: "The `params` sets the worker pool size", and "Each parallel worker shares the stream and executes a future for each input item" |
//! | in the order of completion | "The worker forwards the output to a channel as soon as it finishes" |
//!
//! Its workers are tokio tasks, so a pipeline of it is started in one. They share inputs that a further task takes
//! ahead: one waits in a buffer of the smallest size, and that task holds one. As with futures' `buffered`, the future
//! of an item runs `af` and collects all its results. A panic in it ends the worker that polls it (P4).
//!
//! `par_then`, which keeps the order of inputs, takes no part. It keeps results that are ready behind a slow item in an
//! unbounded map. That is neither the place that an ordered pipeline keeps for a result nor a window (P5).

use ::std::num::NonZeroUsize;

use ::par_stream::{BufSize, NumWorkers, ParParamsConfig, ParStreamExt};
use flowmeter_harness::channel::{Async, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use crate::pipeline::Output;
use crate::sync::Arc;

use super::futures_buffered::{deliver, inputs, item};

/// `ParStreamExt::par_then_unordered`, on tokio.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParStream;

impl<C: Async, E: Executors> Pipelines<C, E> for ParStream {
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
        let inputs = inputs::<C, I>(from, output.demand());
        let workers = ParParamsConfig::Manual {
            num_workers: NumWorkers::Fixed(parallelism.get()),
            buf_size: BufSize::Fixed(1),
        };
        spawner.spawn(async move {
            let af = Arc::new(af);
            let finished = inputs.par_then_unordered(workers, move |input| {
                let af = Arc::clone(&af);
                // Called by the worker, so inputs that are taken ahead are not in flight.
                async move { item::<C, I, O, A, F>(&af, input).await }
            });
            deliver::<C, O>(output, finished).await;
        });
        end
    }
}
