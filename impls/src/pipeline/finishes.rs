//! `finishes`: exactly n items in flight, and results in the order of inputs.
//!
//! The fix that it is named after has whoever starts an item wait for a token of whoever delivers them, which comes back
//! when all results of an item are delivered. Here n loops are the tokens (`loops`): each begins an item, waits for
//! its turn at the output, in the order of inputs, and delivers it before it begins another. So an item that is done behind a
//! slow one keeps its loop, and once n - 1 are, all wait for the slow one (P5 tells what that costs; `windowed` is without it).
//!
//! Where it differs from the fix, whose inputs wait between its loops and their feeder: here nothing is taken that is not
//! begun at once, so that an output that closes leaves no input behind (P3).
//!
//! Source: "A proper fix for pipeline-async", in
//! Andrey Listopadov, "Clojure's core.async pipeline-async off-by-two error explained".

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
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<C, E, I, O, A, F>
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
