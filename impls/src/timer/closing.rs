//! The channel of a timeout. It closes when its timer fires, or when the timer service is dropped.

use flowmeter_harness::channel::{Buffer, Channels, Message};

/// A producer that closes its channel when dropped. A service dropped with live timeouts so answers the
/// consumers that wait for them (T8), without separate code.
pub(super) struct Closing<C: Channels, T: Message>(C::Tx<T>);

impl<C: Channels, T: Message> Drop for Closing<C, T> {
    fn drop(&mut self) {
        // Families that cannot close end with their last producer, which is this one.
        C::close(&self.0);
    }
}

/// A channel without values, and what closes it. Without a buffer, as in core.async, where the family supports
/// that.
///
/// # Panics
/// When the family opens no channel at all.
pub(super) fn open<C: Channels, T: Message>() -> (Closing<C, T>, C::Rx<T>) {
    let (tx, rx) = C::open(Buffer::Rendezvous)
        .or_else(|| C::open(Buffer::fixed(1)))
        .or_else(|| C::open(Buffer::Unbounded))
        .expect("a family of channels opens one of them");
    (Closing(tx), rx)
}
