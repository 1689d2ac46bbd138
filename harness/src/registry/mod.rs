//! Registration of implementations: one readable line each.
//!
//! A [`Registry`] passes its implementations to any type that implements [`Visitor`]:
//!
//! ```ignore
//! impl Registry for All {
//!     fn channels<V: Visitor>(self, visitor: &mut V) {
//!         own::<Mutex, _>(visitor, "mutex").channel().blocking().asynchronous().alts().enter();
//!         peer::<Bounded, _>(visitor, "std", "1.95")
//!             .channel().blocking()
//!             .family::<Unbounded>().blocking()
//!             .enter();
//!     }
//!     fn timers<V: Visitor>(self, visitor: &mut V) {
//!         own::<Heap, _>(visitor, "heap").timer().cancel().reset().enter();
//!     }
//! }
//! ```
//!
//! Each call passes a *type*, so the suites store monomorphic code and timed loops have no `dyn`. Buffers and further
//! halves are determined by asking the family. Registering a family for a trait that it does not implement does not
//! compile.

mod channel;
mod combinator;
mod executor;
mod limiter;
mod mutant;
mod pipeline;
mod timer;

use std::any::type_name;
use std::marker::PhantomData;

pub use mutant::{Mutant, MutantRegistry};

use crate::caps::{Capabilities, Capability, Claim, Kind, Origin};
use crate::channel::{
    Alts, Async, AsyncBatch, AsyncReserve, AwaitAlts, AwaitClose, Batch, Blocking, BlockingReserve,
    Callback, MixedAlts, Promises, PutDeadline, TakeDeadline, Transforms, WeakProducers,
};
use crate::combinator::Combinators;
use crate::executor::{Bindings, Executors, GoBlocks};
use crate::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    WeightedLimit,
};
use crate::parallel_map::ParallelMaps;
use crate::pipeline::Pipelines;
use crate::timer::{BlockingSleep, Cancel, Coalesce, Reset, Sleep, Timeouts, Timers};
use crate::transform_pipeline::TransformPipelines;

/// An implementation as registered.
#[derive(Clone, Debug)]
pub struct Registered {
    /// One name for all its families; unique among the implementations of all kinds.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Where it comes from.
    pub origin: Origin,
    /// Version of the crate it comes from.
    pub version: String,
    /// Its capabilities and claims.
    pub capabilities: Capabilities,
    /// Measured for comparison only: excluded from rankings and from the best values.
    pub reference: bool,
    /// The type of the family that is shown. Of an implementation that is no type here, it is empty.
    pub family: &'static str,
}

/// Receives implementations. A suite implements it to keep what it needs of each type.
///
/// Every method is called once for each family that has the trait; [`Visitor::implementation`] comes first.
pub trait Visitor: Sized {
    /// The name of the one implementation to show; `None` shows all. A registry need not even register the others.
    fn only(&self) -> Option<&str> {
        None
    }
    /// Whether to ask that implementation for its capabilities. Asking opens channels, so foreign code runs. Of a
    /// implementation that is not asked, [`Visitor::implementation`] receives what its registration says, and no family is
    /// visited.
    fn asks(&self, name: &str) -> bool {
        self.only().is_none_or(|only| only == name)
    }
    /// An implementation and its claims.
    fn implementation(&mut self, _: &Registered) {}

    /// A family with blocking operations.
    fn blocking<C: Blocking>(&mut self, _: &Registered) {}
    /// A family with futures.
    fn asynchronous<C: Async>(&mut self, _: &Registered) {}
    /// A family with channels that threads and tasks may use at once.
    fn mixed<C: Blocking + Async>(&mut self, _: &Registered) {}
    /// A family with callbacks.
    fn callback<C: Callback + Blocking>(&mut self, _: &Registered) {}
    /// A family with deadlines on puts.
    fn put_deadline<C: PutDeadline>(&mut self, _: &Registered) {}
    /// A family with deadlines on takes.
    fn take_deadline<C: TakeDeadline>(&mut self, _: &Registered) {}
    /// A family with promises.
    fn promises<C: Promises + Blocking>(&mut self, _: &Registered) {}
    /// A family with alts.
    fn alts<C: Alts>(&mut self, _: &Registered) {}
    /// A family with alts over channels of different message types.
    fn mixed_alts<C: MixedAlts>(&mut self, _: &Registered) {}
    /// A family with alts that tasks await.
    fn await_alts<C: AwaitAlts>(&mut self, _: &Registered) {}
    /// A family with producers that do not keep the channel open.
    fn weak_producers<C: WeakProducers>(&mut self, _: &Registered) {}
    /// A family with producers that can wait for the close.
    fn await_close<C: AwaitClose>(&mut self, _: &Registered) {}
    /// A family with batches for threads.
    fn batch<C: Batch>(&mut self, _: &Registered) {}
    /// A family with batches that are futures.
    fn async_batch<C: AsyncBatch>(&mut self, _: &Registered) {}
    /// A family with permits that threads wait for.
    fn reserve<C: BlockingReserve>(&mut self, _: &Registered) {}
    /// A family with permits that futures wait for.
    fn async_reserve<C: AsyncReserve>(&mut self, _: &Registered) {}
    /// A family with transforms.
    fn transforms<C: Transforms + Blocking>(&mut self, _: &Registered) {}

