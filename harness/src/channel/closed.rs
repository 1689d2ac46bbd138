//! Waiting for the end of a channel.

use std::future::Future;

use super::{Channels, Message};

/// Producers can wait until no consumer wants further values (P3), whether or not values are left.
pub trait AwaitClose: Channels {
    /// Ready once the channel is closed, from either side, or disconnected. A pending one that is dropped leaves
    /// nothing behind.
    fn closed<T: Message>(tx: &Self::Tx<T>) -> impl Future<Output = ()> + Send;
}
