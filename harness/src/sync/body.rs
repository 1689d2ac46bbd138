//! What a thread of a model runs, whatever its type: a world's way of starting and joining threads is then compiled once,
//! and not again for each of the thousands of bodies that properties have.

use ::std::any::Any;

/// What a thread ends with.
pub(crate) type Answer = Box<dyn Any + Send>;

/// What a thread runs.
pub(crate) type Body = Box<dyn FnOnce() -> Answer + Send>;

/// The body without its type.
pub(crate) fn erased<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Body {
    Box::new(|| Box::new(body()))
}

/// The answer of a body of that type.
///
/// # Panics
/// When it is another body's.
pub(crate) fn answered<T: 'static>(answer: Answer) -> T {
    *answer
        .downcast()
        .unwrap_or_else(|_| unreachable!("a thread answers with what its body returns"))
}
