//! Producers that keep nothing open (C14).

use super::{Channels, Message};

/// A family with producers that do not count as such.
pub trait WeakProducers: Channels {
    /// Names the channel of a producer without keeping it open.
    type WeakTx<T: Message>: Send + 'static;

    /// A weak producer of the same channel.
    fn downgrade<T: Message>(tx: &Self::Tx<T>) -> Self::WeakTx<T>;

    /// A producer like any other, or `None` once the last one has been dropped: a channel that has ended for lack of
    /// producers stays so. One that was closed while a producer lives may still be upgraded, and refuses puts.
    fn upgrade<T: Message>(weak: &Self::WeakTx<T>) -> Option<Self::Tx<T>>;
}
