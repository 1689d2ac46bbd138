//! What a model says of its own operations, for a picture of an execution.

/// What a model says of its own operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The thread calls this.
    Called(String),
    /// What the thread called last is answered so.
    Answered(String),
    /// The operation of that number, from 0 in the order of calls, has an answer that nothing explains.
    Culprit(usize),
    /// What explains everything before that, in order.
    Explained(Vec<String>),
}
