//! What this design offers of what the harness knows.

use super::alts::{run_async, run_mixed};
use super::{
    AnyClause, Channel, Consumer, Permit, Prepared, Producer, PutClause, TakeClause, WeakProducer,
};
use crate::channel::family::family;

family! {
    /// The family of [`Channel`].
    pub MutexChannels of Channel
}
