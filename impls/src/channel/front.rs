//! What may be done with the values of a channel without its lock.

/// What became of an attempt without the lock.
#[derive(Debug)]
pub enum Quick<D, V> {
    /// It has committed.
    Done(D),
    /// There was no room, or no value, at a moment of the attempt at which nobody waited: for certain where that was asked
    /// for.
    Unable(V),
    /// Nothing is known: the answer is behind the lock.
    Ask(V),
}

/// The part of a channel that is used without the channel's lock, while nobody waits.
pub trait Front<T>: Clone + Send + Sync + 'static {
    /// Whether there is such a part at all; without, nothing is compiled for it.
    const OPENS: bool;

    /// Puts, where nobody else is at it and nothing is in the way; so short that it is compiled into whoever calls it.
    ///
    /// # Errors
    /// Gives the value back where [`Front::offer`] has to be asked.
    fn offer_at_once(&self, value: T) -> Result<(), T>;

    /// Takes, likewise; `None` where [`Front::poll`] has to be asked.
    fn poll_at_once(&self) -> Option<T>;

    /// Puts. That it was unable is only said for certain to who is `SURE`: others ask under the lock.
    fn offer<const SURE: bool>(&self, value: T) -> Quick<(), T>;

    /// Takes, likewise.
    fn poll<const SURE: bool>(&self) -> Quick<T, ()>;

    /// Whether a put finds no room, seen with as little as one can look at; `false` where that is not enough. Not said
    /// for certain.
    fn seems_full(&self) -> bool;

    /// Whether a take finds no value, likewise.
    fn seems_empty(&self) -> bool;
}

/// Everything is behind the lock.
#[derive(Clone, Copy, Debug)]
pub struct Shut;

impl<T> Front<T> for Shut {
    const OPENS: bool = false;

    #[inline]
    fn offer_at_once(&self, value: T) -> Result<(), T> {
        Err(value)
    }
    #[inline]
    fn poll_at_once(&self) -> Option<T> {
        None
    }
    #[inline]
    fn offer<const SURE: bool>(&self, value: T) -> Quick<(), T> {
        Quick::Ask(value)
    }
    #[inline]
    fn poll<const SURE: bool>(&self) -> Quick<T, ()> {
        Quick::Ask(())
    }
    #[inline]
    fn seems_full(&self) -> bool {
        false
    }
    #[inline]
    fn seems_empty(&self) -> bool {
        false
    }
}
