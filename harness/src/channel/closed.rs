//! Waiting for the end of a channel.

use std::future::Future;

use super::{Channels, Message};

/// A family whose producers can wait for the close (P3): nobody wants any more, whether or not values are left.
pub trait AwaitClose: Channels {
    /// Ready once the channel is closed, by whomever, or disconnected. Dropped while it is pending it leaves nothing
    /// behind.
    fn closed<T: Message>(tx: &Self::Tx<T>) -> impl Future<Output = ()> + Send;
}
