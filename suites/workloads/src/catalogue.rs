//! The catalogue: every family of a registry with the workloads it can run, as functions compiled for it.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};

use flowmeter_harness::channel::{Alts, Async, AwaitAlts, Blocking, Callback};
use flowmeter_harness::executor::{Executors, GoBlocks};
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    WeightedLimit,
};
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::registry::{AsyncRegistry, Registered, Registry, Visitor};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Reset, Sleep, Timers};
use flowmeter_measure::{Stage, StageError};
use flowmeter_records::FailureKind;

use crate::scenario::ScenarioSpec;
use crate::workloads::parts::{Part, channels, executors, limiters, pipelines, timers};
use crate::workloads::{Timing, Work};

/// All implementations of a registry, and their workloads. The type of the registry is gone: a program that holds a
/// catalogue does not compile its workloads again.
pub struct Catalogue {
    /// Registered only where they are asked for: a process that proves has no need of them.
    implementations: LazyLock<Vec<Registered>, Box<dyn FnOnce() -> Vec<Registered> + Send>>,
    /// The names of the capabilities of one implementation.
    capabilities: Box<CapabilitiesOf>,
    /// One implementation in a workload, if it can run it.
    part: Box<PartOf>,
}

type CapabilitiesOf = dyn Fn(&str) -> BTreeSet<String> + Send + Sync;
type PartOf = dyn Fn(&str, &Work) -> Option<Part> + Send + Sync;

/// One implementation in one workload: its first family that can run it.
struct Families<'a, R> {
    of: &'a str,
    work: &'a Work,
    part: Option<Part>,
    registry: PhantomData<fn(R)>,
}

impl<R> Families<'_, R> {
    fn next(&mut self, family: fn(&Work) -> Option<Part>) {
        self.part = self.part.take().or_else(|| family(self.work));
    }
}

impl Catalogue {
    /// All implementations of that registry. It opens no channel: each is asked only later.
    pub fn of<R: AsyncRegistry>(registry: R) -> Catalogue {
        let part = move |implementation: &str, work: &Work| {
            let mut families: Families<'_, R> = Families {
                of: implementation,
                work,
                part: None,
                registry: PhantomData,
            };
            registry.show_all(&mut families);
            families.part
        };
        Catalogue {
            part: Box::new(part),
            ..Catalogue::without_workloads(registry)
        }
    }

    /// All implementations of that registry, of which none runs a workload here: another program times them.
    pub fn without_workloads(registry: impl Registry) -> Catalogue {
        let capabilities = move |implementation: &str| {
            let mut capabilities = Capabilities {
                of: implementation,
                names: BTreeSet::new(),
            };
            registry.show_all(&mut capabilities);
            capabilities.names
        };
        Catalogue {
            implementations: LazyLock::new(Box::new(move || introduced(registry))),
            capabilities: Box::new(capabilities),
            part: Box::new(|_, _| None),
        }
    }

    /// The implementations of both, those of `other` last. Each keeps the workloads that were compiled for it.
    #[must_use]
    pub fn beside(self, other: Catalogue) -> Catalogue {
        let both = Arc::new([self, other]);
        let (named, able) = (Arc::clone(&both), Arc::clone(&both));
        Catalogue {
            implementations: LazyLock::new(Box::new(move || {
                let all = named.iter().flat_map(Catalogue::implementations);
                all.cloned().collect()
            })),
            // A catalogue without the implementation has nothing of it.
            capabilities: Box::new(move |implementation| {
                let all = able.iter();
                all.flat_map(|one| one.capabilities(implementation))
                    .collect()
            }),
            part: Box::new(move |implementation, work| {
                both.iter().find_map(|one| (one.part)(implementation, work))
            }),
        }
    }

    /// The implementations in the order of the registry, with the capabilities of their registration.
    pub fn implementations(&self) -> &[Registered] {
        &self.implementations
    }

    /// The names of the capabilities that follow from the families of an implementation. Finding out may open
    /// channels.
    pub fn capabilities(&self, implementation: &str) -> BTreeSet<String> {
        (self.capabilities)(implementation)
    }

    /// Whether an implementation can run a scenario. Finding out opens a channel and runs nothing else.
    pub fn supports(&self, implementation: &str, scenario: &ScenarioSpec) -> bool {
        self.part(implementation, scenario).is_some()
    }

    /// An implementation about to run a scenario: its first family that can.
    ///
    /// # Errors
    /// [`FailureKind::Protocol`] when there is no such implementation or it does not take part; otherwise the refusal
    /// of the family.
    pub fn stage(
        &self,
        implementation: &str,
        scenario: &ScenarioSpec,
    ) -> Result<Box<dyn Stage>, StageError> {
        let mut registered = self.implementations.iter();
        let registered = registered.find(|registered| registered.name == implementation);
        match (registered, self.part(implementation, scenario)) {
            (Some(registered), Some(part)) => (part.stage)(registered),
            _ => Err(StageError {
                kind: FailureKind::Protocol,
                message: format!(
                    "{implementation} does not take part in {}; `list` shows which do",
                    scenario.name
                ),
            }),
        }
    }

    /// An uncontended timing for criterion. `None` unless the workload has a single thread and the implementation
    /// takes part.
    pub fn timing(
        &self,
        implementation: &str,
        scenario: &ScenarioSpec,
    ) -> Option<Result<Timing, StageError>> {
        let timing = self.part(implementation, scenario)?.timing?;
        Some(timing())
    }

    /// [`Catalogue::stage`] for the serialised scenario that a child process receives.
    ///
    /// # Errors
    /// As [`Catalogue::stage`]; [`FailureKind::Protocol`] when it is no scenario.
    pub fn stage_of(
        &self,
        implementation: &str,
        scenario: &serde_json::Value,
    ) -> Result<Box<dyn Stage>, StageError> {
        let spec: ScenarioSpec =
            serde::Deserialize::deserialize(scenario).map_err(|why| StageError {
                kind: FailureKind::Protocol,
                message: format!("not a scenario: {why}"),
            })?;
        self.stage(implementation, &spec)
    }

    fn part(&self, implementation: &str, scenario: &ScenarioSpec) -> Option<Part> {
        (self.part)(implementation, &scenario.work)
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.implementations.iter().map(|it| it.name);
        f.debug_list().entries(names).finish()
    }
}

