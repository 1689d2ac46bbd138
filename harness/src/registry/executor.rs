//! Entries of executors.

use crate::caps::{Capability, Kind};
use crate::executor::Executors;

use super::{Enrol, Entry, Newcomer};

impl<'h, E: Executors, H: Enrol> Newcomer<'h, E, H> {
    /// An executor.
    pub fn executor(self) -> Entry<'h, E, H> {
        let entry = self.of_kind(Kind::Executor);
        entry.derive(Capability::Tasks).visit(H::executor::<E>)
    }
}
