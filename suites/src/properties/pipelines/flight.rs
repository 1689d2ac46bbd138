//! What a model of a pipeline sees of its items, in plain atomics (see `gate`), and the channels around it.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_harness::channel::{Async, Buffer, Channels, Message, Offered, Polled};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines, ResultPort};
use flowmeter_harness::sync::World;

use super::super::gate::{give_way, settle};
use super::PATIENCE;

/// Counts items in flight: from the call of `af` to the drop of its port (P1).
#[derive(Debug, Default)]
pub(super) struct Flight {
    calls: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
}

/// An item in flight.
pub(super) struct Item<C: Channels, O: Message> {
    port: ResultPort<C, O>,
    flight: Arc<Flight>,
}

impl Flight {
    /// Counts an item until it is dropped.
    pub(super) fn board<C: Channels, O: Message>(
        self: &Arc<Self>,
        port: ResultPort<C, O>,
    ) -> Item<C, O> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let flight = Arc::clone(self);
        Item { port, flight }
    }

    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(super) fn now(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }

    pub(super) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

impl<C: Async, O: Message> Item<C, O> {
    /// Puts a result; whether it is wanted is not the item's affair.
    pub(super) async fn put(&mut self, result: O) {
        let _ = self.port.put(result).await;
    }
}

impl<C: Channels, O: Message> Drop for Item<C, O> {
    fn drop(&mut self) {
        // Before the port is dropped: the next item may begin at that moment.
        self.flight.now.fetch_sub(1, Ordering::SeqCst);
    }
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

/// Everything in the channel, and how it goes on after that.
pub(super) fn drain<C: Channels, T: Message>(rx: &mut C::Rx<T>) -> (Vec<T>, Polled<T>) {
    let mut values = Vec::new();
    loop {
        match C::poll(rx) {
            Polled::Done(value) => values.push(value),
            rest => return (values, rest),
        }
    }
}

/// Starts the pipeline as configured by default, with items counted by `flight`.
pub(super) fn start<P, C, E, O, F>(
    executor: &E,
    n: usize,
    (from, to): (C::Rx<usize>, C::Tx<O>),
    flight: &Arc<Flight>,
    work: impl Fn(usize, Item<C, O>) -> F + Send + Sync + 'static,
    at_end: AtEnd,
) -> impl Future<Output = ()> + Send + 'static
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    O: Message,
    F: Future<Output = ()> + Send + 'static,
{
    let n = NonZeroUsize::new(n).expect("a pipeline has at least one item in flight");
    let flight = Arc::clone(flight);
    let af = move |input, port| work(input, flight.board(port));
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
    if W::NAME != "std" {
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
