//! The executors of a registry, and the designs that belong to them.

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Async, AwaitAlts, Blocking, Callback};
use flowmeter_harness::executor::{
    Bindings as BindingsFamily, Executors as Family, GoBlocks as GoBlocksFamily,
};
use flowmeter_harness::registry::Registered;

use super::super::channels::Channels;
use super::{Bindings, Executors, GoBlocks, Runtime};

/// A design of the kind of executors.
pub(crate) struct Design {
    /// The implementation.
    pub(crate) implementation: Registered,
    /// Its sort.
    pub(crate) what: What,
}

impl Design {
    /// Whether the implementation claims it.
    pub(crate) fn claims(&self, claim: Claim) -> bool {
        self.implementation.capabilities.claims.contains(&claim)
    }
}

/// The sorts of designs in the kind of executors.
pub(crate) enum What {
    /// Executors.
    Executors(Runtime),
    /// Bindings.
    Bindings(Bindings),
    /// Runners of go blocks as state machines.
    GoBlocks(GoBlocks),
}

/// The designs that a registry has shown. Its methods are those of `Visitor`.
#[derive(Default)]
pub(crate) struct Collected(Vec<Design>);

impl Collected {
    /// All designs.
    pub(crate) fn all(self) -> impl Iterator<Item = Design> {
        self.0.into_iter()
    }

    fn add(&mut self, implementation: &Registered, what: What) {
        let implementation = implementation.clone();
        self.0.push(Design {
            implementation,
            what,
        });
    }

    pub(crate) fn executor<E: Family, C: Async + Blocking>(&mut self, implementation: &Registered) {
        self.add(implementation, What::Executors(tasks_and_threads::<E, C>()));
    }

    pub(crate) fn bindings<B: BindingsFamily, E: Family, C: Async + Blocking>(
        &mut self,
        implementation: &Registered,
    ) {
        let bindings = Bindings::of::<B>(tasks_and_threads::<E, C>());
        self.add(implementation, What::Bindings(bindings));
    }

    pub(crate) fn go_blocks<G: GoBlocksFamily<C>, C: Callback + AwaitAlts, E: Family>(
        &mut self,
        implementation: &Registered,
    ) {
        let on = Runtime {
            executors: Executors::of::<E>(),
            channels: Channels::of_tasks_and_callbacks::<C>(),
        };
        self.add(implementation, What::GoBlocks(GoBlocks::of::<G, C>(on)));
    }
}

fn tasks_and_threads<E: Family, C: Async + Blocking>() -> Runtime {
    Runtime {
        executors: Executors::of::<E>(),
        channels: Channels::of_tasks_and_threads::<C>(),
    }
}
