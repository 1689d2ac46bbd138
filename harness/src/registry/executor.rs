//! Entries of executors.

use crate::caps::{Capability, Kind};
use crate::channel::{Async, Blocking};
use crate::executor::Executors;

use super::{Enrol, Entry, Newcomer};

impl<'h, E: Executors, H: Enrol> Newcomer<'h, E, H> {
    /// An executor, with channels on which its tasks wait.
    pub fn executor<C: Async + Blocking>(self) -> Entry<'h, E, H> {
        let entry = self.of_kind(Kind::Executor);
        entry.derive(Capability::Tasks).visit(H::executor::<E, C>)
    }
}
