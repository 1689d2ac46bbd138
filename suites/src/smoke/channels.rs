//! Channels: values that are put are taken, up to the capacity and no more, in every form. A closed channel says so.
//! An alts takes what is ready, or else its default.

use std::future::{Future, pending};
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{
    Alts, AltsError, Async, AwaitAlts, Blocking, Buffer, Callback, Channels, Chosen, Clause,
    MixedAlts, Offered, Order, Patience, Polled, Promises, PutDeadline, TakeDeadline, Winner,
};
use flowmeter_harness::sync::Deadline;

const ROOM: NonZeroUsize = NonZeroUsize::new(2).expect("two");

const BUFFERS: [Buffer; 4] = [
    Buffer::Fixed(ROOM),
    Buffer::Unbounded,
    Buffer::Dropping(ROOM),
    Buffer::Sliding(ROOM),
];

/// Fills every buffer of the family, empties it, and closes it where that is possible.
fn fill_and_empty<C: Channels>(
    put: fn(&mut C::Tx<usize>, usize),
    take: fn(&mut C::Rx<usize>) -> usize,
) {
    for buffer in BUFFERS {
        let Some((mut tx, mut rx)) = C::open::<usize>(buffer) else {
            continue;
        };
        for _ in 0..3 {
            (0..ROOM.get()).for_each(|value| put(&mut tx, value));
            let taken: Vec<usize> = (0..ROOM.get()).map(|_| take(&mut rx)).collect();
            assert_eq!(taken, [0, 1], "{buffer}");
        }
        if C::close(&tx) {
            assert_eq!(C::offer(&mut tx, 7), Offered::Closed(7), "{buffer}");
            assert_eq!(C::poll(&mut rx), Polled::Closed, "{buffer}");
        }
    }
}

pub(super) fn tried<C: Channels>() {
    fill_and_empty::<C>(
        |tx, value| assert_eq!(C::offer(tx, value), Offered::Done),
        |rx| match C::poll(rx) {
            Polled::Done(value) => value,
            other => panic!("a poll of what was put answered {other:?}"),
        },
    );
    if let Some((mut tx, mut rx)) = C::open::<usize>(Buffer::Rendezvous) {
        assert_eq!(C::offer(&mut tx, 7), Offered::WouldWait(7));
        assert_eq!(C::poll(&mut rx), Polled::WouldWait);
    }
    if let Some((mut tx, mut rx)) = C::open::<usize>(Buffer::Fixed(ROOM)) {
        assert_eq!(C::poll(&mut rx), Polled::WouldWait);
        (0..ROOM.get()).for_each(|value| assert_eq!(C::offer(&mut tx, value), Offered::Done));
        assert_eq!(C::offer(&mut tx, 7), Offered::WouldWait(7));
    }
}

pub(super) fn blocking<C: Blocking>() {
    fill_and_empty::<C>(
        |tx, value| assert!(C::put(tx, value).is_ok()),
        |rx| C::take(rx).expect("it is open"),
    );
}

pub(super) fn awaited<C: Async>() {
    fill_and_empty::<C>(
        |tx, value| assert!(at_once(C::put_async(tx, value)).is_ok()),
        |rx| at_once(C::take_async(rx)).expect("it is open"),
    );
}

fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a future waits for nothing"),
    }
}

pub(super) fn called_back<C: Callback>() {
    fill_and_empty::<C>(
        |tx, value| {
            let (answers, answer) = mpsc::channel();
            C::put_then(tx, value, move |put| {
                answers.send(put).expect("it is awaited")
            });
            assert_eq!(answer.try_recv(), Ok(Ok(())));
        },
        |rx| {
            let (answers, answer) = mpsc::channel();
            C::take_then(rx, move |took| answers.send(took).expect("it is awaited"));
            let took = answer.try_recv().expect("there is a value");
            took.expect("it is open")
        },
    );
}

pub(super) fn put_in_time<C: PutDeadline>() {
    fill_and_empty::<C>(
        |tx, value| assert_eq!(C::put_until(tx, value, Deadline::NEVER), Ok(())),
        |rx| C::take(rx).expect("it is open"),
    );
}

