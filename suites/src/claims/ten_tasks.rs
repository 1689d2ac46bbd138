//! Pipelines of ten tasks in virtual time, and phrases for the observations.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::{Async, Buffer, Offered};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};

use super::acts::open;
use crate::properties::Clock;
use crate::properties::design::Channels;

/// How long each of ten tasks takes, in milliseconds.
pub(super) type Takes = [u64; 10];

pub(super) const SECONDS: Takes = [1_000; 10];
/// The first takes ten seconds, and the others no time.
pub(super) const SLOW_HEAD: Takes = [HEADS, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// The same, with a second for each of the others.
pub(super) const SLOWEST_HEAD: Takes = [
    HEADS, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000,
];
const HEADS: u64 = 10_000;

/// The observations of a pipeline of ten tasks; times are in milliseconds.
#[derive(Default)]
pub(super) struct Run {
    in_flight: usize,
    /// The maximum in flight.
    pub(super) most: usize,
    /// The tasks that started at each time.
    started: BTreeMap<u64, Vec<usize>>,
    /// The results with their times.
    came: Vec<(u64, usize)>,
    /// When the output was closed.
    pub(super) closed: Option<u64>,
}

const WHOLE: &str = "no thread panics while it holds the lock";

pub(super) fn run<P, C, E>(n: usize, takes: Takes) -> Run
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    Run::of::<P, C, E>(n, takes, AtEnd::Close)
}

impl Run {
    pub(super) fn of<P, C, E>(n: usize, takes: Takes, at_end: AtEnd) -> Run
    where
        P: Pipelines<C, E> + Default,
        C: Async,
        E: Executors,
    {
        let scene = Scene::<E>::default();
        let (to, results) = open::<C, usize>(Buffer::Rendezvous);
        // The channels of the text stay open without a producer.
        let kept = C::another_tx(&to).expect("the text's channels have several producers");
        scene.start::<P, C>(n, (numbers::<C>(), to), takes, at_end);
        scene.take_all::<C>(results);
        let run = scene.run::<C>();
        drop(kept);
        run
    }

    /// When the first result arrives.
    pub(super) fn begins(&self) -> String {
        after(self.came.first().map(|(moment, _)| *moment))
    }

    /// When the last of ten results arrives.
    pub(super) fn ends(&self) -> String {
        after(self.came.get(9).map(|(moment, _)| *moment))
    }

    pub(super) fn closes(&self) -> String {
        after(self.closed)
    }

    pub(super) fn most(&self) -> String {
        format!("{} in flight", self.most)
    }

    /// The groups of tasks that start together.
    pub(super) fn batches(&self) -> String {
        let together = self.started.values().map(|batch| {
            let mut batch = batch.clone();
            batch.sort_unstable();
            words(batch)
        });
        together.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn started_before_the_head_ended(&self) -> String {
        let started = self.started.range(..HEADS).map(|(_, batch)| batch.len());
        format!("{} in {HEADS} ms", started.sum::<usize>())
    }

    pub(super) fn values(&self) -> String {
        words(self.came.iter().map(|(_, value)| *value))
    }

    pub(super) fn last(&self) -> String {
        words(self.came.last().map(|(_, value)| *value))
    }
}

fn words(numbers: impl IntoIterator<Item = usize>) -> String {
    let words: Vec<String> = numbers.into_iter().map(|n| n.to_string()).collect();
    words.join(" ")
}

fn after(moment: Option<u64>) -> String {
    moment.map_or_else(|| "never".to_owned(), |ms| format!("after {ms} ms"))
}

/// The numbers from 0 to 9, in a channel that is closed.
fn numbers<C: Async>() -> C::Rx<usize> {
    let (mut tx, rx) = open::<C, usize>(Buffer::fixed(10));
    for number in 0..10 {
        assert_eq!(C::offer(&mut tx, number), Offered::Done, "there is room");
    }
    C::close(&tx);
    rx
}

/// Pipelines on one thread, with a clock of their own.
struct Scene<E> {
    executor: E,
    clock: Clock,
    seen: Arc<Mutex<Run>>,
}

impl<E: Executors> Default for Scene<E> {
    fn default() -> Self {
        Scene {
            executor: E::with_threads(NonZeroUsize::MIN),
            clock: Clock::default(),
            seen: Arc::default(),
        }
    }
}

impl<E: Executors> Scene<E> {
    /// A pipeline with tasks that take as long as `takes` says for their input, and put the next number.
    fn start<P, C>(
        &self,
        n: usize,
        (from, to): (C::Rx<usize>, C::Tx<usize>),
        takes: Takes,
        at_end: AtEnd,
    ) where
        P: Pipelines<C, E> + Default,
        C: Async,
    {
        let n = NonZeroUsize::new(n).expect("the text asks for at least one");
        let (clock, seen) = (self.clock.clone(), Arc::clone(&self.seen));
        let task = move |number: usize, mut port: ResultPort<C, usize, P::Permit>| {
            let (clock, seen) = (clock.clone(), Arc::clone(&seen));
            {
                let mut run = seen.lock().expect(WHOLE);
                run.started.entry(clock.now()).or_default().push(number);
                run.in_flight += 1;
                run.most = run.most.max(run.in_flight);
            }
            async move {
                clock.sleep(takes[number % takes.len()]).await;
                // Whether the result is wanted does not matter to the task.
                let _ = port.put(number + 1).await;
                // Before the port is dropped: the next task may start at that moment.
                seen.lock().expect(WHOLE).in_flight -= 1;
            }
        };
        let end = P::default().start(self.executor.spawner(), n, from, to, task, at_end);
        self.executor.spawn(end);
    }

    /// A task that takes all results.
    fn take_all<C: Async>(&self, mut results: C::Rx<usize>) {
        let (seen, clock) = (Arc::clone(&self.seen), self.clock.clone());
        self.executor.spawn(async move {
            while let Ok(value) = C::take_async(&mut results).await {
                let mut run = seen.lock().expect(WHOLE);
                run.came.push((clock.now(), value));
            }
            seen.lock().expect(WHOLE).closed = Some(clock.now());
        });
    }

    /// Advances time as long as a task sleeps.
    fn run<C: Async>(self) -> Run {
        self.clock.run(Channels::of_tasks::<C>());
        drop(self.executor);
        let mut seen = self.seen.lock().expect(WHOLE);
        std::mem::take(&mut *seen)
    }
}

/// Two pipelines in a row, as the text's helpers build them for ten at a time: when the last value arrives.
pub(super) fn chain<P, C, E>() -> String
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    let scene = Scene::<E>::default();
    let (to, from) = open::<C, usize>(Buffer::Rendezvous);
    let (second_to, results) = open::<C, usize>(Buffer::Rendezvous);
    for ports in [(numbers::<C>(), to), (from, second_to)] {
        scene.start::<P, C>(10 - 2, ports, SECONDS, AtEnd::Close);
    }
    scene.take_all::<C>(results);
    scene.run::<C>().ends()
}

/// The output is closed while the first tasks work.
pub(super) fn stops<P, C, E>() -> String
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    let scene = Scene::<E>::default();
    let (to, mut results) = open::<C, usize>(Buffer::Rendezvous);
    scene.start::<P, C>(1, (numbers::<C>(), to), SECONDS, AtEnd::Close);
    let sleeps = scene.clock.clone();
    scene.executor.spawn(async move {
        sleeps.sleep(500).await;
        C::close_rx(&mut results);
    });
    let started = scene.run::<C>().started;
    match started.values().map(Vec::len).sum::<usize>() {
        10 => "it takes all".to_owned(),
        _ => "it stops".to_owned(),
    }
}
