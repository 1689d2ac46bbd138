//! Real threads on every channel of ours for a while, with every value and every drop counted. The properties look
//! for a single wrong schedule. These tests give work to memory checkers (`scripts/sanitize`): they find a queue
//! that reads a cell too early, or drops one twice, although its answers are right.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads on purpose: no checker explores here"
)]

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

use flowmeter_harness::channel::{
    Alts, Async, Blocking, Channels, Chosen, Clause, Order, Patience, Polled, PutError,
};
use flowmeter_impls::channel::{Buffer, Offered};

/// Values of each producer; few under Miri, which is slow.
const VALUES: usize = if cfg!(miri) { 6 } else { 3_000 };
/// Producers, and as many consumers.
const PAIRS: usize = 2;

/// How many values there were, and how many are gone.
#[derive(Debug, Default)]
struct Ledger {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

/// A value that owns memory, so that a duplicate shows in more than its count.
#[derive(Debug)]
struct Value {
    id: Box<usize>,
    ledger: Arc<Ledger>,
}

impl Ledger {
    fn value(self: &Arc<Self>, producer: usize, number: usize) -> Value {
        self.made.fetch_add(1, Ordering::Relaxed);
        Value {
            id: Box::new(producer * VALUES + number),
            ledger: Arc::clone(self),
        }
    }

