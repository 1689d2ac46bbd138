//! Lies about permits: whether there is one, what it holds, and what becomes of its value.

use std::future::Future;
use std::mem::{forget, replace};
use std::sync::Arc;

use flowmeter_harness::channel::{
    AsyncReserve, BlockingReserve, Channels, Message, Offered, Reserve, ReserveError,
};

use super::super::future::awaited;
use super::super::told;
use super::super::values::{another, double};
use super::{Lying, Shared, Tx};

/// A permit, which as a lie holds no room.
pub(in super::super) struct Permit<'a, C: Reserve, T: Message> {
    held: Held<'a, C, T>,
    shared: Arc<Shared<T>>,
}

enum Held<'a, C: Reserve, T: Message> {
    Room(C::Permit<'a, T>),
    /// A producer that is to do without.
    Nothing(C::Tx<T>),
    Gone,
}

impl<C: Reserve, T: Message> Drop for Permit<'_, C, T> {
    fn drop(&mut self) {
        let held = replace(&mut self.held, Held::Gone);
        if let Held::Room(room) = held
            && told("a dropped permit keeps its room")
        {
            forget(room);
        }
    }
}

impl<C: Reserve> Reserve for Lying<C> {
    type Permit<'a, T: Message> = Permit<'a, C, T>;

    fn try_reserve<T: Message>(tx: &Tx<C, T>) -> Result<Permit<'_, C, T>, ReserveError> {
        let begun = Begun::<C, T>::of(tx)?;
        begun.answered(C::try_reserve(tx.real()))
    }

    fn fill<T: Message>(mut permit: Permit<'_, C, T>, value: T) -> Result<(), T> {
        if told("a permit's value is dropped") {
            return Ok(());
        }
        if told("a permit's value is forgotten") {
            forget(value);
            return Ok(());
        }
        if told("a permit refuses its value") {
            return Err(value);
        }
        let twice = told("a permit is filled twice").then(|| double(&value));
        // Decided before, for the first execution need not come to it.
        let closed_is_filled = told("a permit of a closed channel is said to be filled");
        let gives_another = told("a permit gives another value back");
        let spare = told("a filled permit gives its value back").then(|| double(&value));
        let filled = match replace(&mut permit.held, Held::Gone) {
            Held::Room(room) => C::fill(room, value),
            Held::Nothing(mut tx) => offered::<C, T>(&mut tx, value),
            Held::Gone => unreachable!("a permit is filled once"),
        };
        match filled {
            Ok(()) => {
                permit.shared.add(twice.and_then(|spare| spare.take()));
                spare.and_then(|spare| spare.take()).map_or(Ok(()), Err)
            }
            Err(_) if closed_is_filled => Ok(()),
            Err(value) if gives_another => Err(another(&value).unwrap_or(value)),
            Err(value) => Err(value),
        }
    }
}

impl<C: BlockingReserve> BlockingReserve for Lying<C> {
    fn reserve<T: Message>(tx: &Tx<C, T>) -> Result<Permit<'_, C, T>, ReserveError> {
        let begun = Begun::<C, T>::of(tx)?;
        begun.answered(C::reserve(tx.real()))
    }
}

impl<C: AsyncReserve> AsyncReserve for Lying<C> {
    fn reserve_async<T: Message>(
        tx: &Tx<C, T>,
    ) -> impl Future<Output = Result<Permit<'_, C, T>, ReserveError>> + Send {
        let begun = Begun::<C, T>::of(tx);
        let reserve = C::reserve_async(tx.real());
        async move {
            let begun = begun?;
            if begun.hastily {
                return begun.answered(Err(ReserveError::WouldWait));
            }
            begun.answered(awaited(reserve).await)
        }
    }
}

/// A reservation as it begins.
struct Begun<C: Reserve, T: Message> {
    /// Makes a permit that holds nothing, whatever the answer.
    hollow: Option<C::Tx<T>>,
    hastily: bool,
    shared: Arc<Shared<T>>,
}

impl<C: Reserve, T: Message> Begun<C, T> {
    fn of(tx: &Tx<C, T>) -> Result<Self, ReserveError> {
        if told("a reservation is refused") {
            return Err(ReserveError::WouldWait);
        }
        if told("a reservation finds it closed") {
            return Err(ReserveError::Closed);
        }
        let hastily = told("a reservation does not wait");
        let hollow = hastily || told("a permit holds no room");
        Ok(Begun {
            hollow: hollow.then(|| C::another_tx(tx.real())).flatten(),
            hastily,
            shared: Arc::clone(&tx.shared),
        })
    }

    fn answered(
        self,
        answer: Result<C::Permit<'_, T>, ReserveError>,
    ) -> Result<Permit<'_, C, T>, ReserveError> {
        let held = match (self.hollow, answer) {
            (Some(tx), _) => Held::Nothing(tx),
            (None, Ok(room)) => Held::Room(room),
            (None, Err(why)) if told("a reservation is refused for another reason") => {
                return Err(match why {
                    ReserveError::Closed => ReserveError::WouldWait,
                    _ => ReserveError::Closed,
                });
            }
            (None, Err(why)) => return Err(why),
        };
        let shared = self.shared;
        Ok(Permit { held, shared })
    }
}

/// What a permit without room does with its value.
fn offered<C: Channels, T: Message>(tx: &mut C::Tx<T>, value: T) -> Result<(), T> {
    match C::offer(tx, value) {
        Offered::Done => Ok(()),
        Offered::WouldWait(value) | Offered::Closed(value) => Err(value),
    }
}
