//! Channels between the loops of a pipeline.

use flowmeter_harness::channel::{Async, Buffer, Message};

use super::{next, open, put};

/// A channel between two loops, with that buffer. Its end is told by a message (`None`) instead of a close, which in some
/// families loses what is buffered.
pub(super) fn between<C: Async, T: Message>(buffer: Buffer) -> (Outbox<C, T>, Inbox<C, T>) {
    let (tx, rx) = open::<C, Option<T>>(buffer);
    (Outbox { tx, ended: false }, Inbox(rx))
}

/// The putting half of a channel [`between`] two loops. Dropped before its end, by a panic of the loop that has it, it
/// closes the channel all the same: whoever takes from it would wait for ever.
pub(super) struct Outbox<C: Async, T: Message> {
    pub(super) tx: C::Tx<Option<T>>,
    ended: bool,
}

impl<C: Async, T: Message> Outbox<C, T> {
    /// As [`put`].
    pub(super) async fn put(&mut self, value: T) -> bool {
        put::<C, _>(&mut self.tx, Some(value)).await
    }

    /// The only value: nobody asks what follows, and no close may lose it.
    pub(super) async fn fill(mut self, value: T) {
        self.put(value).await;
        self.ended = true;
    }

    /// Nothing follows.
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

/// The taking half of a channel [`between`] two loops. Dropping it closes the channel, as some families do not notice
/// dropped halves: whoever puts is refused then, and does not wait for room that nobody will make.
pub(super) struct Inbox<C: Async, T: Message>(pub(super) C::Rx<Option<T>>);

impl<C: Async, T: Message> Inbox<C, T> {
    /// As [`next`]; nothing once the end was told.
    pub(super) async fn next(&mut self) -> Option<T> {
        next::<C, _>(&mut self.0).await.flatten()
    }
}

impl<C: Async, T: Message> Drop for Inbox<C, T> {
    fn drop(&mut self) {
        C::close_rx(&mut self.0);
    }
}
