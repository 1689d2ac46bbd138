//! n loops, each with one item in flight: what `finishes` and `unordered` have in common.
//!
//! Each takes an input, calls `af`, and delivers results until their channel closes; only then it takes the next. So
//! exactly n items are in flight while there is enough input. One of them waits at the input, and the others for it; at
//! the output each waits for its turn.
//!
//! The work on an item is in its loop's own task, beside its delivery: n tasks are as parallel as one for each item
//! would be, and none has to be spawned, woken and dropped for it. Where an item ends before its work does, a new loop goes
//! on in place of the one that has the rest of the work to do. The price is that nothing is delivered of an item, nor its slot
//! freed, before a poll of its work returns. When a loop lets other tasks run `stint` tells.

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

/// What a loop has.
struct Loop<C: Async, S, I: Message, O: Message, A> {
    spawner: S,
    /// Apart from the rest, which ends the output when it is dropped: an item may still have work to do then.
    af: Arc<A>,
    ends: Arc<Ends<C, I, O>>,
}

/// The ends of the pipeline, which its loops share.
struct Ends<C: Async, I: Message, O: Message> {
    /// Gone once no input follows, or none is wanted: items may go on for long, and somebody may wait to put one more.
    from: Lead<Option<C::Rx<I>>>,
    demand: Demand,
    results: Buffer,
    output: Turns<Output<C, O>>,
}

/// Starts them; answers what [`Pipelines::start`](flowmeter_harness::pipeline::Pipelines::start) does.
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

/// Has the loop go on in a task of its own.
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
    /// The next input, and the turn of its results where those are in order; nothing once there is none, or it is not
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

    /// Delivers the results of an item: all in the turn that was asked for, or each when there is one for it. An item
    /// that has more to say once the output is closed would wait for ever, so all of them are taken.
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
