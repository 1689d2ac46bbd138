//! `unordered`: n loops, each with one item in flight, and results in the order of completion.
//!
//! A slow item blocks only its own loop (`loops`). The original's loop leaves once it sees the output closed. Ours
//! first takes what the item still puts: otherwise an item with more results would wait for ever.
//!
//! Source: `pipeline-async-unordered` of Andrey Listopadov, "Clojure's core.async pipeline-async off-by-two error
//! explained".

use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use super::{ONE, loops};

/// n in flight, in the order of completion.
#[derive(Clone, Copy, Debug)]
pub struct Unordered {
    results: Buffer,
}

impl Unordered {
    /// With that buffer between an item and its delivery; by default one that holds one result.
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
        loops::start::<false, C, _, _, _, _, _>(
            spawner,
            parallelism,
            (from, to),
            self.results,
            af,
            at_end,
        )
    }
}
