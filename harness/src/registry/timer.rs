//! Registration of timers.

use crate::caps::{Capability, Kind};
use crate::channel::{Alts, Async, Blocking};
use crate::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timeouts, Timers};

use super::{Entry, Registering, Visitor};

impl<'h, T, V: Visitor> Registering<'h, T, V> {
    /// A timer that calls back.
    pub fn timer(self) -> Entry<'h, T, V>
    where
        T: Timers,
    {
        let entry = self.of_kind(Kind::Timer);
        entry.derive(Capability::Schedule).visit(V::timer::<T>)
    }

    /// A timer that only futures can wait for.
    pub fn sleep(self) -> Entry<'h, T, V>
    where
        T: Sleep,
    {
        self.of_kind(Kind::Timer).sleep()
    }

    /// A timer that only threads can wait for.
    pub fn blocking_sleep(self) -> Entry<'h, T, V>
    where
        T: BlockingSleep,
    {
        self.of_kind(Kind::Timer).blocking_sleep()
    }
}

impl<'h, T, V: Visitor> Entry<'h, T, V> {
    /// Timers can be cancelled.
    pub fn cancel(self) -> Self
    where
        T: Cancel,
    {
        self.derive(Capability::Cancel).visit(V::cancel::<T>)
    }

    /// Deadlines can be moved.
    pub fn reset(self) -> Self
    where
        T: Reset,
    {
        self.derive(Capability::Reset).visit(V::reset::<T>)
    }

    /// Timers close in time can share a wake-up.
    pub fn coalesce(self) -> Self
    where
        T: Coalesce,
    {
        self.derive(Capability::SafeCoalescing)
            .visit(V::coalesce::<T>)
    }

    /// Futures can wait for it.
    pub fn sleep(self) -> Self
    where
        T: Sleep,
    {
        self.derive(Capability::Sleep).visit(V::sleep::<T>)
    }

    /// Threads can wait for it.
    pub fn blocking_sleep(self) -> Self
    where
        T: BlockingSleep,
    {
        self.derive(Capability::BlockingSleep)
            .visit(V::blocking_sleep::<T>)
    }

    /// Closes channels of that family.
    pub fn timeouts<C: Alts + Async + Blocking>(self) -> Self
    where
        T: Timeouts<C>,
    {
        self.derive(Capability::Timeout).visit(V::timeouts::<T, C>)
    }
}
