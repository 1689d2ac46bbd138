//! rayon: calls of a transform in a `ThreadPool`, which is for computation.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | n calls at a time | `ThreadPoolBuilder::num_threads`: "Sets the number of threads to be used in the rayon threadpool" |
//!
//! rayon has no channels, and no order to keep with them. A parallel iterator has all its inputs, or takes them by
//! blocking a thread of the pool (`par_bridge`). So the pipeline around the calls is our `windowed`, and the row
//! measures where the calls are made. Here each is made by `ThreadPool::spawn`; the row `pipeline` beside it makes them
//! in tasks of the executor. A panic of the function is caught around the call. A panic of the handler goes to rayon,
//! which would abort the program without a panic handler of its own.

use ::std::num::NonZeroUsize;

use ::rayon::ThreadPoolBuilder;
use flowmeter_harness::channel::{Async, Emit, Message, Panic};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::transform_pipeline::TransformPipelines;

use crate::pipeline::{ONE, Windowed, emitted, next, open};
use crate::sync::{Arc, block_on};

/// Calls in `rayon::ThreadPool::spawn`, as items of [`Windowed`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Rayon;

impl<C: Async, E: Executors> TransformPipelines<C, E> for Rayon {
    const ORDERED: bool = true;
    const MAY_BLOCK: bool = false;

    /// # Panics
    /// When the system refuses threads.
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
        let pool = ThreadPoolBuilder::new().num_threads(workers.get());
        let pool = pool.panic_handler(|_| ()).build();
        let pool = pool.expect("the system has threads for the pool");
        let af = move |input, mut port: ResultPort<C, O, _>| {
            let functions = Arc::clone(&functions);
            let (called, mut returned) = open::<C, Vec<O>>(ONE);
            let mut called = ResultPort::<C, Vec<O>>::new(called);
            pool.spawn(move || {
                // There is room for the result.
                let _ = block_on(called.put(emitted(&functions, input)));
            });
            async move {
                for result in next::<C, _>(&mut returned).await.into_iter().flatten() {
                    // The pipeline itself finds out whether the result is still wanted.
                    let _ = port.put(result).await;
                }
            }
        };
        Pipelines::<C, E>::start(Windowed::default(), spawner, workers, from, to, af, at_end)
    }
}
