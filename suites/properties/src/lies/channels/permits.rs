//! Faults injected into permits: whether there is one, what it holds, and what happens to its value.

use std::mem::{forget, replace};
use std::sync::Arc;

use flowmeter_harness::channel::{Offered, ReserveError};

use super::super::future::awaited;
use super::super::told;
use super::super::values::{another, double};
use super::{HAD, Handle, Lying, Shared, of};
use crate::design::Parcel;
use crate::design::channels::operations::{
    self, AwaitsRoom, Base, BlocksForRoom, Half, Pending, Reserved, Reserves,
};

/// A permit, which a fault leaves without room.
struct Permit<'a> {
    held: Held<'a>,
    base: &'static dyn Base,
    shared: Arc<Shared>,
}

enum Held<'a> {
    Room(Box<dyn operations::Permit + 'a>),
    /// A producer without reserved room.
    Nothing(Half),
    Gone,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let held = replace(&mut self.held, Held::Gone);
        if let Held::Room(room) = held
            && told("a dropped permit keeps its room")
        {
            forget(room);
        }
    }
}

impl operations::Permit for Permit<'_> {
    fn fill(mut self: Box<Self>, value: Parcel) -> Result<(), Parcel> {
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
        // Decided in advance: the first execution may not reach it.
        let closed_is_filled = told("a permit of a closed channel is said to be filled");
        let gives_another = told("a permit gives another value back");
        let spare = told("a filled permit gives its value back").then(|| double(&value));
        let filled = match replace(&mut self.held, Held::Gone) {
            Held::Room(room) => room.fill(value),
            Held::Nothing(mut tx) => match self.base.offer(&mut tx, value) {
                Offered::Done => Ok(()),
                Offered::WouldWait(value) | Offered::Closed(value) => Err(value),
            },
            Held::Gone => unreachable!("a permit is filled once"),
        };
        match filled {
            Ok(()) => {
                self.shared.add(twice.and_then(|spare| spare.take()));
                spare.and_then(|spare| spare.take()).map_or(Ok(()), Err)
            }
            Err(_) if closed_is_filled => Ok(()),
            Err(value) if gives_another => Err(another(value)),
            Err(value) => Err(value),
        }
    }
}

impl Reserves for Lying {
    fn try_reserve<'a>(&self, tx: &'a Half) -> Reserved<'a> {
        let tx = of(tx);
        let begun = self.begun(tx)?;
        begun.answered(self.0.reserves().try_reserve(tx.real()))
    }
}

impl BlocksForRoom for Lying {
    fn reserve<'a>(&self, tx: &'a Half) -> Reserved<'a> {
        let tx = of(tx);
        let begun = self.begun(tx)?;
        begun.answered(self.0.blocks_for_room.expect(HAD).reserve(tx.real()))
    }
}

impl AwaitsRoom for Lying {
    fn reserve<'a>(&self, tx: &'a Half) -> Pending<'a, Reserved<'a>> {
        let tx = of(tx);
        let begun = self.begun(tx);
        let reserve = self.0.awaits_room.expect(HAD).reserve(tx.real());
        Box::pin(async move {
            let begun = begun?;
            if begun.hastily {
                return begun.answered(Err(ReserveError::WouldWait));
            }
            begun.answered(awaited(reserve).await)
        })
    }
}

/// A reservation as it begins.
struct Begun {
    /// Makes a permit that holds nothing, whatever the answer.
    hollow: Option<Half>,
    hastily: bool,
    base: &'static dyn Base,
    shared: Arc<Shared>,
}

impl Lying {
    fn begun(&self, tx: &Handle) -> Result<Begun, ReserveError> {
        if told("a reservation is refused") {
            return Err(ReserveError::WouldWait);
        }
        if told("a reservation finds it closed") {
            return Err(ReserveError::Closed);
        }
        let hastily = told("a reservation does not wait");
        let hollow = hastily || told("a permit holds no room");
        let base = self.0.base;
        Ok(Begun {
            hollow: hollow.then(|| base.another_tx(tx.real())).flatten(),
            hastily,
            base,
            shared: Arc::clone(&tx.shared),
        })
    }
}

impl Begun {
    fn answered<'a>(self, answer: Reserved<'a>) -> Reserved<'a> {
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
        let (base, shared) = (self.base, self.shared);
        Ok(Box::new(Permit { held, base, shared }))
    }
}
