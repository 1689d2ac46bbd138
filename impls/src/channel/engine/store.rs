//! The interface between the engine and the store of a channel's values.

use flowmeter_harness::channel::{Buffer as Kind, Channels, Message};

use super::effects::Effects;
use super::state::State;
use crate::channel::front::Front;
use crate::channel::halves::{Consumer, Producer};

/// The values of a channel, as the holder of its lock sees them.
pub trait Store<T: Send>: Sized + Send {
    /// The part that is used without the lock.
    type Front: Front<T>;

    /// An empty store of that kind.
    fn new(kind: Kind) -> Self;

    /// An empty store that a transform may overfill (B2).
    fn overfilled(kind: Kind) -> Self {
        Self::new(kind)
    }

    /// The store of a promise. `copy` is `T::clone`, which is known only where the channel is made.
    fn promise(copy: fn(&T) -> T) -> Self;

    /// The part that is used without the lock.
    fn front(&self) -> Self::Front;

    /// Shuts the front. From here on the values change only through this store. The lock was just taken.
    #[inline]
    fn shut(&mut self) {}

    /// Opens the front; if the channel is closed, for takes alone. No request waits, and the lock is about to be
    /// released.
    #[inline]
    fn open(&mut self, _closed: bool) {}

    /// The number of stored values.
    fn len(&self) -> usize;

    /// The capacity; `None` if there is no limit.
    fn capacity(&self) -> Option<usize>;

    /// How the value of a promise is copied; `None` for other stores.
    fn promises(&self) -> Option<fn(&T) -> T>;

    /// Whether nothing is stored.
    fn is_empty(&self) -> bool;

    /// Whether a put that finds no room waits, and drops no value.
    fn makes_puts_wait(&self) -> bool;

    /// Whether a put would have to wait.
    fn is_full(&self) -> bool;

    /// Whether permits can hold room here.
    fn has_limits(&self) -> bool;

    /// Holds room for one value.
    fn reserve(&mut self);

    /// Gives back the room of one permit.
    fn release(&mut self);

    /// Stores a value if there is room.
    ///
    /// # Errors
    /// Gives the value back if there is none.
    fn add(&mut self, value: T) -> Result<(), T>;

    /// Stores a value, for which there is room.
    fn store(&mut self, value: T);

    /// Puts a value for which there is no room: drops it or the oldest one, as the kind of buffer says.
    ///
    /// # Errors
    /// Gives the value back if the put would have to wait.
    fn overflow(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T>;

    /// Stores a value, beyond the capacity of a fixed buffer if it must.
    fn overfill(&mut self, value: T, effects: &mut Effects<T>);

    /// The next value to be taken. For a promise it runs `T::clone`.
    fn next(&mut self) -> Option<T>;

    /// Removes all values and leaves them to `effects` to be dropped.
    fn empty(&mut self, effects: &mut Effects<T>);

    /// Puts back a value that was handed to a cancelled take, before all values that were put after it.
    fn give_back(&mut self, value: T, place: u64);
}

/// A store that belongs to a design. Alts need it to name the family of their clauses.
pub trait OfFamily<T: Message>: Store<T> {
    /// The family of the channels that store this way.
    type Family: Channels<Tx<T> = Producer<State<T, Self>>, Rx<T> = Consumer<State<T, Self>>>;
}
