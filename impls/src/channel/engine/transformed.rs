//! Channels that transform what is put: `chan` with a transducer and an exception handler (B2, B3).
//!
//! The transform runs under the channel's lock, as in core.async, so it sees the puts in the order in which they take
//! effect. What it emits is stored, beyond the capacity of a fixed buffer if it must, and then handed to takes that
//! wait, one after the other.

use std::ops::ControlFlow;

use flowmeter_harness::channel::{
    Buffer as Kind, Emit, Handler, Message, Offered, Panic, Transform, TransformError,
};

use super::ChannelOver;
use super::effects::Effects;
use super::state::{Handed, State};
use super::store::Store;
use crate::sync::{caught, contain};

/// What a channel does with its values before it stores them.
pub(super) struct Transformed<T> {
    transform: Box<dyn Transform<T>>,
    handler: Box<dyn FnMut(Panic) -> Option<T> + Send>,
    completed: bool,
}

impl<T: Message, S: Store<T>> ChannelOver<T, S> {
    /// A channel that stores what the transform makes of the values that are put. `handler` gives what stands in for a
    /// value whose transform has panicked, or nothing.
    ///
    /// Both run under the channel's lock: they must not use the channel, and neither may the drop of a value that they
    /// swallow. It would wait for itself.
    ///
    /// # Errors
    /// [`TransformError::Unbuffered`] for a rendezvous.
    pub fn transformed(
        buffer: Kind,
        transform: impl Transform<T>,
        handler: impl Handler<T>,
    ) -> Result<Self, TransformError> {
        if buffer == Kind::Rendezvous {
            return Err(TransformError::Unbuffered);
        }
        let transformed = Transformed {
            transform: Box::new(transform),
            handler: Box::new(handler),
            completed: false,
        };
        Ok(ChannelOver::holding(State::transforming(
            S::overfilled(buffer),
            transformed,
        )))
    }
}

impl<T> Transformed<T> {
    /// Runs a part of the transform; what a panic's handler gives is emitted.
    fn run(
        &mut self,
        emit: Emit<'_, T>,
        part: impl FnOnce(&mut dyn Transform<T>, Emit<'_, T>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let panic = match caught(|| part(&mut *self.transform, emit)) {
            Ok(flow) => return flow,
            Err(panic) => panic,
        };
        // A handler that panics gives nothing.
        match contain(|| (self.handler)(panic)).flatten() {
            Some(value) => emit(value),
            None => ControlFlow::Continue(()),
        }
    }
}

impl<T: Message, S: Store<T>> State<T, S> {
    /// Commits a put whose value is transformed if there is room; what is emitted may need more.
    #[cold]
    pub(super) fn offer_transformed(&mut self, value: T, effects: &mut Effects<T>) -> Offered<T> {
        if self.buffer.is_full() {
            return Offered::WouldWait(value);
        }
        self.transform(value, effects);
        Offered::Done
    }

    /// Transforms the value of a put that is committed.
    pub(super) fn transform(&mut self, value: T, effects: &mut Effects<T>) {
        let flow = self.run(effects, |transform, emit| transform.step(value, emit));
        if flow.is_break() {
            self.end_early(effects);
        }
    }

    /// Whether a transform has still to be told of the end.
    #[inline]
    pub(super) fn is_incomplete(&self) -> bool {
        let transformed = self.transformed.as_ref();
        transformed.is_some_and(|transformed| !transformed.completed)
    }

    /// Completes the transform, once; no put waits any more.
    #[cold]
    pub(super) fn complete(&mut self, effects: &mut Effects<T>) {
        if let Some(transformed) = &mut self.transformed {
            transformed.completed = true;
        }
        let _ = self.run(effects, |transform, emit| {
            transform.complete(emit);
            ControlFlow::Continue(())
        });
    }

    fn run(
        &mut self,
        effects: &mut Effects<T>,
        part: impl FnOnce(&mut dyn Transform<T>, Emit<'_, T>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(transformed) = &mut self.transformed else {
            return ControlFlow::Continue(());
        };
        let flow = transformed.run(
            &mut |value| {
                self.buffer.overfill(value, effects);
                ControlFlow::Continue(())
            },
            part,
        );
        self.serve(effects);
        flow
    }

    /// Hands what is stored to the takes that wait.
    fn serve(&mut self, effects: &mut Effects<T>) {
        while !self.buffer.is_empty()
            && let Some((taker, ())) = self.takes.next()
        {
            let place = self.handed;
            self.handed += 1;
            let handed = self.buffer.next().map(|value| Handed { value, place });
            effects.tell(taker.answer(handed));
        }
    }

    /// The transform wants no more: closes. The puts that wait come to nothing, as a put that is filtered out does, and
    /// are answered so.
    fn end_early(&mut self, effects: &mut Effects<T>) {
        for (putter, value) in self.puts.win_all() {
            effects.tell(putter.answer(Ok(())));
            value.into_iter().for_each(|value| effects.discard(value));
        }
        self.close(effects);
    }
}
