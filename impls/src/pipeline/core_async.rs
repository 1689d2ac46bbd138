//! `core_async`: core.async's `pipeline-async`, with n + 2 items in flight and results in the order of inputs. And
//! `swapped`, the same with the feeder's two puts in the other order, and n + 1 in flight.
//!
//! There are three loops. The feeder gives each input as a job to the starter. (The original has n starters, but
//! starting takes no time.) Then the feeder gives a place for the results to the collector, which delivers place
//! after place. A job starts before the feeder has room for its place. The n places in the buffer, one held by the
//! collector and one held by the feeder make n + 2. Swapped, a job starts once its place has room, so the feeder
//! holds none, which makes n + 1. There the place is put even before the input is taken. So the feeder holds no
//! input either when the output closes (P3).
//!
//! One difference from version 1.5.648 is deliberate. Once the output is closed the original's collector leaves an
//! item at its first refused result, so the feeder goes on with any number in flight. Ours takes what the item still
//! puts, and the feeder stops. Ends are signalled by a message instead of a close, which in some families loses what is
//! buffered.
//!
//! Source: `clojure.core.async/pipeline*` of 1.5.648, as explained by Andrey Listopadov, "Clojure's core.async
//! pipeline-async off-by-two error explained".

use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use crate::sync::Arc;

use super::between::{Inbox, Outbox, between};
use super::{ONE, Output, open};

/// n + 2 in flight, in the order of inputs.
pub type CoreAsync = TwoPuts<false>;

/// n + 1 in flight, in the order of inputs.
pub type Swapped = TwoPuts<true>;

/// A job and a place for each input: the job first, or the place first if `SWAPPED`.
#[derive(Clone, Copy, Debug)]
pub struct TwoPuts<const SWAPPED: bool> {
    results: Buffer,
}

impl<const SWAPPED: bool> TwoPuts<SWAPPED> {
    /// With that buffer between an item and its delivery; by default one that holds one result.
    pub const fn with_results(results: Buffer) -> Self {
        TwoPuts { results }
    }
}

impl<const SWAPPED: bool> Default for TwoPuts<SWAPPED> {
    fn default() -> Self {
        TwoPuts::with_results(ONE)
    }
}

/// An input, and the producer for its place, into which the channel of its results goes.
struct Job<C: Async, I: Message, O: Message> {
    input: I,
    filler: Outbox<C, C::Rx<O>>,
}

/// Calls `af` in a task of its own, where a panic ends this item only (P4); returns the channel of its results.
fn begin<C: Async, I: Message, O: Message, F>(
    spawner: &impl Spawn,
    results: Buffer,
    af: &Arc<impl Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static>,
    input: I,
) -> C::Rx<O>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (tx, rx) = open::<C, O>(results);
    let port = ResultPort::new(tx);
    let af = Arc::clone(af);
    spawner.spawn(async move { af(input, port).await });
    rx
}

impl<C: Async, E: Executors, const SWAPPED: bool> Pipelines<C, E> for TwoPuts<SWAPPED> {
    const ORDERED: bool = true;
    type Permit = ();

    fn start<I: Message, O: Message, A, F>(
        self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        mut from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let results = self.results;
        let n = Buffer::Fixed(parallelism);
        let (mut jobs, mut to_start) = between::<C, Job<C, I, O>>(n);
        let (mut places, mut to_collect) = between::<C, Inbox<C, C::Rx<O>>>(n);

        let (item_spawner, af) = (spawner.clone(), Arc::new(af));
        spawner.spawn(async move {
            while let Some(job) = to_start.next().await {
                let results = begin::<C, I, O, F>(&item_spawner, results, &af, job.input);
                job.filler.fill(results).await;
            }
        });

        let (mut output, end) = Output::<C, O>::only(to, at_end);
        let demand = output.demand();
        spawner.spawn(async move {
            loop {
                let (filler, place) = between::<C, _>(ONE);
                if SWAPPED {
                    if !places.put(place).await {
                        break;
                    }
                    let Some(input) = demand.next::<C, I>(&mut from).await else {
                        // Its place is there already, and stays empty.
                        drop(filler);
                        break;
                    };
                    if !jobs.put(Job { input, filler }).await {
                        break;
                    }
                } else {
                    let Some(input) = demand.next::<C, I>(&mut from).await else {
                        break;
                    };
                    if !jobs.put(Job { input, filler }).await || !places.put(place).await {
                        break;
                    }
                }
            }
            jobs.end().await;
            places.end().await;
        });
        spawner.spawn(async move {
            while let Some(mut place) = to_collect.next().await {
                if let Some(mut results) = place.next().await {
                    output.deliver(&mut results).await;
                }
            }
        });
        end
    }
}
