//! What a channel does with its values before it stores them: `chan` with a transducer and an exception handler (B2, B3).
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

use flowmeter_harness::channel::{Buffer, Emit, Handler, Panic, Transform, TransformError};

use crate::sync::{caught, contain};

/// The transform of a channel, and what handles its panics.
pub struct Transformed<T> {
    transform: Box<dyn Transform<T>>,
    handler: Box<dyn FnMut(Panic) -> Option<T> + Send>,
    completed: bool,
}

impl<T: 'static> Transformed<T> {
    /// That of a channel with such a buffer.
    pub(super) fn new(
        buffer: Buffer,
        transform: impl Transform<T>,
        handler: impl Handler<T>,
    ) -> Result<Box<Self>, TransformError> {
        if buffer == Buffer::Rendezvous {
            return Err(TransformError::Unbuffered);
        }
        Ok(Box::new(Transformed {
            transform: Box::new(transform),
            handler: Box::new(handler),
            completed: false,
        }))
    }

    /// Whether it has still to be told of the end.
    #[inline]
    pub(super) fn is_incomplete(&self) -> bool {
        !self.completed
    }

    /// Transforms a value; breaks off where no more are wanted.
    pub(super) fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        self.run(emit, |transform, emit| transform.step(value, emit))
    }

    /// Tells it of the end, once.
    pub(super) fn complete(&mut self, emit: Emit<'_, T>) {
        self.completed = true;
        let _ = self.run(emit, |transform, emit| {
            transform.complete(emit);
            ControlFlow::Continue(())
        });
    }

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
