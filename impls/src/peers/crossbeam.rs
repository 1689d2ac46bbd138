//! crossbeam-channel: a stamped ring, blocks of 31 slots, or a hand-over; `Select` over all of them.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | rendezvous, fixed, unbounded | crate docs, "Creating a channel" |
//! | many producers and consumers | crate docs, "Sharing channels" |
//! | blocking, with deadlines | crate docs, "Blocking operations"; `send_deadline`, `recv_deadline` |
//! | identity | `Sender::same_channel`, `Receiver::same_channel` |
//! | alts | `Select`; at random with `Select::new`, in the given order with `Select::new_biased` |
//! | disconnect, keeps-buffered | crate docs, "Disconnection": "any remaining messages can still be received" |
//!
//! Not claimed: an order among waiting threads, and the effect of a stalled thread on `try_send`, are not documented.
//! "A random one" of the ready operations is not promised to be uniform. The biased selection tries its operations one
//! after another, so an earlier one may become able after it was tried. That is weak priority and a weak default (A5,
//! A6). Only dropping halves closes a channel. When values that can no longer be taken are dropped is not documented.

#[cfg(not(feature = "older-crossbeam-alts"))]
use crossbeam_channel::Select;
use crossbeam_channel::{Receiver, SendError, Sender, TryRecvError, TrySendError};
#[cfg(not(feature = "older-crossbeam-deadlines"))]
use crossbeam_channel::{RecvTimeoutError, SendTimeoutError};
#[cfg(not(feature = "older-crossbeam-alts"))]
use flowmeter_harness::channel::{Alts, AltsError, Chosen, Clause, Order, Patience};
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};
#[cfg(not(feature = "older-crossbeam-deadlines"))]
use flowmeter_harness::channel::{PutDeadline, PutUntilError, TakeDeadline, TakeUntilError};
#[cfg(not(feature = "older-crossbeam-deadlines"))]
use flowmeter_harness::sync::Deadline;

#[cfg(not(feature = "older-crossbeam-deadlines"))]
use crate::sync::clock;

/// crossbeam-channel.
#[derive(Clone, Copy, Debug)]
pub struct Crossbeam;

impl Channels for Crossbeam {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Rendezvous => Some(crossbeam_channel::bounded(0)),
            Buffer::Fixed(capacity) => Some(crossbeam_channel::bounded(capacity.get())),
            Buffer::Unbounded => Some(crossbeam_channel::unbounded()),
            Buffer::Dropping(_) | Buffer::Sliding(_) => None,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_rx<T: Message>(rx: &Receiver<T>) -> Option<Receiver<T>> {
        Some(rx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn same_tx<T: Message>(one: &Sender<T>, other: &Sender<T>) -> Option<bool> {
        Some(one.same_channel(other))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn same_rx<T: Message>(one: &Receiver<T>, other: &Receiver<T>) -> Option<bool> {
        Some(one.same_channel(other))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(value)) => Offered::WouldWait(value),
            Err(TrySendError::Disconnected(value)) => Offered::Closed(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(TryRecvError::Empty) => Polled::WouldWait,
            Err(TryRecvError::Disconnected) => Polled::Closed,
        }
    }
}

impl Blocking for Crossbeam {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value)
            .map_err(|SendError(value)| PutError::Closed(Some(value)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}

#[cfg(not(feature = "older-crossbeam-deadlines"))]
impl PutDeadline for Crossbeam {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_until<T: Message>(
        tx: &mut Sender<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let Some(deadline) = clock::instant(deadline) else {
            return Self::put(tx, value).map_err(PutUntilError::Put);
        };
        tx.send_deadline(value, deadline).map_err(|e| match e {
            SendTimeoutError::Timeout(value) => PutUntilError::TimedOut(value),
            SendTimeoutError::Disconnected(value) => {
                PutUntilError::Put(PutError::Closed(Some(value)))
            }
        })
    }
}

#[cfg(not(feature = "older-crossbeam-deadlines"))]
impl TakeDeadline for Crossbeam {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_until<T: Message>(
        rx: &mut Receiver<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        let Some(deadline) = clock::instant(deadline) else {
            return Self::take(rx).map_err(TakeUntilError::Take);
        };
        rx.recv_deadline(deadline).map_err(|e| match e {
            RecvTimeoutError::Timeout => TakeUntilError::TimedOut,
            RecvTimeoutError::Disconnected => TakeUntilError::Take(TakeError::Closed),
        })
    }
}

/// A `Select` built once; its operations have the indices of the clauses.
#[cfg(not(feature = "older-crossbeam-alts"))]
#[derive(Debug)]
pub struct Prepared<'a, T: Message> {
    clauses: &'a [Clause<'a, Crossbeam, T>],
    select: Select<'a>,
}

#[cfg(not(feature = "older-crossbeam-alts"))]
impl Alts for Crossbeam {
    type Prepared<'a, T: Message> = Prepared<'a, T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn prepare<'a, T: Message>(
        clauses: &'a [Clause<'a, Self, T>],
        order: Order,
    ) -> Prepared<'a, T> {
        let mut select = match order {
            Order::Priority => Select::new_biased(),
            Order::Random => Select::new(),
        };
        for clause in clauses {
            match clause {
                Clause::Take(rx) => select.recv(rx),
                Clause::Put(tx) => select.send(tx),
            };
        }
        Prepared { clauses, select }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<T: Message>(
        prepared: &mut Prepared<'_, T>,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        let Prepared { clauses, select } = prepared;
        let deadline = match patience {
            Patience::Until(deadline) => clock::instant(deadline),
            Patience::Forever | Patience::Now => None,
        };
        if slots.len() != clauses.len() {
            return Err(AltsError::SlotCount {
                slots: slots.len(),
                clauses: clauses.len(),
            });
        }
        let missing = |(clause, slot): (&Clause<'_, _, T>, &Option<T>)| {
            matches!(clause, Clause::Put(_)) && slot.is_none()
        };
        if let Some(clause) = clauses.iter().zip(&*slots).position(missing) {
            return Err(AltsError::MissingValue { clause });
        }

        let selected = match (patience, deadline) {
            (Patience::Now, _) => match select.try_select() {
                Ok(selected) => selected,
                Err(_) => return Ok(Chosen::Default),
            },
            (_, Some(deadline)) => match select.select_deadline(deadline) {
                Ok(selected) => selected,
                Err(_) => return Ok(Chosen::TimedOut),
            },
            (_, None) if clauses.is_empty() => return Err(AltsError::NoClauses),
            (_, None) => select.select(),
        };
        let clause = selected.index();
        Ok(match &clauses[clause] {
            Clause::Take(rx) => Chosen::Took {
                clause,
                value: selected.recv(rx).ok(),
            },
            Clause::Put(tx) => {
                let value = slots[clause].take().expect("full, as checked above");
                slots[clause] = selected.send(tx, value).err().map(|SendError(value)| value);
                Chosen::Put {
                    clause,
                    accepted: slots[clause].is_none(),
                }
            }
        })
    }
}
