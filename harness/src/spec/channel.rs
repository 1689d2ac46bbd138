//! One channel of the specification: what is in line to be taken, and whether it was closed.

use std::collections::BTreeSet;

use crate::history::{Storage, Value};

/// A value after its put has taken effect and before its take has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The value.
    pub value: Value,
    /// The take that received it and will be cancelled. Until then the value counts as taken; afterwards it is back in
    /// its old place (C9).
    pub holder: Option<usize>,
}

/// A channel. A rendezvous has values in line only where a cancelled take gave one back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Values in the order in which their puts took effect.
    pub line: Vec<Place>,
    /// The puts that hold room for their values and will be cancelled. Until then the room counts as taken, and no take
    /// finds a value there (C5, C9).
    pub reserved: BTreeSet<usize>,
    /// Whether it was closed.
    pub closed: bool,
}

impl Channel {
    fn free(&self) -> impl Iterator<Item = (usize, Value)> + '_ {
        let free =
            |(at, place): (usize, &Place)| place.holder.is_none().then_some((at, place.value));
        self.line.iter().enumerate().filter_map(free)
    }

    /// The value that the next take receives.
    pub fn first(&self) -> Option<Value> {
        self.free().next().map(|(_, value)| value)
    }

    /// Whether a put takes effect without a taker.
    pub fn has_room(&self, storage: Storage) -> bool {
        match storage {
            Storage::Rendezvous => false,
            Storage::Fixed(capacity) => self.free().count() + self.reserved.len() < capacity,
            _ => true,
        }
    }

    /// Stores a value, as B1 states for each kind of buffer.
    pub fn store(&mut self, storage: Storage, value: Value) {
        let stored = self.free().count();
        match storage {
            Storage::Dropping(capacity) if stored >= capacity => return,
            Storage::Promise if stored > 0 => return,
            Storage::Sliding(capacity) if stored >= capacity => {
                let oldest = self.free().next().map(|(at, _)| at);
                self.line
                    .remove(oldest.expect("a sliding buffer has room for one"));
            }
            _ => {}
        }
        self.line.push(Place {
            value,
            holder: None,
        });
    }

    /// Takes the first value. A take that will be cancelled is its `holder`, and the value keeps its place.
    pub fn take(&mut self, storage: Storage, holder: Option<usize>) -> Option<Value> {
        let (at, value) = self.free().next()?;
        match holder {
            // A promise keeps what it answers with, so there is nothing to give back.
            _ if storage == Storage::Promise => {}
            Some(_) => self.line[at].holder = holder,
            None => drop(self.line.remove(at)),
        }
        Some(value)
    }

    /// Makes a take that will be cancelled the holder of this value, which it received directly from a put.
    pub fn hand(&mut self, value: Value, holder: usize) {
        self.line.push(Place {
            value,
            holder: Some(holder),
        });
    }

    /// Makes a put that will be cancelled hold room for its value.
    pub fn reserve(&mut self, holder: usize) {
        self.reserved.insert(holder);
    }

    /// Releases the value or the room that this operation holds.
    pub fn give_back(&mut self, holder: usize) {
        self.reserved.remove(&holder);
        for place in &mut self.line {
            if place.holder == Some(holder) {
                place.holder = None;
            }
        }
    }
}
