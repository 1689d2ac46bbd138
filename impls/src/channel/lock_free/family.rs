//! What this design offers of what the harness knows.

use super::super::ordered_locks::{self, AnyClause, run_async, run_mixed};
use super::{Channel, Values};
use crate::channel::family::family;

type Prepared<'a, T> = ordered_locks::Prepared<'a, T, Values<T>>;
type TakeClause<'a, T> = ordered_locks::TakeClause<'a, T, Values<T>>;
type PutClause<'a, T> = ordered_locks::PutClause<'a, T, Values<T>>;

family! {
    /// The family of [`Channel`].
    pub LockFree of Channel:
        Callback Batch Reserve AwaitClose Promises Transforms Alts MixedAlts AwaitAlts
}
