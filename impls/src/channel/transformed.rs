//! The transform of a channel, applied to values before they are stored: `chan` with a transducer and an exception
//! handler (B2, B3).
//!
//! The transform runs under the channel's lock, as in core.async, so it sees the puts in the order in which they take
//! effect. Emitted values are stored, if necessary beyond the capacity of a fixed buffer. Then they are handed to
//! waiting takes, one after the other.
//!
//! One difference from core.async 1.5.648 is on purpose: the completion runs once, not at every take of a drained
//! channel.
//!
//! As in core.async, a panic goes to the handler, and not to the thread that happens to run the transform. For a
//! waiting put that thread is a taker, which would lose a value. If the handler gives no value, the put's value is
//! dropped and its put is answered as accepted. The panic hook has then reported the panic.

use std::ops::ControlFlow;

use flowmeter_harness::channel::{Buffer, Emit, Handler, Panic, Transform, TransformError};

use crate::sync::{caught, contain};

/// A step with a value, and the completion without one. A trait object of [`Transform`] would ask `T: 'static`.
type Run<T> = dyn FnMut(Option<T>, Emit<'_, T>) -> ControlFlow<()> + Send;

/// The transform of a channel, and the handler of its panics.
pub struct Transformed<T> {
    transform: Box<Run<T>>,
    handler: Box<dyn FnMut(Panic) -> Option<T> + Send>,
    completed: bool,
}

impl<T> Transformed<T> {
    /// The transform of a channel with the given buffer.
    pub(super) fn new(
        buffer: Buffer,
        mut transform: impl Transform<T>,
        handler: impl Handler<T>,
    ) -> Result<Box<Self>, TransformError> {
        if buffer == Buffer::Rendezvous {
            return Err(TransformError::Unbuffered);
        }
        Ok(Box::new(Transformed {
            transform: Box::new(move |value, emit| match value {
                Some(value) => transform.step(value, emit),
                None => {
                    transform.complete(emit);
                    ControlFlow::Continue(())
                }
            }),
            handler: Box::new(handler),
            completed: false,
        }))
    }

    /// Whether it was not completed yet.
    #[inline]
    pub(super) fn is_incomplete(&self) -> bool {
        !self.completed
    }

    /// Transforms a value. `Break`: no further values are wanted.
    pub(super) fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()> {
        self.run(Some(value), emit)
    }

    /// Completes the transform, once.
    pub(super) fn complete(&mut self, emit: Emit<'_, T>) {
        self.completed = true;
        let _ = self.run(None, emit);
    }

    /// Runs a part of the transform. After a panic, the handler's value is emitted.
    fn run(&mut self, value: Option<T>, emit: Emit<'_, T>) -> ControlFlow<()> {
        let panic = match caught(|| (self.transform)(value, emit)) {
            Ok(flow) => return flow,
            Err(panic) => panic,
        };
        // A handler that panics gives no value.
        match contain(|| (self.handler)(panic)).flatten() {
            Some(value) => emit(value),
            None => ControlFlow::Continue(()),
        }
    }
}
