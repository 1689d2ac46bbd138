//! How the operations of a program are done: by threads that block, with deadlines, as alts, as futures. What a
//! caller is answered is written in the words of a history, and the values that came with it are dropped.

use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{
    Alts, AltsError, Async, Blocking, Channels, Chosen, Clause, Message, Offered, Order, Patience,
    Polled, PutDeadline, PutError, PutUntilError, TakeDeadline, TakeError, TakeUntilError,
};
use flowmeter_harness::check::Token;
use flowmeter_harness::history::{Answer, Value};
use flowmeter_harness::sync::{Deadline, World};

use super::program::{Operation, Port, Wait};

/// A value that knows its number.
pub(super) trait Numbered: Message + Debug {
    fn number(&self) -> Value;
}

impl Numbered for Token {
    fn number(&self) -> Value {
        self.id() as Value
    }
}

impl Numbered for Value {
    fn number(&self) -> Value {
        *self
    }
}

/// The halves that a thread has, by channel.
pub(super) struct Halves<C: Channels, T: Numbered> {
    pub(super) txs: Vec<Option<C::Tx<T>>>,
    pub(super) rxs: Vec<Option<C::Rx<T>>>,
}

const HAS: &str = "a thread has the halves of the channels that its operations name";

impl<C: Channels, T: Numbered> Halves<C, T> {
    pub(super) fn tx(&mut self, channel: usize) -> &mut C::Tx<T> {
        self.txs[channel].as_mut().expect(HAS)
    }

    pub(super) fn rx(&mut self, channel: usize) -> &mut C::Rx<T> {
        self.rxs[channel].as_mut().expect(HAS)
    }

    pub(super) fn close(&self, channel: usize) -> Answer {
        let tx = self.txs[channel].as_ref().expect(HAS);
        assert!(C::close(tx), "asked before");
        Answer::Closed
    }

    pub(super) fn offer(&mut self, channel: usize, token: T) -> Answer {
        match C::offer(self.tx(channel), token) {
            Offered::Done => ACCEPTED,
            Offered::WouldWait(_) => Answer::WouldWait,
            Offered::Closed(_) => REFUSED,
        }
    }

    pub(super) fn poll(&mut self, channel: usize) -> Answer {
        match C::poll(self.rx(channel)) {
            Polled::Done(token) => took(0, token),
            Polled::WouldWait => Answer::WouldWait,
            Polled::Closed => ENDED,
        }
    }
}

const ACCEPTED: Answer = Answer::Accepted { clause: 0 };
const REFUSED: Answer = Answer::Refused { clause: 0 };
const ENDED: Answer = Answer::Ended { clause: 0 };

fn took<T: Numbered>(clause: usize, token: T) -> Answer {
    let value = token.number();
    Answer::Took { clause, value }
}

fn put<T: Numbered>(answer: Result<(), PutError<T>>) -> Answer {
    match answer {
        Ok(()) => ACCEPTED,
        Err(PutError::Closed(_)) => REFUSED,
        Err(PutError::TooManyWaiters(_)) => violated!("C7: a put was one too many among few"),
    }
}

fn take<T: Numbered>(answer: Result<T, TakeError>) -> Answer {
    match answer {
        Ok(token) => took(0, token),
        Err(TakeError::Closed) => ENDED,
        Err(TakeError::TooManyWaiters) => violated!("C7: a take was one too many among few"),
    }
}

/// How long an operation waits, now that it is called.
#[derive(Clone, Copy)]
pub(super) enum Called {
    Forever,
    Until(Deadline),
    Polls(u32),
}

