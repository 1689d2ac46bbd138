//! The body of a model's thread, with its type erased. So a world's code to start and join threads is compiled once,
//! and not for each of the thousands of bodies that properties have.

use ::std::any::Any;

/// The result of a thread.
pub(crate) type Answer = Box<dyn Any + Send>;

/// The function that a thread runs.
pub(crate) type Body = Box<dyn FnOnce() -> Answer + Send>;

/// Erases the type of a body.
pub(crate) fn erased<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Body {
    Box::new(|| Box::new(body()))
}

/// Recovers the typed result of a body.
///
/// # Panics
/// When it is the result of a body of another type.
pub(crate) fn answered<T: 'static>(answer: Answer) -> T {
    *answer
        .downcast()
        .unwrap_or_else(|_| unreachable!("a thread answers with what its body returns"))
}
