//! Registration of combinators.

use crate::caps::Kind;
use crate::channel::AwaitAlts;
use crate::combinator::Combinators;
use crate::executor::Executors;

use super::{Entry, Registering, Visitor};

impl<'h, F, V: Visitor> Registering<'h, F, V> {
    /// A family of combinators, over those channels, on that executor.
    pub fn combinators<C: AwaitAlts, E: Executors>(self) -> Entry<'h, F, V>
    where
        F: Combinators<C>,
    {
        self.of_kind(Kind::Combinator)
            .visit(V::combinators::<F, C, E>)
    }
}