    /// A timer that calls back.
    fn timer<T: Timers>(&mut self, _: &Registered) {}
    /// A timer that can be cancelled.
    fn cancel<T: Cancel>(&mut self, _: &Registered) {}
    /// A timer with deadlines that can be moved.
    fn reset<T: Reset>(&mut self, _: &Registered) {}
    /// A timer with callbacks that can share a wake-up.
    fn coalesce<T: Coalesce>(&mut self, _: &Registered) {}
    /// A timer that futures wait for.
    fn sleep<S: Sleep>(&mut self, _: &Registered) {}
    /// A timer that threads wait for.
    fn blocking_sleep<S: BlockingSleep>(&mut self, _: &Registered) {}
    /// A timer that closes channels.
    fn timeouts<S: Timeouts<C>, C: Alts + Async + Blocking>(&mut self, _: &Registered) {}

    /// A pipeline over those channels, on that executor.
    fn pipeline<P: Pipelines<C, E> + Default, C: Async, E: Executors>(&mut self, _: &Registered) {}

    /// A pipeline that transforms, over those channels, on that executor.
    fn workers<P: TransformPipelines<C, E> + Default, C: Async, E: Executors>(
        &mut self,
        _: &Registered,
    ) {
    }
    /// A parallel map over those channels, on that executor.
    fn parallel_map<M: ParallelMaps<C, E> + Default, C: Async, E: Executors>(
        &mut self,
        _: &Registered,
    ) {
    }

    /// A limiter.
    fn limiter<L: Limiters>(&mut self, _: &Registered) {}
    /// A limiter that blocks the thread.
    fn blocking_limit<L: BlockingLimit>(&mut self, _: &Registered) {}
    /// A limiter that blocks the thread until a deadline.
    fn limit_deadline<L: LimitDeadline>(&mut self, _: &Registered) {}
    /// A limiter that futures wait for.
    fn async_limit<L: AsyncLimit>(&mut self, _: &Registered) {}
    /// A limiter that futures wait for until a deadline.
    fn async_limit_deadline<L: AsyncLimitDeadline>(&mut self, _: &Registered) {}
    /// A limiter with weights that blocks the thread.
    fn weighted_limit<L: WeightedLimit>(&mut self, _: &Registered) {}
    /// A limiter with weights that futures wait for.
    fn async_weighted_limit<L: AsyncWeightedLimit>(&mut self, _: &Registered) {}

    /// An executor, with channels on which its tasks wait.
    fn executor<E: Executors, C: Async + Blocking>(&mut self, _: &Registered) {}
    /// Bindings that the spawners of that executor convey.
    fn bindings<B: Bindings, E: Executors, C: Async + Blocking>(&mut self, _: &Registered) {}
    /// Runs go blocks written as state machines, over those channels, on that executor.
    fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>(&mut self, _: &Registered) {
    }

    /// Combinators over those channels, on that executor.
    fn combinators<F: Combinators<C>, C: AwaitAlts, E: Executors>(&mut self, _: &Registered) {}
}

/// A list of implementations: a zero-sized type of the crate that has them. A kind that is left out has none.
pub trait Registry: Copy + Send + Sync + 'static {
    /// Passes every channel to `visitor`, in the order in which tables show them.
    fn channels<V: Visitor>(self, _hall: &mut V) {}
    /// Passes every timer to `visitor`.
    fn timers<V: Visitor>(self, _hall: &mut V) {}
    /// Passes every pipeline to `visitor`.
    fn pipelines<V: Visitor>(self, _hall: &mut V) {}
    /// Passes every limiter to `visitor`.
    fn limiters<V: Visitor>(self, _hall: &mut V) {}
    /// Passes every executor to `visitor`.
    fn executors<V: Visitor>(self, _hall: &mut V) {}
    /// Passes every family of combinators to `visitor`.
    fn combinators<V: Visitor>(self, _hall: &mut V) {}

    /// Passes all implementations to `visitor`, kind by kind.
    fn show_all<V: Visitor>(self, visitor: &mut V) {
        self.channels(visitor);
        self.timers(visitor);
        self.pipelines(visitor);
        self.limiters(visitor);
        self.executors(visitor);
        self.combinators(visitor);
    }
}

