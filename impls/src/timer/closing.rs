//! The channel of a timeout: it closes when its timer fires, and no later than with the timer itself.

use flowmeter_harness::channel::{Buffer, Channels, Message};

/// The half that is closed by its drop: a timer that is dropped with live timeouts then answers whoever
/// waits for them (T8), without a path of its own for that.
pub(super) struct Closing<C: Channels, T: Message>(C::Tx<T>);

impl<C: Channels, T: Message> Drop for Closing<C, T> {
    fn drop(&mut self) {
        // Families that cannot close end with their last producer, which this one is.
        C::close(&self.0);
    }
}

/// A channel without values, and what closes it. Without a buffer, as core.async's, where the family has that.
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
