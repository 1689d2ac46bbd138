//! Registration of limiters.

use crate::caps::{Capability, Kind};
use crate::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    WeightedLimit,
};

use super::{Entry, Registering, Visitor};

impl<'h, L: Limiters, V: Visitor> Registering<'h, L, V> {
    /// A limiter.
    pub fn limiter(self) -> Entry<'h, L, V> {
        let entry = self.of_kind(Kind::Limiter);
        entry.derive(Capability::TryAcquire).visit(V::limiter::<L>)
    }
}

impl<'h, L: Limiters, V: Visitor> Entry<'h, L, V> {
    /// Continues with another type of the same implementation, such as one for tasks beside one for threads.
    pub fn limiter_family<M: Limiters>(self) -> Entry<'h, M, V> {
        self.of::<M>().visit(V::limiter::<M>)
    }

    /// Blocks the thread until a permit is free.
    pub fn blocking_limit(self) -> Self
    where
        L: BlockingLimit,
    {
        self.derive(Capability::Blocking)
            .visit(V::blocking_limit::<L>)
    }

    /// Blocks the thread until a permit is free or a deadline passes.
    pub fn limit_deadline(self) -> Self
    where
        L: LimitDeadline,
    {
        self.derive(Capability::AcquireDeadline)
            .visit(V::limit_deadline::<L>)
    }

    /// Futures wait for a permit.
    pub fn async_limit(self) -> Self
    where
        L: AsyncLimit,
    {
        self.derive(Capability::Async).visit(V::async_limit::<L>)
    }

    /// Futures wait for a permit until a deadline.
    pub fn async_limit_deadline(self) -> Self
    where
        L: AsyncLimitDeadline,
    {
        self.derive(Capability::AcquireDeadline)
            .visit(V::async_limit_deadline::<L>)
    }

    /// Threads acquire several permits at once.
    pub fn weighted_limit(self) -> Self
    where
        L: WeightedLimit,
    {
        self.derive(Capability::Weights)
            .visit(V::weighted_limit::<L>)
    }

    /// Futures acquire several permits at once.
    pub fn async_weighted_limit(self) -> Self
    where
        L: AsyncWeightedLimit,
    {
        self.derive(Capability::Weights)
            .visit(V::async_weighted_limit::<L>)
    }
}
