//! Registration of executors.

use crate::caps::{Capability, Kind};
use crate::channel::{Async, AwaitAlts, Blocking, Callback};
use crate::executor::{Bindings, Executors, GoBlocks};

use super::{Entry, Registering, Visitor};

impl<'h, E: Executors, V: Visitor> Registering<'h, E, V> {
    /// An executor, with channels on which its tasks wait.
    pub fn executor<C: Async + Blocking>(self) -> Entry<'h, E, V> {
        let entry = self.of_kind(Kind::Executor);
        entry.derive(Capability::Tasks).visit(V::executor::<E, C>)
    }
}

impl<'h, E: Executors, V: Visitor> Entry<'h, E, V> {
    /// Bindings that the spawners of this executor convey.
    pub fn bindings<B: Bindings, C: Async + Blocking>(self) -> Self {
        self.derive(Capability::Bindings)
            .visit(V::bindings::<B, E, C>)
    }
}

impl<'h, G, V: Visitor> Registering<'h, G, V> {
    /// Runs go blocks written as state machines, over those channels, on that executor.
    pub fn go_blocks<C: Callback + AwaitAlts, E: Executors>(self) -> Entry<'h, G, V>
    where
        G: GoBlocks<C>,
    {
        let entry = self.of_kind(Kind::Executor);
        entry
            .derive(Capability::GoBlocks)
            .visit(V::go_blocks::<G, C, E>)
    }
}
