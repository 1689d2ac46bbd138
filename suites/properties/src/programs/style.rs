//! How the operations of a program are executed: by blocking threads, with deadlines, as alts, as futures. The answer
//! is recorded in the terms of a history, and the values are dropped.

use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{
    AltsError, Chosen, Message, Offered, Order, Patience, Polled, PutError, PutUntilError,
    TakeError, TakeUntilError,
};
use flowmeter_harness::check::Token;
use flowmeter_harness::history::{Answer, Value};
use flowmeter_harness::sync::{Deadline, world};

use super::program::{Operation, Port, Wait};
use crate::design::channels::Design;
use crate::design::{Channels, Clause, Rx, Tx};

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

/// The halves of a thread, by channel.
pub(super) struct Halves<T: Numbered> {
    pub(super) txs: Vec<Option<Tx<T>>>,
    pub(super) rxs: Vec<Option<Rx<T>>>,
}

const HAS: &str = "a thread has the halves of the channels that its operations name";

impl<T: Numbered> Halves<T> {
    pub(super) fn tx(&mut self, channel: usize) -> &mut Tx<T> {
        self.txs[channel].as_mut().expect(HAS)
    }

    pub(super) fn rx(&mut self, channel: usize) -> &mut Rx<T> {
        self.rxs[channel].as_mut().expect(HAS)
    }

    /// The design of all of them.
    fn channels(&self) -> Channels {
        self.txs.iter().flatten().next().expect(HAS).channels()
    }

    pub(super) fn close(&self, channel: usize) -> Answer {
        let tx = self.txs[channel].as_ref().expect(HAS);
        assert!(tx.close(), "asked before");
        Answer::Closed
    }

    pub(super) fn offer(&mut self, channel: usize, token: T) -> Answer {
        match self.tx(channel).offer(token) {
            Offered::Done => ACCEPTED,
            Offered::WouldWait(_) => Answer::WouldWait,
            Offered::Closed(_) => REFUSED,
        }
    }

    pub(super) fn poll(&mut self, channel: usize) -> Answer {
        match self.rx(channel).poll() {
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

/// How long a called operation waits.
#[derive(Clone, Copy)]
pub(super) enum Called {
    Forever,
    Until(Deadline),
    Polls(u32),
}

/// A way to execute waiting operations. Programs of a style contain only what the style has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
    /// Threads that block.
    Blocks,
    /// Threads that block, and put until a deadline.
    PutsUntil,
    /// Threads that block, and take until a deadline.
    TakesUntil,
    /// Threads that block, and choose.
    Chooses,
    /// Futures, awaited or dropped.
    Awaits,
    /// Puts block and takes are futures, on one channel.
    BlocksAndAwaits,
}

impl Style {
    /// Whether the design has all operations of the style.
    pub(super) fn is_of(self, design: &Design) -> bool {
        let channels = design.channels;
        match self {
            Style::Blocks => channels.blocks(),
            Style::PutsUntil => channels.puts_until(),
            Style::TakesUntil => channels.takes_until(),
            Style::Chooses => channels.chooses(),
            Style::Awaits => channels.awaits(),
            Style::BlocksAndAwaits => design.meet,
        }
    }

    fn put<T: Numbered>(self, tx: &mut Tx<T>, token: T, wait: Called) -> Answer {
        match (self, wait) {
            (Style::PutsUntil, Called::Until(deadline)) => match tx.put_until(token, deadline) {
                Ok(()) => ACCEPTED,
                Err(PutUntilError::TimedOut(_)) => Answer::TimedOut,
                Err(PutUntilError::Put(error)) => put(Err(error)),
            },
            (Style::Chooses, Called::Until(deadline)) => {
                let patience = Patience::Until(deadline);
                let channels = tx.channels();
                let clauses = channels.clauses(&[Clause::Put(tx)]);
                let mut alts = clauses.prepare(Order::Random);
                answered(alts.run(&mut [Some(token)], patience), patience)
            }
            (Style::Awaits, _) => awaited(tx.put_async(token), wait).map_or(Answer::Cancelled, put),
            _ => put(tx.put(token)),
        }
    }

    fn take<T: Numbered>(self, rx: &mut Rx<T>, wait: Called) -> Answer {
        match (self, wait) {
            (Style::TakesUntil, Called::Until(deadline)) => match rx.take_until(deadline) {
                Err(TakeUntilError::TimedOut) => Answer::TimedOut,
                Err(TakeUntilError::Take(error)) => take::<T>(Err(error)),
                Ok(token) => took(0, token),
            },
            (Style::Chooses, Called::Until(deadline)) => {
                let patience = Patience::Until(deadline);
                let channels = rx.channels();
                let clauses = channels.clauses(&[Clause::Take(rx)]);
                let mut alts = clauses.prepare(Order::Random);
                answered(alts.run(&mut [None], patience), patience)
            }
            (Style::Awaits | Style::BlocksAndAwaits, _) => {
                awaited(rx.take_async(), wait).map_or(Answer::Cancelled, take)
            }
            _ => take(rx.take()),
        }
    }

    /// Executes an operation with these values, in the order of its puts.
    pub(super) fn act<T: Numbered>(
        self,
        halves: &mut Halves<T>,
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
            return choose(halves, ports, order, patience, tokens);
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
            (Port::Put(channel), Some(wait)) => self.put(halves.tx(channel), token(), wait),
            (Port::Take(channel), Some(wait)) => self.take(halves.rx(channel), wait),
        }
    }
}

fn choose<T: Numbered>(
    halves: &mut Halves<T>,
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
    let clauses: Vec<Clause<'_, T>> = ports.iter().map(clause).collect();
    let stated = halves.channels().clauses(&clauses);
    let chosen = stated.prepare(order).run(&mut slots, patience);
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

/// `None` when the future was dropped.
fn awaited<F: Future>(future: F, wait: Called) -> Option<F::Output> {
    let Called::Polls(polls) = wait else {
        return Some(world::block_on(future));
    };
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        world::perturb();
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return Some(answer);
        }
        world::yield_now();
    }
    None
}
