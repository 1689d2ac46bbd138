//! Registration of limiters.

use crate::caps::{Capability, Kind};
use crate::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    WeightedLimit,
};

use super::{Enrol, Entry, Newcomer};

impl<'h, L: Limiters, H: Enrol> Newcomer<'h, L, H> {
    /// A limiter.
    pub fn limiter(self) -> Entry<'h, L, H> {
        let entry = self.of_kind(Kind::Limiter);
        entry.derive(Capability::TryAcquire).visit(H::limiter::<L>)
    }
}

impl<'h, L: Limiters, H: Enrol> Entry<'h, L, H> {
    /// Continues with another type of the same implementation, such as one for tasks beside one for threads.
    pub fn limiter_family<M: Limiters>(self) -> Entry<'h, M, H> {
        self.of::<M>().visit(H::limiter::<M>)
    }

    /// Blocks the thread until a permit is free.
    pub fn blocking_limit(self) -> Self
    where
        L: BlockingLimit,
    {
        self.derive(Capability::Blocking)
            .visit(H::blocking_limit::<L>)
    }

    /// Blocks the thread until a permit is free or a deadline passes.
    pub fn limit_deadline(self) -> Self
    where
        L: LimitDeadline,
    {
        self.derive(Capability::AcquireDeadline)
            .visit(H::limit_deadline::<L>)
    }

    /// Futures wait for a permit.
    pub fn async_limit(self) -> Self
    where
        L: AsyncLimit,
    {
        self.derive(Capability::Async).visit(H::async_limit::<L>)
    }

    /// Futures wait for a permit until a deadline.
    pub fn async_limit_deadline(self) -> Self
    where
        L: AsyncLimitDeadline,
    {
        self.derive(Capability::AcquireDeadline)
            .visit(H::async_limit_deadline::<L>)
    }

    /// Threads acquire several permits at once.
    pub fn weighted_limit(self) -> Self
    where
        L: WeightedLimit,
    {
        self.derive(Capability::Weights)
            .visit(H::weighted_limit::<L>)
    }

    /// Futures acquire several permits at once.
    pub fn async_weighted_limit(self) -> Self
    where
        L: AsyncWeightedLimit,
    {
        self.derive(Capability::Weights)
            .visit(H::async_weighted_limit::<L>)
    }
}
