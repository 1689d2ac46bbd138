//! The contest: every family of a registry with the workloads it can run, as functions compiled for it.

use std::marker::PhantomData;

use flowmeter_harness::channel::{Alts, Async, AwaitAlts, Blocking, Callback};
use flowmeter_harness::executor::{Executors, GoBlocks};
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    WeightedLimit,
};
use flowmeter_harness::measure::{Stage, StageError};
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::record::FailureKind;
use flowmeter_harness::registry::{AsyncRegistry, Contestant, Enrol, Registry};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Reset, Sleep, Timers};

use crate::scenario::ScenarioSpec;
use crate::workloads::{Casting, Timing};

/// Everybody who takes part, and in what.
#[derive(Debug)]
pub struct Contest<R> {
    registry: R,
    contestants: Vec<Contestant>,
}

/// The families of one contestant.
struct Families<'a, R> {
    of: &'a str,
    castings: Vec<Casting>,
    registry: PhantomData<fn(R)>,
}

impl<R: AsyncRegistry> Contest<R> {
    /// Everybody in that registry. Opens no channel: nobody is asked before it is their turn.
    pub fn of(registry: R) -> Contest<R> {
        Contest {
            registry,
            contestants: introduced(registry),
        }
    }

    /// Who takes part, in the registry's order; of their capabilities, what their registration says.
    pub fn implementations(&self) -> &[Contestant] {
        &self.contestants
    }

    /// Whether an implementation can run a scenario; finding out runs nothing but opening a channel.
    pub fn supports(&self, implementation: &str, scenario: &ScenarioSpec) -> bool {
        self.casting(implementation, scenario).is_some()
    }

    /// An implementation about to run a scenario: its first family that can.
    ///
    /// # Errors
    /// [`FailureKind::Protocol`] when there is no such implementation or it does not take part; otherwise
    /// what the family refused.
    pub fn stage(
        &self,
        implementation: &str,
        scenario: &ScenarioSpec,
    ) -> Result<Box<dyn Stage>, StageError> {
        let who = self.contestants.iter();
        let mut who = who.filter(|who| who.name == implementation);
        match (who.next(), self.casting(implementation, scenario)) {
            (Some(who), Some(casting)) => (casting.stage)(&scenario.work, who),
            _ => Err(StageError {
                kind: FailureKind::Protocol,
                message: format!(
                    "{implementation} does not take part in {}; `list` shows who does",
                    scenario.name
                ),
            }),
        }
    }

    /// An uncontended cost for criterion: `None` unless the workload is one of a single thread and the
    /// implementation takes part.
    pub fn timing(
        &self,
        implementation: &str,
        scenario: &ScenarioSpec,
    ) -> Option<Result<Timing, StageError>> {
        let casting = self.casting(implementation, scenario)?;
        (casting.timing)(&scenario.work)
    }

    /// [`Contest::stage`] from the serialised scenario that a child process is sent.
    ///
    /// # Errors
    /// As [`Contest::stage`]; [`FailureKind::Protocol`] when it is no scenario.
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

    fn casting(&self, implementation: &str, scenario: &ScenarioSpec) -> Option<Casting> {
        let mut families = Families {
            of: implementation,
            castings: Vec::new(),
            registry: PhantomData::<fn(R)>,
        };
        self.registry.everybody(&mut families);
        let mut castings = families.castings.into_iter();
        castings.find(|casting| (casting.takes_part)(&scenario.work))
    }
}

/// Everybody in that registry, with what their registration says. Opens no channel.
pub(crate) fn introduced(registry: impl Registry) -> Vec<Contestant> {
    let mut names = Names::default();
    registry.everybody(&mut names);
    names.0
}

/// Hears who takes part, and asks nobody anything.
#[derive(Default)]
struct Names(Vec<Contestant>);

impl Enrol for Names {
    fn asks(&self, _name: &str) -> bool {
        false
    }

    fn contestant(&mut self, who: &Contestant) {
        self.0.push(who.clone());
    }
}

impl<R: AsyncRegistry> Enrol for Families<'_, R> {
    fn asks(&self, name: &str) -> bool {
        name == self.of
    }

    fn blocking<C: Blocking>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::blocking::<C>());
    }

    fn asynchronous<C: Async>(&mut self, _who: &Contestant) {
        self.castings
            .push(Casting::asynchronous::<C, R::Executor>());
    }

    fn mixed<C: Blocking + Async>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::mixed::<C, R::Executor>());
    }

    fn alts<C: Alts>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::alts::<C>());
    }

    fn timer<T: Timers>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::timer::<T>());
    }

    fn cancel<T: Cancel>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::cancel::<T>());
    }

    fn reset<T: Reset>(&mut self, _who: &Contestant) {
        // Before the casting that calls off and schedules anew what it cannot move.
        self.castings.insert(0, Casting::reset::<T>());
    }

    fn sleep<S: Sleep>(&mut self, _who: &Contestant) {
        let casting = Casting::sleep::<S, R::Executor>();
        self.castings.push(casting);
    }

    fn pipeline<P, C, E>(&mut self, _who: &Contestant)
    where
        P: Pipelines<C, E> + Default,
        C: Async,
        E: Executors,
    {
        self.castings.push(Casting::pipeline::<P, C, E, R::Sleep>());
    }

    fn limiter<L: Limiters>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::limiter::<L>());
    }

    fn blocking_limit<L: BlockingLimit>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::blocking_limit::<L>());
    }

    fn async_limit<L: AsyncLimit>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::async_limit::<L, R::Executor>());
    }

    fn limit_deadline<L: LimitDeadline>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::limit_deadline::<L>());
    }

    fn async_limit_deadline<L: AsyncLimitDeadline>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::async_limit_deadline::<L>());
    }

    fn weighted_limit<L: WeightedLimit>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::weighted_limit::<L>());
    }

    fn async_weighted_limit<L: AsyncWeightedLimit>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::async_weighted_limit::<L>());
    }

    fn executor<E: Executors, C: Async + Blocking>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::executor::<E, C>());
    }

    fn go_blocks<G: GoBlocks<C>, C: Callback + AwaitAlts, E: Executors>(
        &mut self,
        _who: &Contestant,
    ) {
        self.castings.push(Casting::go_blocks::<G, C, E>());
    }

    fn blocking_sleep<S: BlockingSleep>(&mut self, _who: &Contestant) {
        self.castings.push(Casting::blocking_sleep::<S>());
    }
}
