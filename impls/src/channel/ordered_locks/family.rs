//! The traits of the harness that this design implements.

use flowmeter_harness::channel::Message;

use super::super::engine::{Buffer, OfFamily, run_async, run_mixed};
use super::{
    AnyClause, Channel, Consumer, Permit, Prepared, Producer, PutClause, TakeClause, WeakProducer,
};
use crate::channel::family::family;

impl<T: Message> OfFamily<T> for Buffer<T> {
    type Family = OrderedLocks;
}

family! {
    /// The family of [`Channel`].
    pub OrderedLocks of Channel
}
