//! Channels between the loops of a pipeline.

use flowmeter_harness::channel::{Async, Buffer, Message};

use super::{next, open, put};

/// A channel between two loops, with that buffer. Its end is signalled by a message (`None`) instead of a close,
/// which in some families loses what is buffered.
pub(super) fn between<C: Async, T: Message>(buffer: Buffer) -> (Outbox<C, T>, Inbox<C, T>) {
    let (tx, rx) = open::<C, Option<T>>(buffer);
    (Outbox { tx, ended: false }, Inbox(rx))
}

/// The producer of a channel [`between`] two loops. If a panic of its loop drops it before the end, it closes the
/// channel: otherwise the consumer would wait for ever.
pub(super) struct Outbox<C: Async, T: Message> {
    pub(super) tx: C::Tx<Option<T>>,
    ended: bool,
}

impl<C: Async, T: Message> Outbox<C, T> {
    /// As [`put`].
    pub(super) async fn put(&mut self, value: T) -> bool {
        put::<C, _>(&mut self.tx, Some(value)).await
    }

    /// Puts the only value. The consumer does not wait for an end, so no close is needed that might lose the value.
    pub(super) async fn fill(mut self, value: T) {
        self.put(value).await;
        self.ended = true;
    }

    /// Signals that nothing follows.
    pub(super) async fn end(mut self) {
        put::<C, _>(&mut self.tx, None).await;
        self.ended = true;
    }
}

impl<C: Async, T: Message> Drop for Outbox<C, T> {
    fn drop(&mut self) {
        if !self.ended {
            C::close(&self.tx);
        }
    }
}

/// The consumer of a channel [`between`] two loops. Dropping it closes the channel, as some families do not notice
/// dropped halves. A later put is then refused and does not wait for room for ever.
pub(super) struct Inbox<C: Async, T: Message>(pub(super) C::Rx<Option<T>>);

impl<C: Async, T: Message> Inbox<C, T> {
    /// As [`next`]; `None` once the end was signalled.
    pub(super) async fn next(&mut self) -> Option<T> {
        next::<C, _>(&mut self.0).await.flatten()
    }
}

impl<C: Async, T: Message> Drop for Inbox<C, T> {
    fn drop(&mut self) {
        C::close_rx(&mut self.0);
    }
}
