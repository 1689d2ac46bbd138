//! The traits of the harness that this design implements.

use flowmeter_harness::channel::Message;

use super::super::engine::{self, AnyClause, OfFamily, run_async, run_mixed};
use super::{Channel, Consumer, Permit, Producer, Values, WeakProducer};
use crate::channel::family::family;

type Prepared<'a, T> = engine::Prepared<'a, T, Values<T>>;
type TakeClause<'a, T> = engine::TakeClause<'a, T, Values<T>>;
type PutClause<'a, T> = engine::PutClause<'a, T, Values<T>>;

impl<T: Message> OfFamily<T> for Values<T> {
    type Family = LockFree;
}

family! {
    /// The family of [`Channel`].
    pub LockFree of Channel
}
