//! Registration of combinators.

use crate::caps::Kind;
use crate::channel::AwaitAlts;
use crate::combinator::Combinators;
use crate::executor::Executors;

use super::{Enrol, Entry, Newcomer};

impl<'h, F, H: Enrol> Newcomer<'h, F, H> {
    /// A family of combinators, over those channels, on that executor.
    pub fn combinators<C: AwaitAlts, E: Executors>(self) -> Entry<'h, F, H>
    where
        F: Combinators<C>,
    {
        self.of_kind(Kind::Combinator)
            .visit(H::combinators::<F, C, E>)
    }
}