/// All implementations of that registry, as registered. Opens no channel.
pub fn introduced(registry: impl Registry) -> Vec<Registered> {
    let mut names = Names::default();
    registry.show_all(&mut names);
    names.0
}

/// Collects the capabilities of one implementation.
struct Capabilities<'a> {
    of: &'a str,
    names: BTreeSet<String>,
}

impl Visitor for Capabilities<'_> {
    fn only(&self) -> Option<&str> {
        Some(self.of)
    }

    fn implementation(&mut self, implementation: &Registered) {
        let derived = implementation.capabilities.derived.iter();
        self.names.extend(derived.map(|c| c.name().to_owned()));
    }
}

/// Collects the implementations, and asks none of them anything.
#[derive(Default)]
struct Names(Vec<Registered>);

impl Visitor for Names {
    fn asks(&self, _name: &str) -> bool {
        false
    }

    fn implementation(&mut self, implementation: &Registered) {
        self.0.push(implementation.clone());
    }
}

impl<R: AsyncRegistry> Visitor for Families<'_, R> {
    fn only(&self) -> Option<&str> {
        Some(self.of)
    }

    fn blocking<C: Blocking>(&mut self, _: &Registered) {
        self.next(channels::blocking::<C>);
    }

    fn asynchronous<C: Async>(&mut self, _: &Registered) {
        self.next(channels::asynchronous::<C, R::Executor>);
    }

    fn mixed<C: Blocking + Async>(&mut self, _: &Registered) {
        self.next(channels::mixed::<C, R::Executor>);
    }

    fn alts<C: Alts>(&mut self, _: &Registered) {
        self.next(channels::alts::<C>);
    }

    fn timer<T: Timers>(&mut self, _: &Registered) {
        self.next(timers::timer::<T>);
    }

    fn cancel<T: Cancel>(&mut self, _: &Registered) {
        self.next(timers::cancel::<T>);
    }

    fn reset<T: Reset>(&mut self, _: &Registered) {
        // Takes precedence over the family that cancels and schedules again instead of moving.
        self.part = timers::reset::<T>(self.work).or(self.part.take());
    }

    fn sleep<S: Sleep>(&mut self, _: &Registered) {
        self.next(timers::sleep::<S, R::Executor>);
    }

    fn pipeline<P, C, E>(&mut self, _: &Registered)
    where
        P: Pipelines<C, E> + Default,
        C: Async,
        E: Executors,
    {
        self.next(pipelines::pipeline::<P, C, E, R::Sleep>);
    }

    fn limiter<L: Limiters>(&mut self, _: &Registered) {
        self.next(limiters::limiter::<L>);
    }

    fn blocking_limit<L: BlockingLimit>(&mut self, _: &Registered) {
        self.next(limiters::blocking_limit::<L>);
    }

    fn async_limit<L: AsyncLimit>(&mut self, _: &Registered) {
        self.next(limiters::async_limit::<L, R::Executor>);
    }

    fn limit_deadline<L: LimitDeadline>(&mut self, _: &Registered) {
        self.next(limiters::limit_deadline::<L>);
    }

    fn async_limit_deadline<L: AsyncLimitDeadline>(&mut self, _: &Registered) {
        self.next(limiters::async_limit_deadline::<L>);
    }

    fn weighted_limit<L: WeightedLimit>(&mut self, _: &Registered) {
        self.next(limiters::weighted_limit::<L>);
    }

    fn async_weighted_limit<L: AsyncWeightedLimit>(&mut self, _: &Registered) {
        self.next(limiters::async_weighted_limit::<L>);
    }

    fn executor<E: Executors, C: Async + Blocking>(&mut self, _: &Registered) {
        self.next(executors::executor::<E, C>);
    }

    fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>(&mut self, _: &Registered) {
        self.next(executors::go_blocks::<G, C, E>);
    }

    fn blocking_sleep<S: BlockingSleep>(&mut self, _: &Registered) {
        self.next(timers::blocking_sleep::<S>);
    }
}