    /// Checks that every value is gone, once every handle is.
    #[track_caller]
    fn balance(&self) {
        let made = self.made.load(Ordering::Relaxed);
        assert_eq!(self.dropped.load(Ordering::Relaxed), made, "drops");
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.ledger.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Puts one producer's values; returns the accepted ones.
type Produce<T> = fn(&mut T, &Arc<Ledger>, usize) -> Vec<usize>;
/// One consumer's takes, until the end or until it has enough.
type Consume<R> = fn(&mut R) -> Vec<usize>;

/// Runs [`PAIRS`] of both on one channel, or one of each where a half cannot be cloned. Returns what was accepted and what
/// was taken, each once.
fn run<C: Channels>(
    buffer: Buffer,
    produce: Produce<C::Tx<Value>>,
    consume: Consume<C::Rx<Value>>,
) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let ledger = Arc::new(Ledger::default());
    let (tx, rx) = C::open::<Value>(buffer).expect("the design has this buffer");
    let mut producers: Vec<_> = (1..PAIRS).filter_map(|_| C::another_tx(&tx)).collect();
    let mut consumers: Vec<_> = (1..PAIRS).filter_map(|_| C::another_rx(&rx)).collect();
    producers.push(tx);
    consumers.push(rx);
    let (accepted, taken) = thread::scope(|scope| {
        let produce = |(number, mut tx): (usize, _)| {
            let ledger = &ledger;
            scope.spawn(move || produce(&mut tx, ledger, number))
        };
        let consume = |mut rx: C::Rx<Value>| scope.spawn(move || consume(&mut rx));
        let producers: Vec<_> = producers.into_iter().enumerate().map(produce).collect();
        let consumers: Vec<_> = consumers.into_iter().map(consume).collect();
        let of_all = |threads: Vec<thread::ScopedJoinHandle<'_, Vec<usize>>>| {
            let ends = threads.into_iter().map(|thread| thread.join());
            let lists: Vec<usize> = ends.flat_map(|end| end.expect("no panic")).collect();
            let set: BTreeSet<usize> = lists.iter().copied().collect();
            assert_eq!(set.len(), lists.len(), "a value came twice");
            set
        };
        (of_all(producers), of_all(consumers))
    });
    ledger.balance();
    (accepted, taken)
}

/// Puts all values, blocking.
fn put_all<C: Blocking>(
    tx: &mut C::Tx<Value>,
    ledger: &Arc<Ledger>,
    producer: usize,
) -> Vec<usize> {
    let put = |number: &usize| C::put(tx, ledger.value(producer, *number)).is_ok();
    let accepted = (0..VALUES).take_while(put);
    accepted.map(|number| producer * VALUES + number).collect()
}

/// Takes until the end.
fn take_all<C: Blocking>(rx: &mut C::Rx<Value>) -> Vec<usize> {
    let values = std::iter::from_fn(|| C::take(rx).ok());
    values.map(|value| *value.id).collect()
}

fn every_value_arrives_once<C: Blocking>(buffer: Buffer) {
    let (accepted, taken) = run::<C>(buffer, put_all::<C>, take_all::<C>);
    let opened = C::open::<Value>(buffer);
    let has_several = opened.is_some_and(|(tx, _rx)| C::another_tx(&tx).is_some());
    let producers = if has_several { PAIRS } else { 1 };
    assert_eq!(accepted.len(), producers * VALUES);
    assert_eq!(taken, accepted);
}

/// Every other operation is non-blocking, and is retried.
fn every_value_arrives_once_by_trying_too<C: Blocking>(buffer: Buffer) {
    let (accepted, taken) = run::<C>(
        buffer,
        |tx, ledger, producer| {
            for number in 0..VALUES {
                let value = ledger.value(producer, number);
                if number % 2 == 0 {
                    C::put(tx, value).expect("consumers stay until the end");
                    continue;
                }
                let mut left = Some(value);
                while let Some(value) = left.take() {
                    match C::offer(tx, value) {
                        Offered::Done => {}
                        Offered::WouldWait(value) => left = Some(value),
                        Offered::Closed(_) => panic!("consumers stay until the end"),
                    }
                    thread::yield_now();
                }
            }
            (0..VALUES)
                .map(|number| producer * VALUES + number)
                .collect()
        },
        |rx| {
            let mut taken = Vec::new();
            loop {
                match C::poll(rx) {
                    Polled::Done(value) => taken.push(*value.id),
                    Polled::WouldWait => match C::take(rx) {
                        Ok(value) => taken.push(*value.id),
                        Err(_) => return taken,
                    },
                    Polled::Closed => return taken,
                }
            }
        },
    );
    assert_eq!(taken, accepted);
}

/// Consumers are dropped midway: the rest is refused, or dropped with the channel.
fn consumers_that_leave_leave_nothing_behind<C: Blocking>(buffer: Buffer) {
    let (accepted, taken) = run::<C>(buffer, put_all::<C>, |rx| {
        let values = std::iter::from_fn(|| C::take(rx).ok());
        values.take(VALUES / 2).map(|value| *value.id).collect()
    });
    assert!(taken.is_subset(&accepted));
}

/// A producer closes the channel: what was accepted before arrives.
fn what_was_accepted_before_a_close_arrives<C: Blocking>(buffer: Buffer) {
    let (accepted, taken) = run::<C>(
        buffer,
        |tx, ledger, producer| {
            let mut accepted = Vec::new();
            for number in 0..VALUES {
                if producer == 0 && number == VALUES / 2 {
                    assert!(C::close(tx));
                }
                match C::put(tx, ledger.value(producer, number)) {
                    Ok(()) => accepted.push(producer * VALUES + number),
                    Err(PutError::Closed(Some(_))) => break,
                    Err(error) => panic!("{error:?}"),
                }
            }
            accepted
        },
        take_all::<C>,
    );
    assert_eq!(taken, accepted);
}

fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Futures that are polled once and dropped, beside threads that wait. A cancelled put drops its value, unless a
/// consumer had it already; a cancelled take takes none.
fn what_dropped_futures_leave_is_whole<C: Async + Blocking>(buffer: Buffer) {
    let (accepted, taken) = run::<C>(
        buffer,
        |tx, ledger, producer| {
            let mut accepted = Vec::new();
            for number in 0..VALUES {
                let value = ledger.value(producer, number);
                let answer = if number % 4 == 0 {
                    Poll::Ready(C::put(tx, value))
                } else {
                    poll_once(C::put_async(tx, value))
                };
                match answer {
                    Poll::Ready(Ok(())) => accepted.push(producer * VALUES + number),
                    Poll::Ready(Err(error)) => panic!("{error:?}"),
                    Poll::Pending => thread::yield_now(),
                }
            }
            accepted
        },
        |rx| {
            let mut taken = Vec::new();
            loop {
                for _ in 0..3 {
                    if let Poll::Ready(Ok(value)) = poll_once(C::take_async(rx)) {
                        taken.push(*value.id);
                    }
                }
                match C::take(rx) {
                    Ok(value) => taken.push(*value.id),
                    Err(_) => return taken,
                }
            }
        },
    );
    // A put may have delivered its value before it was cancelled.
    assert!(accepted.is_subset(&taken));
}

/// Producers put into either of two channels, consumers take from either.
fn an_alts_loses_and_doubles_nothing<C: Alts>(buffer: Buffer) {
    let ledger = Arc::new(Ledger::default());
    let open = || C::open::<Value>(buffer).expect("the design has this buffer");
    let ((tx_a, rx_a), (tx_b, rx_b)) = (open(), open());
    let another = "the design has several of each";
    let txs = || {
        [
            C::another_tx(&tx_a).expect(another),
            C::another_tx(&tx_b).expect(another),
        ]
    };
    let rxs = || {
        [
            C::another_rx(&rx_a).expect(another),
            C::another_rx(&rx_b).expect(another),
        ]
    };
    thread::scope(|scope| {
        for producer in 0..PAIRS {
            let (txs, ledger) = (txs(), Arc::clone(&ledger));
            scope.spawn(move || {
                let clauses = txs.each_ref().map(Clause::Put);
                let mut puts = C::prepare(&clauses, Order::Random);
                for number in 0..VALUES {
                    let mut slots = [(); 2].map(|()| Some(ledger.value(producer, number)));
                    let chosen = C::run(&mut puts, &mut slots, Patience::Forever);
                    assert!(matches!(chosen, Ok(Chosen::Put { accepted: true, .. })));
                    assert_eq!(
                        slots.iter().flatten().count(),
                        1,
                        "the loser keeps its value"
                    );
                }
            });
        }
        let consume = |_| {
            let rxs = rxs();
            scope.spawn(move || {
                let clauses = rxs.each_ref().map(Clause::Take);
                let mut takes = C::prepare(&clauses, Order::Random);
                let take = |_| match C::run(&mut takes, &mut [None, None], Patience::Forever) {
                    Ok(Chosen::Took { value, .. }) => *value.expect("both are open").id,
                    other => panic!("{other:?}"),
                };
                (0..VALUES).map(take).collect::<Vec<_>>()
            })
        };
        let consumers: Vec<_> = (0..PAIRS).map(consume).collect();
        let ends = consumers.into_iter().map(|thread| thread.join());
        let mut taken: Vec<_> = ends.flat_map(|end| end.expect("no panic")).collect();
        taken.sort_unstable();
        assert!(taken.into_iter().eq(0..PAIRS * VALUES));
    });
    drop(((tx_a, rx_a), (tx_b, rx_b)));
    ledger.balance();
}

const ALL: [Buffer; 4] = [
    Buffer::Rendezvous,
    Buffer::fixed(1),
    Buffer::fixed(3),
    Buffer::Unbounded,
];

/// The tests of one design, over its buffers. It may be closed by a half, and may have tasks and alts besides threads.
macro_rules! stress {
    ($design:ident, $family:ident $(, $abilities:ident)*) => {
        mod $design {
            use flowmeter_impls::channel::$design::$family as Family;

            use super::*;

            fn buffers() -> impl Iterator<Item = Buffer> {
                let open = |buffer: &Buffer| Family::open::<()>(*buffer).is_some();
                ALL.into_iter().filter(open)
            }

            #[test]
            fn every_value_arrives_once() {
                buffers().for_each(super::every_value_arrives_once::<Family>);
            }

            #[test]
            fn every_value_arrives_once_by_trying_too() {
                buffers().for_each(super::every_value_arrives_once_by_trying_too::<Family>);
            }

            #[test]
            fn consumers_that_leave_leave_nothing_behind() {
                buffers().for_each(super::consumers_that_leave_leave_nothing_behind::<Family>);
            }

            $(stress!(@$abilities);)*
        }
    };
    (@closing) => {
        #[test]
        fn what_was_accepted_before_a_close_arrives() {
            buffers().for_each(super::what_was_accepted_before_a_close_arrives::<Family>);
        }
    };
    (@all_forms) => {
        #[test]
        fn what_dropped_futures_leave_is_whole() {
            buffers().for_each(super::what_dropped_futures_leave_is_whole::<Family>);
        }

        #[test]
        fn an_alts_loses_and_doubles_nothing() {
            buffers().for_each(super::an_alts_loses_and_doubles_nothing::<Family>);
        }
    };
}

stress!(mutex, MutexChannels, closing, all_forms);
stress!(ordered_locks, OrderedLocks, closing, all_forms);
stress!(lock_free, LockFree, closing, all_forms);
stress!(condvar, Condvar, closing);
stress!(spsc_ring, SpscRing);
