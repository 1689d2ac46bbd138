//! What the machine of a channel asks of the place where its values lie.

use flowmeter_harness::channel::{Buffer as Kind, Channels, Message};

use super::effects::Effects;
use super::state::State;
use crate::channel::front::Front;
use crate::channel::halves::{Consumer, Producer};

/// The values of a channel, as who holds its lock sees them.
pub trait Store<T: Message>: Sized + Send + 'static {
    /// What is used without the lock.
    type Front: Front<T>;

    /// An empty store of that kind.
    fn new(kind: Kind) -> Self;

    /// One that a transform may overfill (B2).
    fn overfilled(kind: Kind) -> Self {
        Self::new(kind)
    }

    /// That of a promise; `copy` is `T::clone`, known only where the channel was made.
    fn promise(copy: fn(&T) -> T) -> Self;

    /// What is used without the lock.
    fn front(&self) -> Self::Front;

    /// Shuts the front: from here on nothing changes but through this store. The lock was just taken.
    #[inline]
    fn shut(&mut self) {}

    /// Opens the front, for takes alone once the channel is closed. Nobody waits, and the lock is about to be released.
    #[inline]
    fn open(&mut self, _closed: bool) {}

    /// How many values are stored.
    fn len(&self) -> usize;

    /// How many can be; `None` for any number.
    fn capacity(&self) -> Option<usize>;

    /// How values of a promise are copied; nothing for other stores.
    fn promises(&self) -> Option<fn(&T) -> T>;

    /// Whether nothing is stored.
    fn is_empty(&self) -> bool;

    /// Whether a put would have to wait.
    fn is_full(&self) -> bool;

    /// Whether it has room that could be held.
    fn has_limits(&self) -> bool;

    /// Holds room for one value.
    fn reserve(&mut self);

    /// Gives it back.
    fn release(&mut self);

    /// Stores a value.
    ///
    /// # Errors
    /// Gives it back where it would have to wait.
    fn add(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T>;

    /// Stores a value, beyond the capacity of a fixed buffer if it must.
    fn overfill(&mut self, value: T, effects: &mut Effects<T>);

    /// The next value to be taken. Runs `T::clone` where it is a promise's.
    fn next(&mut self) -> Option<T>;

    /// Has all values dropped.
    fn empty(&mut self, effects: &mut Effects<T>);

    /// Puts back a value that was handed to a cancelled take, before all that was put after it.
    fn give_back(&mut self, value: T, place: u64);
}

/// A store that is a design's: alts name the family of their clauses.
pub trait OfFamily<T: Message>: Store<T> {
    /// The family whose channels store this way.
    type Family: Channels<Tx<T> = Producer<State<T, Self>>, Rx<T> = Consumer<State<T, Self>>>;
}
