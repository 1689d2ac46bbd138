//! Producers that do not keep their channel open (C14).

use super::{Channels, Message};

/// A family with producers that do not keep the channel open.
pub trait WeakProducers: Channels {
    /// Names the channel of a producer without keeping it open.
    type WeakTx<T: Message>: Send + 'static;

    /// A weak producer of the same channel.
    fn downgrade<T: Message>(tx: &Self::Tx<T>) -> Self::WeakTx<T>;

    /// A full producer, or `None` once the last full producer has been dropped: a channel that ended for lack of
    /// producers stays ended. A channel that was closed while a producer lives may still be upgraded, and refuses puts.
    fn upgrade<T: Message>(weak: &Self::WeakTx<T>) -> Option<Self::Tx<T>>;
}
