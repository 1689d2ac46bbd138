//! The specification of a structure, as a sequential program.

use std::fmt::Debug;
use std::hash::Hash;

/// The state of a structure that one caller at a time uses.
///
/// The judge keeps and compares states, so they should be small and have no hash maps (`BTreeMap` is `Hash`). Answers
/// must be a function of the state and the operation; for those that are not, see [`Sequential::declines`].
///
/// ```
/// use flowmeter_linearizable::Sequential;
///
/// #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
/// struct Stack(Vec<u8>);
///
/// #[derive(Clone, Debug)]
/// enum Op {
///     Push(u8),
///     Pop,
/// }
///
/// impl Sequential for Stack {
///     type Op = Op;
///     type Ret = Option<u8>;
///
///     fn apply(&mut self, op: &Op) -> Option<u8> {
///         match op {
///             Op::Push(value) => {
///                 self.0.push(*value);
///                 None
///             }
///             Op::Pop => self.0.pop(),
///         }
///     }
/// }
/// ```
pub trait Sequential: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// An operation with its arguments.
    type Op: Clone + Debug + Send + Sync + 'static;
    /// The answer to an operation.
    type Ret: Clone + Debug + PartialEq + Send + Sync + 'static;

    /// Performs the operation. It is not called where [`Sequential::waits`] is true.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;

    /// Whether the operation waits in this state for another one to change it. By default no operation waits.
    ///
    /// A thread that waits for ever although some order of the others lets it go on is a finding: a lost wake-up.
    fn waits(&self, op: &Self::Op) -> bool {
        let _ = op;
        false
    }

    /// Whether the operation may give this answer in this state without any effect, besides the answer of
    /// [`Sequential::apply`]. It is meant for time-outs and for attempts that fail for no reason. By default there is
    /// no such answer.
    fn declines(&self, op: &Self::Op, ret: &Self::Ret) -> bool {
        let _ = (op, ret);
        false
    }
}
