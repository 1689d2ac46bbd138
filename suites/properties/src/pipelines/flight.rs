//! The events of a pipeline's items that a model sees, recorded for the specification, and the channels around the
//! pipeline. The record uses no primitive of a world (see `gate`).

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::{Offered, Polled};
use flowmeter_harness::executor::give_way;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::spec::pipeline::{Event, Pipeline, Terms};
use flowmeter_harness::sync::world;

use super::super::gate::quiesce;
use super::super::obeys;
use crate::design::executors::{Executor, Runtime, Task};
use crate::design::pipelines::{Delivered, Pipelines, ResultPort};
use crate::design::{Rx, Tx};

/// The record. An item is in flight from the call of `af` to the drop of its port (P1).
#[derive(Debug, Default)]
pub(super) struct Flight(Mutex<Vec<Event>>);

const WHOLE: &str = "no thread panics while it holds the lock";

/// An item in flight.
pub(super) struct Item {
    input: usize,
    port: ResultPort,
    /// Results so far.
    put: usize,
    flight: Arc<Flight>,
}

impl Flight {
    /// Records an event. No operation of a world happens meanwhile.
    pub(super) fn write(&self, event: Event) {
        self.0.lock().expect(WHOLE).push(event);
    }

    /// Starts the pipeline with its default configuration, and counts its items.
    pub(super) fn start<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        pipelines: Pipelines,
        executor: &Executor,
        n: usize,
        ports: (Rx<usize>, Tx<Delivered>),
        work: impl Fn(usize, Item) -> F + Send + Sync + 'static,
        at_end: AtEnd,
    ) -> Task {
        let flight = Arc::clone(self);
        let work = move |input, port| work(input, flight.board(input, port));
        pipelines.start(executor, at_least_one(n), ports, work, at_end)
    }

    /// Records that an item begins; it is in flight until it is dropped.
    fn board(self: &Arc<Self>, input: usize, port: ResultPort) -> Item {
        self.write(Event::Begun(input));
        let flight = Arc::clone(self);
        Item {
            input,
            port,
            put: 0,
            flight,
        }
    }

    /// How often `af` was called.
    pub(super) fn calls(&self) -> usize {
        self.count(|event| matches!(event, Event::Begun(_)))
    }

    /// Items in flight.
    pub(super) fn now(&self) -> usize {
        self.calls() - self.count(|event| matches!(event, Event::Ended(_)))
    }

    /// Whether the pipeline has reported its end.
    fn has_finished(&self) -> bool {
        self.count(|event| matches!(event, Event::Finished)) > 0
    }

    fn count(&self, what: impl Fn(&Event) -> bool) -> usize {
        let events = self.0.lock().expect(WHOLE);
        events.iter().filter(|event| what(event)).count()
    }

    /// Judges the events by the specification.
    pub(super) fn judge(&self, terms: Terms) {
        let events = self.0.lock().expect(WHOLE).clone();
        obeys(Pipeline::judge(terms, &events));
    }
}

impl Item {
    /// Puts the next result of the item, whether or not it is wanted.
    pub(super) async fn put(&mut self) {
        self.flight.write(Event::Put(self.input));
        let number = self.put;
        self.put += 1;
        self.port.put((self.input, number)).await;
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        // Recorded before the port is dropped: the next item may begin at that moment.
        self.flight.write(Event::Ended(self.input));
    }
}

/// The terms that a pipeline of parallelism `n` owes.
pub(super) fn terms(pipelines: Pipelines, n: usize, inputs: usize) -> Terms {
    let bound = n + pipelines.extra;
    let window = match pipelines.window(at_least_one(n)) {
        Some(window) => window.get(),
        None if pipelines.ordered() => bound,
        None => usize::MAX,
    };
    Terms {
        bound,
        window,
        ordered: pipelines.ordered(),
        inputs,
    }
}

pub(super) fn at_least_one(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("a pipeline has at least one item in flight")
}

/// A channel that holds `0..items`, for a pipeline to take from. It stays open as long as its first half is kept.
pub(super) fn source(on: Runtime, items: usize) -> (Tx<usize>, Rx<usize>) {
    let (mut tx, rx) = on.open(items);
    for item in 0..items {
        assert_eq!(tx.offer(item), Offered::Done, "there is room");
    }
    (tx, rx)
}

/// As [`source`], already closed.
pub(super) fn ended_source(on: Runtime, items: usize) -> Rx<usize> {
    let (tx, rx) = source(on, items);
    tx.close();
    rx
}

/// All results in the output, and the state of the output after them.
pub(super) fn drain(
    flight: &Flight,
    results: &mut Rx<Delivered>,
) -> (Vec<Delivered>, Polled<Delivered>) {
    let mut values = Vec::new();
    loop {
        match results.poll() {
            Polled::Done((item, number)) => {
                flight.write(Event::Delivered { item, number });
                values.push((item, number));
            }
            rest => {
                flight.write(match rest {
                    Polled::Closed => Event::Closed,
                    _ => Event::Empty,
                });
                return (values, rest);
            }
        }
    }
}

/// The next result, or `None` when the output is closed.
pub(super) fn take(flight: &Flight, results: &mut Rx<Delivered>) -> Option<Delivered> {
    let result = world::block_on(results.take_async()).ok();
    flight.write(match result {
        Some((item, number)) => Event::Delivered { item, number },
        None => Event::Closed,
    });
    result
}

/// Waits until the pipeline reports its end.
pub(super) fn finish(flight: &Flight, end: impl Future<Output = ()>) {
    world::block_on(end);
    flight.write(Event::Finished);
}

/// Waits until the pipeline reports its end, where it may never do so. Returns whether it has.
pub(super) fn finishes(
    on: Runtime,
    executor: &Executor,
    flight: &Arc<Flight>,
    end: impl Future<Output = ()> + Send + 'static,
) -> bool {
    let book = Arc::clone(flight);
    executor.spawn(async move {
        end.await;
        book.write(Event::Finished);
    });
    quiesce(on.channels, || flight.has_finished());
    flight.has_finished()
}

/// Waits until no task can go on. The std world cannot know that moment. There, once `reached` is true, a task yields
/// more often than a faulty pipeline needs steps to begin too much.
pub(super) fn come_to_rest(on: Runtime, executor: &Executor, reached: impl Fn() -> bool) {
    const TURNS: usize = 200;
    quiesce(on.channels, reached);
    if world::name() != "std" {
        return;
    }
    let (mut over, mut rest) = on.open(1);
    executor.spawn(async move {
        for _ in 0..TURNS {
            give_way().await;
        }
        let _ = over.put_async(()).await;
    });
    assert_eq!(world::block_on(rest.take_async()), Ok(()));
}
