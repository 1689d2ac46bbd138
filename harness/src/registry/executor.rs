//! Registration of executors.

use crate::caps::{Capability, Kind};
use crate::channel::{Async, AwaitAlts, Blocking, Callback};
use crate::executor::{Bindings, Executors, GoBlocks};

use super::{Enrol, Entry, Newcomer};

impl<'h, E: Executors, H: Enrol> Newcomer<'h, E, H> {
    /// An executor, with channels on which its tasks wait.
    pub fn executor<C: Async + Blocking>(self) -> Entry<'h, E, H> {
        let entry = self.of_kind(Kind::Executor);
        entry.derive(Capability::Tasks).visit(H::executor::<E, C>)
    }
}

impl<'h, E: Executors, H: Enrol> Entry<'h, E, H> {
    /// Bindings that the spawners of this executor convey.
    pub fn bindings<B: Bindings, C: Async + Blocking>(self) -> Self {
        self.derive(Capability::Bindings)
            .visit(H::bindings::<B, E, C>)
    }
}

impl<'h, G, H: Enrol> Newcomer<'h, G, H> {
    /// Runs go blocks written as state machines, over those channels, on that executor.
    pub fn go_blocks<C: Callback + AwaitAlts, E: Executors>(self) -> Entry<'h, G, H>
    where
        G: GoBlocks<C>,
    {
        let entry = self.of_kind(Kind::Executor);
        entry
            .derive(Capability::GoBlocks)
            .visit(H::go_blocks::<G, C, E>)
    }
}