/// A way of doing what waits. What is not asked of a style is not in its programs.
pub(super) trait Style<C: Channels, T: Numbered, W: World>: 'static {
    fn put(tx: &mut C::Tx<T>, token: T, wait: Called) -> Answer;
    fn take(rx: &mut C::Rx<T>, wait: Called) -> Answer;

    fn alts(
        _clauses: &[Clause<'_, C, T>],
        _order: Order,
        _slots: &mut [Option<T>],
        _patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        unreachable!("{NOT_ASKED}")
    }

    /// Does an operation with these values, in the order of its puts.
    fn act(
        halves: &mut Halves<C, T>,
        operation: &Operation,
        patience: Patience,
        tokens: Vec<T>,
    ) -> Answer {
        let (ports, order, wait) = match operation {
            Operation::Close(channel) => return halves.close(*channel),
            Operation::Alts { ports, order, wait } => (ports, *order, *wait),
        };
        let mut tokens = tokens.into_iter();
        let [port] = ports[..] else {
            return choose::<C, T, Self, W>(halves, ports, order, patience, tokens);
        };
        let called = match (wait, patience) {
            (Wait::Not, _) => None,
            (Wait::Polls(polls), _) => Some(Called::Polls(polls)),
            (_, Patience::Until(deadline)) => Some(Called::Until(deadline)),
            _ => Some(Called::Forever),
        };
        let mut token = || tokens.next().expect("a put has a value");
        match (port, called) {
            (Port::Put(channel), None) => halves.offer(channel, token()),
            (Port::Take(channel), None) => halves.poll(channel),
            (Port::Put(channel), Some(wait)) => Self::put(halves.tx(channel), token(), wait),
            (Port::Take(channel), Some(wait)) => Self::take(halves.rx(channel), wait),
        }
    }
}

const NOT_ASKED: &str = "no program asks for what its menu lacks";

fn choose<C: Channels, T: Numbered, S: Style<C, T, W> + ?Sized, W: World>(
    halves: &mut Halves<C, T>,
    ports: &[Port],
    order: Order,
    patience: Patience,
    mut tokens: impl Iterator<Item = T>,
) -> Answer {
    let mut slots: Vec<Option<T>> = Vec::with_capacity(ports.len());
    slots.extend(ports.iter().map(|port| match port {
        Port::Put(_) => tokens.next(),
        Port::Take(_) => None,
    }));
    let offered: Vec<Option<Value>> = ids(&slots);
    let clause = |port: &Port| match *port {
        Port::Put(channel) => Clause::Put(halves.txs[channel].as_ref().expect(HAS)),
        Port::Take(channel) => Clause::Take(halves.rxs[channel].as_ref().expect(HAS)),
    };
    let clauses: Vec<Clause<'_, C, T>> = ports.iter().map(clause).collect();
    let chosen = S::alts(&clauses, order, &mut slots, patience);
    let answer = answered(chosen, patience);
    let mut kept = offered;
    if let Answer::Accepted { clause } = answer {
        kept[clause] = None;
    }
    holds_eq!(
        ids(&slots),
        kept,
        "A1: the slots after {answer:?} do not hold every value but the winner's"
    );
    answer
}

/// The answer of an alts of valid clauses, with that patience.
fn answered<T: Numbered>(chosen: Result<Chosen<T>, AltsError>, patience: Patience) -> Answer {
    match (chosen, patience) {
        (Ok(Chosen::Took { clause, value }), _) => match value {
            Some(token) => took(clause, token),
            None => Answer::Ended { clause },
        },
        (Ok(Chosen::Put { clause, accepted }), _) => match accepted {
            true => Answer::Accepted { clause },
            false => Answer::Refused { clause },
        },
        (Ok(Chosen::Default), Patience::Now) => Answer::WouldWait,
        (Ok(Chosen::TimedOut), Patience::Until(_)) => Answer::TimedOut,
        (other, _) => violated!("A7: an alts with patience {patience:?} was answered {other:?}"),
    }
}

fn ids<T: Numbered>(slots: &[Option<T>]) -> Vec<Option<Value>> {
    slots.iter().map(|s| s.as_ref().map(T::number)).collect()
}

/// Threads that block.
pub(super) struct Blocks;

impl<C: Blocking, T: Numbered, W: World> Style<C, T, W> for Blocks {
    fn put(tx: &mut C::Tx<T>, token: T, _wait: Called) -> Answer {
        put(C::put(tx, token))
    }
    fn take(rx: &mut C::Rx<T>, _wait: Called) -> Answer {
        take(C::take(rx))
    }
}

/// Threads that block, and put until a deadline.
pub(super) struct PutsUntil;

