//! `pipeline` and `pipeline-blocking` of core.async, where an item is a call of a function with an input. They run over
//! any of our pipelines, and have its bound and order.
//!
//! In `pipeline`, for work that computes, the call is made in the future of its item. It blocks the task that it is in,
//! and a task cannot wait in the middle of a call. So its results are collected, and put once the call has returned. In
//! `pipeline-blocking` the call is a piece of blocking work, for which the executor has a place (G2). It puts each
//! result before it goes on, so nothing is collected, however many results there are.
//!
//! An item is in flight until its call has returned and its results have room. The original's worker waits in the same
//! way before it takes its next job. So n is n there, too, where `pipeline-async` has n + 2.
//!
//! ```
//! # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
//! use std::num::NonZeroUsize;
//!
//! use flowmeter_harness::channel::{Buffer, Channels};
//! use flowmeter_impls::channel::mutex::MutexChannels as C;
//! use flowmeter_impls::channel::transforms::{Then, filter, map};
//! use flowmeter_impls::combinator::{AtEnd, into, to_chan};
//! use flowmeter_impls::executor::Executors;
//! use flowmeter_impls::executor::fixed_pool::FixedPool;
//! use flowmeter_impls::pipeline::{Computing, TransformPipelines, Windowed, each_by};
//!
//! let pool = FixedPool::new();
//! let from = to_chan::<C, u32>(&pool.spawner(), 1..=4);
//! let (to, results) = <C as Channels>::open::<u32>(Buffer::fixed(4)).unwrap();
//! let odd_squares = each_by(|| map(|n: u32| n * n).then(filter(|n| n % 2 == 1)));
//! let two = NonZeroUsize::new(2).unwrap();
//! let pipeline = Computing::over(Windowed::default());
//! let end = TransformPipelines::<C, FixedPool>::start(
//!     pipeline, pool.spawner(), two, from, to, odd_squares, |_| None, AtEnd::Close,
//! );
//! drop(end); // It tells when all is over, and need not be awaited.
//! let all = into::<C, u32, Vec<u32>>(&pool.spawner(), Vec::new(), results);
//! assert_eq!(all.take(), Ok(vec![1, 9]));
//! # }
//! ```
//!
//! Source: `pipeline` and `pipeline-blocking` of core.async 1.5.648.

use std::future::Future;
use std::num::NonZeroUsize;
use std::ops::ControlFlow::{Break, Continue};

use flowmeter_harness::channel::{Async, Emit, Message, Panic, Transform};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::transform_pipeline::TransformPipelines;

use crate::sync::{Arc, Mutex, block_on, caught};

use super::Windowed;

/// Calls as items of `P`: in tasks, or as blocking work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Workers<const MAY_BLOCK: bool, P = Windowed>(P);

/// Calls in tasks, as items of `P`.
pub type Computing<P = Windowed> = Workers<false, P>;

/// Calls that may block their threads, as items of `P`.
pub type HoldingUp<P = Windowed> = Workers<true, P>;

impl<const MAY_BLOCK: bool, P> Workers<MAY_BLOCK, P> {
    /// Over that pipeline.
    pub const fn over(pipeline: P) -> Self {
        Workers(pipeline)
    }
}

/// A function that gives each input to a new transform and then completes that, as core.async's pipelines do.
pub fn each_by<T, X: Transform<T>>(
    transform: impl Fn() -> X + Send + Sync + 'static,
) -> impl Fn(T, Emit<'_, T>) + Send + Sync + 'static {
    move |input, emit| {
        let mut transform = transform();
        // An early end concerns this input only, and there is no other.
        let _ = transform.step(input, emit);
        transform.complete(emit);
    }
}

impl<const MAY_BLOCK: bool, C, E, P> TransformPipelines<C, E> for Workers<MAY_BLOCK, P>
where
    C: Async,
    E: Executors,
    P: Pipelines<C, E>,
{
    const ORDERED: bool = P::ORDERED;
    const MAY_BLOCK: bool = MAY_BLOCK;

    fn start<I, O, X, H>(
        self,
        spawner: E::Spawner,
        workers: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        transform: X,
        handler: H,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        I: Message,
        O: Message,
        X: Fn(I, Emit<'_, O>) + Send + Sync + 'static,
        H: Fn(Panic) -> Option<O> + Send + Sync + 'static,
    {
        let functions = Arc::new((transform, handler));
        // A spawner need not be shareable among threads.
        let begins = Mutex::new(spawner.clone());
        let af = move |input, port| {
            let functions = Arc::clone(&functions);
            let spawner = MAY_BLOCK.then(|| begins.lock().clone());
            async move {
                match spawner {
                    Some(spawner) => hold_up::<C, I, O, _, _, _>(&spawner, functions, input, port),
                    None => compute::<C, I, O, _, _, _>(functions, input, port).await,
                }
            }
        };
        self.0.start(spawner, workers, from, to, af, at_end)
    }
}

/// A call in a task, and its results.
async fn compute<C: Async, I: Message, O: Message, X, H, G>(
    functions: Arc<(X, H)>,
    input: I,
    mut port: ResultPort<C, O, G>,
) where
    X: Fn(I, Emit<'_, O>),
    H: Fn(Panic) -> Option<O>,
{
    for result in emitted(&functions, input) {
        // The pipeline finds out whether it is wanted.
        let _ = port.put(result).await;
    }
}

/// The results of a call, followed by what the handler makes of its panic.
pub(crate) fn emitted<I, O, X, H>((transform, handler): &(X, H), input: I) -> Vec<O>
where
    X: Fn(I, Emit<'_, O>),
    H: Fn(Panic) -> Option<O>,
{
    let mut results = Vec::new();
    let returned = caught(|| {
        transform(input, &mut |result| {
            results.push(result);
            Continue(())
        });
    });
    results.extend(returned.err().and_then(handler));
    results
}

/// A call that puts its results itself. Its item ends when the port is dropped, with the work.
fn hold_up<C: Async, I: Message, O: Message, X, H, G>(
    spawner: &impl Spawn,
    functions: Arc<(X, H)>,
    input: I,
    mut port: ResultPort<C, O, G>,
) where
    X: Fn(I, Emit<'_, O>) + Send + Sync + 'static,
    H: Fn(Panic) -> Option<O> + Send + Sync + 'static,
    G: Send + 'static,
{
    let work = move || {
        let (transform, handler) = &*functions;
        let returned = caught(|| {
            transform(input, &mut |result| match block_on(port.put(result)) {
                Ok(()) => Continue(()),
                Err(_) => Break(()),
            });
        });
        if let Some(instead) = returned.err().and_then(handler) {
            let _ = block_on(port.put(instead));
        }
    };
    spawner.spawn_blocking(work);
}
