//! Notes of a model about its own operations, for a picture of an execution.

/// A note of a model about its own operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The thread makes this call.
    Called(String),
    /// The answer to the thread's last call.
    Answered(String),
    /// The operation of that number, from 0 in the order of calls, has an unexplained answer.
    Culprit(usize),
    /// The steps that explain everything before that answer, in order.
    Explained(Vec<String>),
}
