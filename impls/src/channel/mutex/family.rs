//! What this design offers of what the harness knows.

use super::alts::{run_async, run_mixed};
use super::{AnyClause, Channel, Prepared, PutClause, TakeClause};
use crate::channel::family::family;

family! {
    /// The family of [`Channel`].
    pub MutexChannels of Channel:
        Callback Batch Reserve AwaitClose Promises Transforms Alts MixedAlts AwaitAlts
}
