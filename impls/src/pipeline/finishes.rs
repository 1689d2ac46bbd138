//! `finishes`: exactly n items in flight, and results in the order of inputs.
//!
//! As in the fix that it is named after, whoever starts items waits for a token of whoever delivers them. There are
//! n tokens: one is taken for each input, before the input is, and comes back when all results of an item are
//! delivered. Tokens come back in the order of inputs, so an item that is done behind a slow one keeps its own, and
//! once n - 1 are, all wait for the slow one (P5 tells what that costs; `windowed` is without it).
//!
//! Where it differs from the fix, which starts items in n loops and has inputs wait between them and the feeder:
//! here one loop takes and starts, so that nothing is taken that is not started, and an output that closes leaves no
//! input behind (P3).
//!
//! Source: "A proper fix for pipeline-async", in
//! Andrey Listopadov, "Clojure's core.async pipeline-async off-by-two error explained".

use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Message, Offered};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use crate::sync::Arc;

use super::{ONE, Output, begin, between, open, put};

/// n in flight, in the order of inputs.
#[derive(Clone, Copy, Debug)]
pub struct Finishes {
    results: Buffer,
}

impl Finishes {
    /// With such a buffer between an item and its delivery; by default one that holds one result.
    pub const fn with_results(results: Buffer) -> Self {
        Finishes { results }
    }
}

impl Default for Finishes {
    fn default() -> Self {
        Finishes::with_results(ONE)
    }
}

impl<C: Async, E: Executors> Pipelines<C, E> for Finishes {
    const ORDERED: bool = true;
    type Permit = ();

    fn start<I: Message, O: Message, A, F>(
        &self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        mut from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<C, E, I, O, A, F>
    where
        A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let results = self.results;
        let n = Buffer::Fixed(parallelism);
        let (mut finishes, mut tokens) = open::<C, ()>(n);
        for _ in 0..parallelism.get() {
            let put = C::offer(&mut finishes, ());
            assert_eq!(put, Offered::Done, "there is room for n tokens");
        }
        let (mut places, mut to_collect) = between::<C, C::Rx<O>>(n);

        let (mut output, end) = Output::<C, O>::only(to, at_end);
        let demand = output.demand();
        let begins = spawner.clone();
        spawner.spawn(async move {
            let af = Arc::new(af);
            while demand.next::<C, ()>(&mut tokens).await.is_some()
                && let Some(input) = demand.next::<C, I>(&mut from).await
            {
                let results = begin::<C, I, O, (), F>(&begins, results, &af, input, ());
                if !places.put(results).await {
                    break;
                }
            }
            places.end().await;
        });
        spawner.spawn(async move {
            while let Some(mut results) = to_collect.next().await {
                output.deliver(&mut results).await;
                put::<C, _>(&mut finishes, ()).await;
            }
        });
        end
    }
}
