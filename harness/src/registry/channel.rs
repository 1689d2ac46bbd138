//! Registration of channels.

use crate::caps::{Capability, Kind};
use crate::channel::{
    Alts, Async, AsyncBatch, AsyncReserve, AwaitAlts, AwaitClose, Batch, Blocking, BlockingReserve,
    Buffer, Callback, Channels, MixedAlts, Promises, PutDeadline, TakeDeadline, Transforms,
    WeakProducers,
};

use super::{Entry, Registering, Visitor};

impl<'h, C: Channels, V: Visitor> Registering<'h, C, V> {
    /// A channel. Its buffers, further halves, closing and identity are determined by asking the family.
    pub fn channel(self) -> Entry<'h, C, V> {
        self.of_kind(Kind::Channel).ask_the_family()
    }
}

impl<'h, C: Channels, V: Visitor> Entry<'h, C, V> {
    /// Continues with another family of the same implementation.
    pub fn family<D: Channels>(self) -> Entry<'h, D, V> {
        self.of::<D>().ask_the_family()
    }

    fn ask_the_family(mut self) -> Self {
        if !self.visitor.asks(self.implementation.name) {
            return self;
        }
        let buffers = [
            (Buffer::Rendezvous, Capability::Rendezvous),
            (Buffer::fixed(1), Capability::Fixed),
            (Buffer::Unbounded, Capability::Unbounded),
            (
                Buffer::Dropping(std::num::NonZeroUsize::MIN),
                Capability::Dropping,
            ),
            (
                Buffer::Sliding(std::num::NonZeroUsize::MIN),
                Capability::Sliding,
            ),
        ];
        for (buffer, capability) in buffers {
            if let Some((tx, rx)) = C::open::<()>(buffer) {
                self = self.derive(capability);
                if C::another_tx(&tx).is_some() {
                    self = self.derive(Capability::MultiProducer);
                }
                if C::another_rx(&rx).is_some() {
                    self = self.derive(Capability::MultiConsumer);
                }
                if C::same_tx(&tx, &tx).or(C::same_rx(&rx, &rx)).is_some() {
                    self = self.derive(Capability::Identity);
                }
                if C::close(&tx) {
                    self = self.derive(Capability::Close);
                }
            }
        }
        self
    }

    /// Has blocking operations.
    pub fn blocking(self) -> Self
    where
        C: Blocking,
    {
        self.derive(Capability::Blocking).visit(V::blocking::<C>)
    }

    /// Has futures.
    pub fn asynchronous(self) -> Self
    where
        C: Async,
    {
        self.derive(Capability::Async).visit(V::asynchronous::<C>)
    }

    /// Threads and tasks may use one channel at once.
    pub fn mixed(self) -> Self
    where
        C: Blocking + Async,
    {
        self.derive(Capability::Mixed).visit(V::mixed::<C>)
    }

    /// Has callbacks.
    pub fn callback(self) -> Self
    where
        C: Callback + Blocking,
    {
        self.derive(Capability::Callback).visit(V::callback::<C>)
    }

    /// Has deadlines on puts.
    pub fn put_deadline(self) -> Self
    where
        C: PutDeadline,
    {
        self.derive(Capability::PutDeadline)
            .visit(V::put_deadline::<C>)
    }

    /// Has deadlines on takes.
    pub fn take_deadline(self) -> Self
    where
        C: TakeDeadline,
    {
        self.derive(Capability::TakeDeadline)
            .visit(V::take_deadline::<C>)
    }

    /// Has promises.
    pub fn promises(self) -> Self
    where
        C: Promises + Blocking,
    {
        self.derive(Capability::Promise).visit(V::promises::<C>)
    }

    /// Has alts.
    pub fn alts(self) -> Self
    where
        C: Alts,
    {
        self.derive(Capability::Alts).visit(V::alts::<C>)
    }

    /// Has alts over channels of different message types.
    pub fn mixed_alts(self) -> Self
    where
        C: MixedAlts,
    {
        self.derive(Capability::MixedAlts).visit(V::mixed_alts::<C>)
    }

    /// Has alts that tasks await.
    pub fn await_alts(self) -> Self
    where
        C: AwaitAlts,
    {
        self.derive(Capability::AwaitAlts).visit(V::await_alts::<C>)
    }

    /// Has producers that do not keep the channel open.
    pub fn weak_producers(self) -> Self
    where
        C: WeakProducers,
    {
        self.derive(Capability::WeakProducers)
            .visit(V::weak_producers::<C>)
    }

    /// Its producers can wait for the close.
    pub fn await_close(self) -> Self
    where
        C: AwaitClose,
    {
        self.derive(Capability::AwaitClose)
            .visit(V::await_close::<C>)
    }

    /// Has batches for threads.
    pub fn batch(self) -> Self
    where
        C: Batch,
    {
        self.derive(Capability::Batch).visit(V::batch::<C>)
    }

    /// Has batches that are futures.
    pub fn async_batch(self) -> Self
    where
        C: AsyncBatch,
    {
        self.derive(Capability::Batch).visit(V::async_batch::<C>)
    }

    /// Has permits that threads wait for.
    pub fn reserve(self) -> Self
    where
        C: BlockingReserve,
    {
        self.derive(Capability::Reserve).visit(V::reserve::<C>)
    }

    /// Has permits that futures wait for.
    pub fn async_reserve(self) -> Self
    where
        C: AsyncReserve,
    {
        self.derive(Capability::Reserve)
            .visit(V::async_reserve::<C>)
    }

    /// Has transforms.
    pub fn transforms(self) -> Self
    where
        C: Transforms + Blocking,
    {
        self.derive(Capability::Transforms)
            .visit(V::transforms::<C>)
    }
}
