//! Functions that a channel applies to values before it stores them: core.async's transducers (B2, B3).

use std::any::Any;
use std::fmt;
use std::ops::ControlFlow;

use super::{Buffer, Channels, Message};

/// The sink of a transform's output. `Break` means that no more is wanted: stop, and return `Break`.
pub type Emit<'a, T> = &'a mut dyn FnMut(T) -> ControlFlow<()>;

/// Turns each value into any number of values.
///
/// It runs for every put, under the lock of its channel and in the order in which the puts take effect, one value at a
/// time. It must not use that channel, nor wait for a thread that uses it: that deadlocks. The same applies to the
/// drops of values that it swallows.
pub trait Transform<T>: Send + 'static {
    /// Consumes a value and emits its results: none, one or many.
    ///
    /// `Break` ends the channel early (Clojure's `reduced`): emitted values are kept, the transform receives no further
    /// value, and the channel closes. Also return `Break` when `emit` has returned it.
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()>;

    /// Emits what is left at the end. Called at most once, after the last step.
    fn complete(&mut self, emit: Emit<'_, T>) {
        let _ = emit;
    }
}

/// The payload of a transform's panic.
pub type Panic = Box<dyn Any + Send>;

/// After a panic of the transform, supplies a value in place of its output; `None` supplies none (B3). It runs where
/// the transform does, under the same restrictions.
pub trait Handler<T>: FnMut(Panic) -> Option<T> + Send + 'static {}
impl<T, H: FnMut(Panic) -> Option<T> + Send + 'static> Handler<T> for H {}

/// Why a channel with a transform could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformError {
    /// A transform needs a buffer to store what it emits (B4).
    Unbuffered,
    /// The family has no such buffer.
    NoSuchBuffer,
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TransformError::Unbuffered => "a channel with a transform needs a buffer",
            TransformError::NoSuchBuffer => "these channels have no such buffer",
        })
    }
}

impl std::error::Error for TransformError {}

/// The halves of a new channel.
pub type Opened<C, T> = (<C as Channels>::Tx<T>, <C as Channels>::Rx<T>);

/// Channels can transform the values that are put.
///
/// * When a put takes effect its value is transformed once, and the put answers `true` whatever is emitted. Emitted
///   values are stored as if put one by one. A fixed buffer accepts all of them: it may be overfilled, and then puts
///   wait until it is below its capacity.
/// * Waiting takes are served while there are values. A put that emits nothing wakes none.
/// * `Break` closes the channel. Waiting puts then answer `true` and their values are dropped: the transform has ended,
///   so later values produce nothing (as in core.async 1.5.648).
/// * A close completes the transform once, after the last waiting put. What it emits can be taken before "closed".
/// * A panic in a step or in the completion goes to the handler. Values emitted before it stay, the handler's value is
///   stored untransformed, and the put answers `true`. The channel goes on. A handler that panics supplies nothing.
/// * Without a consumer left the transform is not completed.
pub trait Transforms: Channels {
    /// Opens a channel with that buffer and transform; `handler` handles panics of the transform.
    ///
    /// # Errors
    /// [`TransformError`].
    fn open_transformed<T: Message>(
        buffer: Buffer,
        transform: impl Transform<T>,
        handler: impl Handler<T>,
    ) -> Result<Opened<Self, T>, TransformError>;
}
