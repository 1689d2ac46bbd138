//! Channels that transform what is put: `chan` with a transducer and an exception handler (B2, B3).
//!
//! The transform runs under the channel's lock, as in core.async, so it sees the puts in the order in which they take
//! effect. What it emits is stored, beyond the capacity of a fixed buffer if it must, and then handed to takes that
//! wait, one after the other.
//!
//! Where it differs from core.async 1.5.648, on purpose: the completion runs once, not at every take of a drained
//! channel. As there, a panic is the handler's and never that of who happens to run the transform: for a put that waits
//! that is a taker, who would lose a value. Without a handler's answer the value is dropped, its put answers true, and
//! the panic has been told by the panic hook.

use std::ops::ControlFlow;

use flowmeter_harness::channel::{
    Buffer, Emit, Handler, Message, Panic, Transform, TransformError,
};

use super::Channel;
use super::effects::Effects;
use super::operation::{Claim, Operation};
use super::state::{Attempt, State, ends};
use super::store::Store;
use crate::sync::{caught, contain};

/// What a channel does with its values before it stores them.
pub(super) struct Transformed<T> {
    transform: Box<dyn Transform<T>>,
    handler: Box<dyn FnMut(Panic) -> Option<T> + Send>,
    completed: bool,
}

impl<T: Message> Channel<T> {
    /// A channel that stores what the transform makes of the values that are put. `handler` gives what stands in for a
    /// value whose transform has panicked, or nothing.
    ///
    /// Both run under the channel's lock: they must not use the channel, and neither may the drop of a value that they
    /// swallow. It would wait for itself.
    ///
    /// # Errors
    /// [`TransformError::Unbuffered`] for a rendezvous.
    pub fn transformed(
        buffer: Buffer,
        transform: impl Transform<T>,
        handler: impl Handler<T>,
    ) -> Result<Self, TransformError> {
        if buffer == Buffer::Rendezvous {
            return Err(TransformError::Unbuffered);
        }
        let mut state = State::new(Store::new(buffer));
        state.transformed = Some(Box::new(Transformed {
            transform: Box::new(transform),
            handler: Box::new(handler),
            completed: false,
        }));
        Ok(Channel::holding(state))
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

impl<T: 'static> State<T> {
    /// Commits a put whose value is transformed if there is room; what is emitted may need more.
    #[cold]
    pub(super) fn put_transformed(
        &mut self,
        value: T,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
    ) -> Attempt<Result<(), T>, T> {
        if self.is_full() {
            return Attempt::NotAble(value);
        }
        if !ends(me) {
            return Attempt::Lost(value);
        }
        self.transform(value, effects);
        Attempt::Done(Ok(()))
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
        let Some(mut transformed) = self.transformed.take() else {
            return ControlFlow::Continue(());
        };
        let flow = transformed.run(
            &mut |value| {
                self.store_anyway(value, effects);
                ControlFlow::Continue(())
            },
            part,
        );
        self.transformed = Some(transformed);
        self.serve(effects);
        flow
    }

    /// Hands what is stored to the takes that wait.
    fn serve(&mut self, effects: &mut Effects<T>) {
        while !self.takes.is_empty()
            && let Some(value) = self.store.next()
        {
            match self.hand_over(value, self.handed, None, effects) {
                Attempt::Done(_) => self.handed += 1,
                // Those that wait there are over.
                Attempt::NotAble(value) | Attempt::Lost(value) => {
                    self.store.put_back(value);
                    return;
                }
            }
        }
    }

    /// The transform wants no more: closes. The puts that wait come to nothing, as a put that is filtered out does, and
    /// are answered so.
    fn end_early(&mut self, effects: &mut Effects<T>) {
        for put in std::mem::take(&mut self.puts) {
            match Operation::claim(None, &put.operation, put.clause, || {}) {
                Claim::Won => {
                    effects.wake(put.operation);
                    effects.discarded.extend(put.value);
                }
                // Its own thread removes it, for its value has to go back there.
                Claim::OtherOver | Claim::SelfOver => self.puts.push_back(put),
            }
        }
        self.close(effects);
    }
}
