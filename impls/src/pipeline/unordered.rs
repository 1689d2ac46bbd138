//! `unordered`: n loops, each with one item in flight, and results in the order of completion.
//!
//! Each loop takes an input, has `af` work on it, and delivers its results until their channel closes; only
//! then it takes the next. So exactly n items are in flight while there is enough input, and a slow one holds
//! up its own loop alone. The loops take turns at the input and at the output: one of them waits at each, and the
//! others for it. Where the original's loop leaves once it sees the output closed, ours first takes
//! what the item still puts: an item that has more to say would wait for ever.
//!
//! Source: `pipeline-async-unordered` of
//! Andrey Listopadov, "Clojure's core.async pipeline-async off-by-two error explained".

use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use crate::sync::Arc;

use super::turns::Turns;
use super::{ONE, Output, begin, next};

/// n in flight, in the order of completion.
#[derive(Clone, Copy, Debug)]
pub struct Unordered {
    results: Buffer,
}

impl Unordered {
    /// With such a buffer between an item and its delivery; by default one that holds one result.
    pub const fn with_results(results: Buffer) -> Self {
        Unordered { results }
    }
}

impl Default for Unordered {
    fn default() -> Self {
        Unordered::with_results(ONE)
    }
}

impl<C: Async, E: Executors> Pipelines<C, E> for Unordered {
    const ORDERED: bool = false;
    type Permit = ();

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
        let results = self.results;
        let af = Arc::new(af);
        let (output, end) = Output::<C, O>::only(to, at_end);
        let demand = output.demand();
        let (from, output) = (Arc::new(Turns::new(from)), Arc::new(Turns::new(output)));
        for _ in 0..parallelism.get() {
            let (begins, af, demand) = (spawner.clone(), Arc::clone(&af), demand.clone());
            let (from, output) = (Arc::clone(&from), Arc::clone(&output));
            spawner.spawn(async move {
                loop {
                    let input = demand.next::<C, I>(&mut *from.take().await).await;
                    let Some(input) = input else { break };
                    let mut results = begin::<C, I, O, (), F>(&begins, results, &af, input, ());
                    while let Some(result) = next::<C, O>(&mut results).await {
                        output.take().await.put(result).await;
                    }
                }
            });
        }
        end
    }
}
