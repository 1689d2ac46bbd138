//! What a model of a pipeline sees of its items, written down for the specification in a book without a world (see
//! `gate`), and the channels around it.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::{Async, Buffer, Channels, Message, Offered, Polled};
use flowmeter_harness::executor::{Executors, give_way};
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::spec::pipeline::{Event, Pipeline, Terms};
use flowmeter_harness::sync::World;

use super::super::gate::settle;
use super::super::obeys;
use super::PATIENCE;

/// The book. An item is in flight from the call of `af` to the drop of its port (P1).
#[derive(Debug, Default)]
pub(super) struct Flight(Mutex<Vec<Event>>);

/// An item of that pipeline.
pub(super) type ItemOf<P, C, E> = Item<C, <P as Pipelines<C, E>>::Permit>;

const WHOLE: &str = "nobody panics with the lock";

/// An item in flight.
pub(super) struct Item<C: Channels, G> {
    input: usize,
    port: ResultPort<C, Result, G>,
    /// Results so far.
    put: usize,
    flight: Arc<Flight>,
}

impl Flight {
    /// Writes down what is seen. Nothing of a world happens meanwhile.
    pub(super) fn write(&self, event: Event) {
        self.0.lock().expect(WHOLE).push(event);
    }

    /// An item is in flight until it is dropped.
    pub(super) fn board<C: Channels, G>(
        self: &Arc<Self>,
        input: usize,
        port: ResultPort<C, Result, G>,
    ) -> Item<C, G> {
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

    /// Whether the pipeline has said that it has ended.
    fn has_finished(&self) -> bool {
        self.count(|event| matches!(event, Event::Finished)) > 0
    }

    fn count(&self, what: impl Fn(&Event) -> bool) -> usize {
        let events = self.0.lock().expect(WHOLE);
        events.iter().filter(|event| what(event)).count()
    }

    /// Has the specification judge it.
    pub(super) fn judge(&self, terms: Terms) {
        let events = self.0.lock().expect(WHOLE).clone();
        obeys(Pipeline::judge(terms, &events));
    }
}

impl<C: Async, G> Item<C, G> {
    /// Puts its next result; whether it is wanted is not the item's affair.
    pub(super) async fn put(&mut self) {
        self.flight.write(Event::Put(self.input));
        let number = self.put;
        self.put += 1;
        let _ = self.port.put((self.input, number)).await;
    }
}

impl<C: Channels, G> Drop for Item<C, G> {
    fn drop(&mut self) {
        // Before the port is dropped: the next item may begin at that moment.
        self.flight.write(Event::Ended(self.input));
    }
}

/// What a pipeline promises of which so many more than n may be in flight.
pub(super) fn terms<P, C, E>(n: usize, extra: usize, inputs: usize) -> Terms
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    let bound = n + extra;
    let window = match P::default().window(at_least_one(n)) {
        Some(window) => window.get(),
        None if P::ORDERED => bound,
        None => usize::MAX,
    };
    Terms {
        bound,
        window,
        ordered: P::ORDERED,
        inputs,
    }
}

pub(super) fn at_least_one(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("a pipeline has at least one item in flight")
}

/// A channel that holds `0..items`, for a pipeline to take from; it stays open as long as its first half is
/// kept.
pub(super) fn source<C: Channels>(items: usize) -> (C::Tx<usize>, C::Rx<usize>) {
    let (mut tx, rx) = open::<C, usize>(items);
    for item in 0..items {
        assert_eq!(C::offer(&mut tx, item), Offered::Done, "there is room");
    }
    (tx, rx)
}

/// As [`source`], closed already.
pub(super) fn ended_source<C: Channels>(items: usize) -> C::Rx<usize> {
    let (tx, rx) = source::<C>(items);
    C::close(&tx);
    rx
}

pub(super) fn open<C: Channels, T: Message>(room: usize) -> (C::Tx<T>, C::Rx<T>) {
    C::open(Buffer::fixed(room)).expect("a family with futures has a buffer")
}

/// A result: of which item, and which of its results.
pub(super) type Result = (usize, usize);

/// Everything that lies in the output, and how it goes on after that.
pub(super) fn drain<C: Channels>(
    flight: &Flight,
    results: &mut C::Rx<Result>,
) -> (Vec<Result>, Polled<Result>) {
    let mut values = Vec::new();
    loop {
        match C::poll(results) {
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

/// The next result, or none when the output is closed.
pub(super) fn take<C: Async, W: World>(
    flight: &Flight,
    results: &mut C::Rx<Result>,
) -> Option<Result> {
    let result = W::block_on(C::take_async(results)).ok();
    flight.write(match result {
        Some((item, number)) => Event::Delivered { item, number },
        None => Event::Closed,
    });
    result
}

/// Waits until the pipeline says that it has ended.
pub(super) fn finish<W: World>(flight: &Flight, end: impl Future<Output = ()>) {
    W::block_on(end);
    flight.write(Event::Finished);
}

/// Waits until the pipeline says that it has ended, where it may never do so; answers whether it has.
pub(super) fn finishes<C, E, W>(
    executor: &E,
    flight: &Arc<Flight>,
    end: impl Future<Output = ()> + Send + 'static,
) -> bool
where
    C: Async,
    E: Executors,
    W: World,
{
    let book = Arc::clone(flight);
    executor.spawn(async move {
        end.await;
        book.write(Event::Finished);
    });
    settle::<C, W>(PATIENCE, || flight.has_finished());
    flight.has_finished()
}

/// Starts the pipeline as configured by default, with items counted by `flight`.
pub(super) fn start<P, C, E, F>(
    executor: &E,
    n: usize,
    (from, to): (C::Rx<usize>, C::Tx<Result>),
    flight: &Arc<Flight>,
    work: impl Fn(usize, ItemOf<P, C, E>) -> F + Send + Sync + 'static,
    at_end: AtEnd,
) -> impl Future<Output = ()> + Send + 'static
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    F: Future<Output = ()> + Send + 'static,
{
    let n = at_least_one(n);
    let flight = Arc::clone(flight);
    let af = move |input, port| work(input, flight.board(input, port));
    P::default().start(executor.spawner(), n, from, to, af, at_end)
}

/// Waits until no task can go on. In the std world nobody can know that moment: there a task gives way, once
/// `reached` answers yes, more often than what would begin too much has steps to take.
pub(super) fn come_to_rest<C, E, W>(executor: &E, reached: impl Fn() -> bool)
where
    C: Async,
    E: Executors,
    W: World,
{
    const TURNS: usize = 200;
    settle::<C, W>(PATIENCE, reached);
    if W::name() != "std" {
        return;
    }
    let (mut over, mut rest) = open::<C, ()>(1);
    executor.spawn(async move {
        for _ in 0..TURNS {
            give_way().await;
        }
        let _ = C::put_async(&mut over, ()).await;
    });
    assert_eq!(W::block_on(C::take_async(&mut rest)), Ok(()));
}