pub(super) fn taken_in_time<C: TakeDeadline>() {
    fill_and_empty::<C>(
        |tx, value| assert!(C::put(tx, value).is_ok()),
        |rx| C::take_until(rx, Deadline::NEVER).expect("it is open"),
    );
}

pub(super) fn promised<C: Promises>() {
    let (mut tx, mut rx) = C::open_promise::<usize>();
    assert_eq!(C::poll(&mut rx), Polled::WouldWait);
    assert_eq!(C::offer(&mut tx, 1), Offered::Done);
    for _ in 0..2 {
        assert_eq!(C::poll(&mut rx), Polled::Done(1));
    }
}

pub(super) fn chosen<C: Alts>() {
    for buffer in BUFFERS {
        let (Some((mut tx, rx)), Some((_silent, rx_silent))) = (C::open(buffer), C::open(buffer))
        else {
            continue;
        };
        let (out, mut rx_out) = C::open::<usize>(buffer).expect("asked before");
        assert_eq!(C::offer(&mut tx, 1), Offered::Done);

        let takes = [Clause::Take(&rx_silent), Clause::Take(&rx)];
        let mut alts = C::prepare(&takes, Order::Random);
        let mut run = |patience| C::run(&mut alts, &mut [None, None], patience);
        let took = Chosen::Took {
            clause: 1,
            value: Some(1),
        };
        assert_eq!(run(Patience::Forever), Ok(took), "{buffer}");
        assert_eq!(run(Patience::Now), Ok(Chosen::Default), "{buffer}");

        let put = [Clause::Take(&rx_silent), Clause::Put(&out)];
        let mut alts = C::prepare(&put, Order::Priority);
        let chosen = C::run(&mut alts, &mut [None, Some(2)], Patience::Forever);
        let accepted = Chosen::Put {
            clause: 1,
            accepted: true,
        };
        assert_eq!(chosen, Ok(accepted), "{buffer}");
        assert_eq!(C::poll(&mut rx_out), Polled::Done(2), "{buffer}");
    }
}

pub(super) fn chosen_of_two_types<C: MixedAlts>() {
    of_two_types::<C>(C::run_mixed);
}

pub(super) fn awaited_alts<C: AwaitAlts>() {
    of_two_types::<C>(|clauses, order, patience| match patience {
        Patience::Now => C::run_mixed(clauses, order, patience),
        _ => {
            let mut run = pin!(C::run_async(clauses, order, pending()));
            match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(winner) => winner,
                Poll::Pending => panic!("an alts with an able clause waits"),
            }
        }
    });
}

/// Runs an alts that is called like this.
type Run<C> =
    fn(&mut [<C as MixedAlts>::AnyClause<'_>], Order, Patience) -> Result<Winner, AltsError>;

fn of_two_types<C: MixedAlts>(run: Run<C>) {
    for buffer in BUFFERS {
        let (Some((mut tx, rx)), Some((out, mut rx_out))) = (C::open(buffer), C::open(buffer))
        else {
            continue;
        };
        assert_eq!(C::offer(&mut tx, "taken"), Offered::Done);
        let mut take = C::take_clause(&rx);
        let (_silent, rx_silent) = C::open::<u8>(buffer).expect("it has just opened others");
        let mut never = C::take_clause(&rx_silent);
        let won = run(
            &mut [C::any_take(&mut never), C::any_take(&mut take)],
            Order::Random,
            Patience::Forever,
        );
        assert_eq!(won, Ok(Winner::Clause(1)), "{buffer}");
        assert_eq!(C::taken(&mut take), Some("taken"), "{buffer}");

        let mut put = C::put_clause(&out, Some(2));
        let won = run(
            &mut [C::any_put(&mut put), C::any_take(&mut take)],
            Order::Priority,
            Patience::Forever,
        );
        assert_eq!(won, Ok(Winner::Clause(0)), "{buffer}");
        assert_eq!(*C::slot(&mut put), None, "{buffer}");
        let won = run(&mut [C::any_take(&mut take)], Order::Random, Patience::Now);
        assert_eq!(won, Ok(Winner::Default), "{buffer}");
        assert_eq!(C::poll(&mut rx_out), Polled::Done(2), "{buffer}");
    }
}