impl<C: PutDeadline, T: Numbered, W: World> Style<C, T, W> for PutsUntil {
    fn put(tx: &mut C::Tx<T>, token: T, wait: Called) -> Answer {
        let Called::Until(deadline) = wait else {
            return put(C::put(tx, token));
        };
        match C::put_until(tx, token, deadline) {
            Ok(()) => ACCEPTED,
            Err(PutUntilError::TimedOut(_)) => Answer::TimedOut,
            Err(PutUntilError::Put(error)) => put(Err(error)),
        }
    }
    fn take(rx: &mut C::Rx<T>, _wait: Called) -> Answer {
        take(C::take(rx))
    }
}

/// Threads that block, and take until a deadline.
pub(super) struct TakesUntil;

impl<C: TakeDeadline, T: Numbered, W: World> Style<C, T, W> for TakesUntil {
    fn put(tx: &mut C::Tx<T>, token: T, _wait: Called) -> Answer {
        put(C::put(tx, token))
    }
    fn take(rx: &mut C::Rx<T>, wait: Called) -> Answer {
        let Called::Until(deadline) = wait else {
            return take(C::take(rx));
        };
        match C::take_until(rx, deadline) {
            Err(TakeUntilError::TimedOut) => Answer::TimedOut,
            Err(TakeUntilError::Take(error)) => take::<T>(Err(error)),
            Ok(token) => took(0, token),
        }
    }
}

/// Threads that block, and choose.
pub(super) struct Chooses;

impl<C: Alts, T: Numbered, W: World> Style<C, T, W> for Chooses {
    fn put(tx: &mut C::Tx<T>, token: T, wait: Called) -> Answer {
        match wait {
            Called::Until(deadline) => {
                let mut slots = [Some(token)];
                let patience = Patience::Until(deadline);
                let clauses = [Clause::Put(&*tx)];
                let mut alts = C::prepare(&clauses, Order::Random);
                answered(C::run(&mut alts, &mut slots, patience), patience)
            }
            _ => put(C::put(tx, token)),
        }
    }
    fn take(rx: &mut C::Rx<T>, wait: Called) -> Answer {
        match wait {
            Called::Until(deadline) => {
                let clauses = [Clause::Take(&*rx)];
                let patience = Patience::Until(deadline);
                let mut alts = C::prepare(&clauses, Order::Random);
                answered(C::run(&mut alts, &mut [None], patience), patience)
            }
            _ => take(C::take(rx)),
        }
    }
    fn alts(
        clauses: &[Clause<'_, C, T>],
        order: Order,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        C::run(&mut C::prepare(clauses, order), slots, patience)
    }
}

/// Futures, awaited or dropped.
pub(super) struct Awaits;

impl<C: Async, T: Numbered, W: World> Style<C, T, W> for Awaits {
    fn put(tx: &mut C::Tx<T>, token: T, wait: Called) -> Answer {
        awaited::<W, _>(C::put_async(tx, token), wait).map_or(Answer::Cancelled, put)
    }
    fn take(rx: &mut C::Rx<T>, wait: Called) -> Answer {
        awaited::<W, _>(C::take_async(rx), wait).map_or(Answer::Cancelled, take)
    }
}

/// Puts block and takes are futures, on one channel.
pub(super) struct BlocksAndAwaits;

impl<C: Blocking + Async, T: Numbered, W: World> Style<C, T, W> for BlocksAndAwaits {
    fn put(tx: &mut C::Tx<T>, token: T, _wait: Called) -> Answer {
        put(C::put(tx, token))
    }
    fn take(rx: &mut C::Rx<T>, wait: Called) -> Answer {
        awaited::<W, _>(C::take_async(rx), wait).map_or(Answer::Cancelled, take)
    }
}

/// `None` when the future was dropped.
fn awaited<W: World, F: Future>(future: F, wait: Called) -> Option<F::Output> {
    let Called::Polls(polls) = wait else {
        return Some(W::block_on(future));
    };
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        W::perturb();
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return Some(answer);
        }
        W::yield_now();
    }
    None
}
