//! The traits of the harness that this design implements.

use super::alts::{run_async, run_mixed};
use super::{
    AnyClause, Channel, Consumer, Permit, Prepared, Producer, PutClause, TakeClause, WeakProducer,
};
use crate::channel::family::family;

family! {
    /// The family of [`Channel`].
    pub MutexChannels of Channel
}
