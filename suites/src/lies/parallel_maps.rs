//! Lies about parallel maps: what is taken, what is begun, what is handed over, and what becomes of it when nobody wants it.

use std::future::{Future, ready};
use std::mem::forget;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Message};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::parallel_map::{Outcome, Outcomes, ParallelMaps, Throttle, Unfinished};

use super::{executors, told};

/// A parallel map that does what `M` does, but for one lie.
#[derive(Default)]
pub(super) struct Lying<M>(M);

/// On an executor that may lie as well.
impl<C: Async, E: Executors, M: ParallelMaps<C, E>> ParallelMaps<C, executors::Lying<E>>
    for Lying<M>
{
    const LAZY: bool = M::LAZY;
    type Outcomes<O: Message> = Handed<M::Outcomes<O>>;

    fn start<I, O, T, A, F>(
        &self,
        executors::Spawner(spawner): executors::Spawner<E::Spawner>,
        parallelism: NonZeroUsize,
        throttle: T,
        inputs: I,
        function: A,
    ) -> Self::Outcomes<O>
    where
        I: IntoIterator<Item: Message, IntoIter: Send + 'static>,
        O: Message,
        T: Throttle + Sync,
        A: Fn(I::Item) -> F + Send + Sync + 'static,
        F: Future<Output = O> + Send + 'static,
    {
        let parallelism = if told("one input more is in flight") {
            parallelism.saturating_add(1)
        } else if told("one input is in flight") {
            NonZeroUsize::MIN
        } else {
            parallelism
        };
        let throttle = Asked(throttle);
        let mut inputs = inputs.into_iter();
        let ahead = if told("an input is taken ahead") {
            inputs.next()
        } else {
            None
        };
        let inputs = ahead.into_iter().chain(inputs);
        let inputs = inputs.filter(|_| !told("an input is skipped"));
        let real = self
            .0
            .start(spawner, parallelism, throttle, inputs, function);
        Handed(Some(real))
    }
}

/// A throttle that may not be asked.
struct Asked<T>(T);

impl<T: Throttle + Sync> Throttle for Asked<T> {
    async fn pass(&self) {
        if told("a throttle is not asked") {
            return ready(()).await;
        }
        self.0.pass().await;
        if told("a throttle is asked twice") {
            self.0.pass().await;
        }
    }
}

/// Outcomes of which one may be another.
pub(super) struct Handed<R>(
    /// Gone only while it is dropped.
    Option<R>,
);

impl<O: Send, R: Outcomes<O>> Outcomes<O> for Handed<R> {
    async fn completed(&mut self) -> Option<Outcome<O>> {
        if told("an end is told too early") {
            return None;
        }
        let real = self.0.as_mut().expect("it is there until it is dropped");
        let outcome = if told("an outcome is lost") {
            real.completed().await;
            real.completed().await
        } else {
            real.completed().await
        };
        match outcome {
            Some(Ok(_)) if told("a result is told as none") => Some(Err(Unfinished { input: 0 })),
            Some(Err(Unfinished { input })) if told("another input is told to have no result") => {
                Some(Err(Unfinished { input: input + 1 }))
            }
            None if told("an outcome comes after the end") => Some(Err(Unfinished { input: 0 })),
            outcome => outcome,
        }
    }
}

impl<R> Drop for Handed<R> {
    fn drop(&mut self) {
        let real = self.0.take();
        if told("nobody is told that nothing is wanted") {
            forget(real);
        }
    }
}