/// A registry that names the executor of async rows. It is the same for all of them, so no row is timed with a better
/// executor than its rivals.
pub trait AsyncRegistry: Registry {
    /// The executor for the tasks of async rows.
    type Executor: Executors;
    /// The timer that tasks of pipelines sleep on.
    type Sleep: Sleep;
}

/// An implementation written in this project.
pub fn own<'h, F, V: Visitor>(visitor: &'h mut V, name: &'static str) -> Registering<'h, F, V> {
    registering(
        visitor,
        name,
        Origin::Own,
        env!("CARGO_PKG_VERSION").to_owned(),
    )
}

/// An adapter of a published crate.
pub fn peer<'h, F, V: Visitor>(
    visitor: &'h mut V,
    name: &'static str,
    version: impl Into<String>,
) -> Registering<'h, F, V> {
    registering(visitor, name, Origin::Peer, version.into())
}

/// An implementation that is broken on purpose.
pub fn mutant<'h, F, V: Visitor>(visitor: &'h mut V, name: &'static str) -> Registering<'h, F, V> {
    registering(
        visitor,
        name,
        Origin::Mutant,
        env!("CARGO_PKG_VERSION").to_owned(),
    )
}

fn registering<'h, F, V: Visitor>(
    visitor: &'h mut V,
    name: &'static str,
    origin: Origin,
    version: String,
) -> Registering<'h, F, V> {
    Registering {
        visitor,
        name,
        origin,
        version,
        family: PhantomData,
    }
}

/// An implementation without a kind. Next comes `channel()`, `timer()`, `sleep()`, `blocking_sleep()`, `pipeline()`,
/// `workers()`, `parallel_map()`, `limiter()`, `executor()`, `go_blocks()` or `combinators()`.
#[must_use = "say what it is"]
pub struct Registering<'h, F, V> {
    visitor: &'h mut V,
    name: &'static str,
    origin: Origin,
    version: String,
    family: PhantomData<F>,
}

impl<'h, F, V: Visitor> Registering<'h, F, V> {
    fn of_kind(self, kind: Kind) -> Entry<'h, F, V> {
        Entry {
            visitor: self.visitor,
            implementation: Registered {
                name: self.name,
                kind,
                origin: self.origin,
                version: self.version,
                capabilities: Capabilities::default(),
                reference: false,
                family: type_name::<F>(),
            },
            visits: Vec::new(),
            family: PhantomData,
        }
    }
}

/// Shows one trait of a family.
type Visit<V> = fn(&mut V, &Registered);

/// A registration in progress; ends with [`Entry::enter`].
#[must_use = "an entry takes part once it is entered"]
pub struct Entry<'h, F, V> {
    visitor: &'h mut V,
    implementation: Registered,
    /// What is shown of each family, with its name.
    visits: Vec<(&'static str, Visit<V>)>,
    family: PhantomData<F>,
}

impl<'h, F, V: Visitor> Entry<'h, F, V> {
    /// The same entry, for another type from here on.
    fn of<G>(self) -> Entry<'h, G, V> {
        let Entry {
            visitor,
            implementation,
            visits,
            ..
        } = self;
        Entry {
            visitor,
            implementation,
            visits,
            family: PhantomData,
        }
    }

    fn derive(mut self, capability: Capability) -> Self {
        self.implementation.capabilities.derived.insert(capability);
        self
    }

    fn visit(mut self, visit: Visit<V>) -> Self {
        self.visits.push((type_name::<F>(), visit));
        self
    }

    /// Adds claims about its behaviour.
    pub fn claims(mut self, claims: &[Claim]) -> Self {
        self.implementation.capabilities.claims.extend(claims);
        self
    }

    /// Names its version, where that is not the one of this project.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.implementation.version = version.into();
        self
    }

    /// Marks it as measured for comparison only: what the system itself does, or can do at best. It is excluded from
    /// rankings and from the best values.
    pub fn reference(mut self) -> Self {
        self.implementation.reference = true;
        self
    }

    /// Completes the registration.
    pub fn enter(self) {
        if self
            .visitor
            .only()
            .is_some_and(|only| only != self.implementation.name)
        {
            return;
        }
        self.visitor.implementation(&self.implementation);
        if !self.visitor.asks(self.implementation.name) {
            return;
        }
        let mut implementation = self.implementation;
        for (family, visit) in self.visits {
            implementation.family = family;
            visit(self.visitor, &implementation);
        }
    }
}
