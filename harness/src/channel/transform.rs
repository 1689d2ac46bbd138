//! What a channel makes of what is put, before it stores it: core.async's transducers (B2, B3).

use std::any::Any;
use std::fmt;
use std::ops::ControlFlow;

use super::{Buffer, Channels, Message};

/// Where a transform's values go. `Break` says that no more is wanted: go no further, and hand it on.
pub type Emit<'a, T> = &'a mut dyn FnMut(T) -> ControlFlow<()>;

/// Makes of each value any number of values.
///
/// One runs for every put, under the lock of its channel and in the order in which the puts take effect, so it sees one
/// value at a time. It must not use that channel, nor wait for who does: it would wait for itself. The same goes
/// for the drops of values that it swallows.
pub trait Transform<T>: Send + 'static {
    /// Takes a value in, and emits what comes of it: nothing, one value or many.
    ///
    /// `Break` ends the channel early (Clojure's `reduced`): what was emitted is kept, the transform is given no value
    /// any more, and the channel closes. It is also the answer when `emit` has said so.
    fn step(&mut self, value: T, emit: Emit<'_, T>) -> ControlFlow<()>;

    /// Emits what is left, at the end; called at most once, and after the last step.
    fn complete(&mut self, emit: Emit<'_, T>) {
        let _ = emit;
    }
}

/// What a transform panicked with.
pub type Panic = Box<dyn Any + Send>;

/// What stands in for a value whose transform has panicked; nothing drops it (B3). It runs where the transform does, and
/// what is said of that holds for it.
pub trait Handler<T>: FnMut(Panic) -> Option<T> + Send + 'static {}
impl<T, H: FnMut(Panic) -> Option<T> + Send + 'static> Handler<T> for H {}

/// Why there is no such channel with a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformError {
    /// A transform needs a buffer: what it emits has to stand somewhere (B4).
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

/// A family whose channels transform what is put.
///
/// * A put that takes effect has its value transformed once, and answers `true` whatever comes of it. What is emitted
///   is stored as if put value by value, but for a fixed buffer, which takes all of it: it may be overfilled, and then
///   puts wait until it is below its capacity.
/// * Takes that wait are served while there are values; a put of which nothing comes wakes none.
/// * `Break` closes the channel. Puts that wait then answer `true`, and their values are dropped: the transform has
///   ended, and all that is put after its end comes to nothing (core.async 1.5.648 does so too).
/// * A close completes the transform, once, after the last put that waits; what it emits can be taken before "closed".
/// * A panic in a step or in the completion goes to the handler. What was emitted before it stays, what the handler gives is
///   stored untransformed, and the put answers `true`. The channel goes on. A handler that panics gives nothing.
/// * When nobody is left to take, nothing is completed.
pub trait Transforms: Channels {
    /// A new channel with that buffer, that transform, and that handler of its panics.
    ///
    /// # Errors
    /// [`TransformError`].
    fn open_transformed<T: Message>(
        buffer: Buffer,
        transform: impl Transform<T>,
        handler: impl Handler<T>,
    ) -> Result<Opened<Self, T>, TransformError>;
}
