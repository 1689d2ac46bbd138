//! n loops, each with one item in flight: the shared part of `finishes` and `unordered`.
//!
//! Each loop takes an input, calls `af`, and delivers results until their channel closes; only then it takes the next.
//! So exactly n items are in flight while there is enough input. One loop waits at the input, and the others wait for
//! that one; at the output each waits for its turn.
//!
//! The work on an item runs in its loop's own task, beside its delivery. n tasks are as parallel as one task for each
//! item, and no task has to be spawned, woken and dropped for an item. Where an item ends before its work does, a new
//! loop continues in place of the one that has the rest of the work to do. The price: before a poll of its work
//! returns, nothing of an item is delivered and its slot is not freed. `stint` decides when a loop lets other tasks
//! run.

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;

use flowmeter_harness::channel::{Async, Buffer, Message};
use flowmeter_harness::executor::Spawn;
use flowmeter_harness::pipeline::{AtEnd, ResultPort};

use crate::sync::Arc;

use super::item::work_until;
use super::lead::Lead;
use super::stint::Stint;
use super::turns::{Asked, Turns};
use super::{Demand, Output, next, open};

/// The state of one loop.
struct Loop<C: Async, S, I: Message, O: Message, A> {
    spawner: S,
    /// Separate from `ends`, which ends the output when it is dropped: an item may still have work to do then.
    af: Arc<A>,
    ends: Arc<Ends<C, I, O>>,
}

/// The ends of the pipeline, which its loops share.
struct Ends<C: Async, I: Message, O: Message> {
    /// `None` once no input follows, or none is wanted. It is dropped at once: items may go on for long, and a producer
    /// may be waiting to put one more.
    from: Lead<Option<C::Rx<I>>>,
    demand: Demand,
    results: Buffer,
    output: Turns<Output<C, O>>,
}

/// Starts them; returns what [`Pipelines::start`](flowmeter_harness::pipeline::Pipelines::start) does.
pub(super) fn start<const ORDERED: bool, C: Async, S, I: Message, O: Message, A, F>(
    spawner: S,
    parallelism: NonZeroUsize,
    (from, to): (C::Rx<I>, C::Tx<O>),
    results: Buffer,
    af: A,
    at_end: AtEnd,
) -> impl Future<Output = ()> + Send + 'static + use<ORDERED, C, S, I, O, A, F>
where
    S: Spawn + Clone + Send + 'static,
    A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (output, end) = Output::<C, O>::only(to, at_end);
    let af = Arc::new(af);
    let ends = Arc::new(Ends {
        from: Lead::new(Some(from)),
        demand: output.demand(),
        results,
        output: Turns::new(output),
    });
    for _ in 0..parallelism.get() {
        go_on::<ORDERED, C, S, I, O, A, F>(Loop {
            spawner: spawner.clone(),
            af: Arc::clone(&af),
            ends: Arc::clone(&ends),
        });
    }
    end
}

/// Continues the loop in a task of its own.
fn go_on<const ORDERED: bool, C: Async, S, I: Message, O: Message, A, F>(this: Loop<C, S, I, O, A>)
where
    S: Spawn + Clone + Send + 'static,
    A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let spawner = this.spawner.clone();
    spawner.spawn(run::<ORDERED, C, S, I, O, A, F>(this));
}

async fn run<const ORDERED: bool, C: Async, S, I: Message, O: Message, A, F>(
    mut this: Loop<C, S, I, O, A>,
) where
    S: Spawn + Clone + Send + 'static,
    A: Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let af = Arc::clone(&this.af);
    let mut stint = Stint::default();
    loop {
        let Some((input, turn)) = this.ends.next::<ORDERED>(&mut stint).await else {
            break;
        };
        let (tx, results) = open::<C, O>(this.ends.results);
        let port = ResultPort::new(tx);
        let mut work = pin!(Some(async { af(input, port).await }));
        let delivery = this.ends.deliver(results, turn);
        work_until(work.as_mut(), delivery, &mut this.spawner).await;
        if let Some(rest) = work.as_pin_mut() {
            go_on::<ORDERED, C, S, I, O, A, F>(this);
            rest.await;
            break;
        }
    }
}

impl<C: Async, I: Message, O: Message> Ends<C, I, O> {
    /// The next input and, in an ordered pipeline, the turn of its results; `None` once there is no input, or none is
    /// wanted.
    async fn next<const ORDERED: bool>(
        &self,
        stint: &mut Stint,
    ) -> Option<(I, Option<Asked<'_, Output<C, O>>>)> {
        let mut lead = self.from.take().await;
        let from = lead.as_mut()?;
        let Some(input) = self.demand.next::<C, I>(from).await else {
            *lead = None;
            return None;
        };
        // Asked for before another can take the next input.
        let turn = ORDERED.then(|| self.output.ask());
        stint.goes_on(lead.give_back()).await;
        Some((input, turn))
    }

    /// Delivers the results of an item: all of them in the turn that was asked for, or each in a turn of its own. After
    /// the output is closed the rest is still taken: otherwise an item with more results would wait for ever.
    async fn deliver(&self, mut results: C::Rx<O>, turn: Option<Asked<'_, Output<C, O>>>) {
        if let Some(turn) = turn {
            turn.come().await.deliver(&mut results).await;
            return;
        }
        while let Some(result) = next::<C, O>(&mut results).await {
            self.output.take().await.put(result).await;
        }
    }
}
