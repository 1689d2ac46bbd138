//! `finishes`: exactly n items in flight, and results in the order of inputs.
//!
//! In the fix that it is named after, the loop that starts an item waits for a token. The token comes back from
//! delivery when all results of an item are delivered. Here n loops are the tokens (`loops`). Each begins an item,
//! waits for its turn at the output, in the order of inputs, and delivers it before it begins another. So an item that
//! has ended behind a slow one keeps its loop. Once n - 1 loops wait like this, the pipeline waits for the slow item
//! (P5 measures the cost; `windowed` avoids it).
//!
//! One difference from the fix, where inputs wait between its loops and their feeder: here every input that is taken
//! begins at once, so an output that closes leaves no input behind (P3).
//!
//! Source: "A proper fix for pipeline-async", in Andrey Listopadov, "Clojure's core.async pipeline-async off-by-two
//! error explained".

use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use super::{ONE, loops};

/// n in flight, in the order of inputs.
#[derive(Clone, Copy, Debug)]
pub struct Finishes {
    results: Buffer,
}

impl Finishes {
    /// With that buffer between an item and its delivery; by default one that holds one result.
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
        loops::start::<true, C, _, _, _, _, _>(
            spawner,
            parallelism,
            (from, to),
            self.results,
            af,
            at_end,
        )
    }
}
