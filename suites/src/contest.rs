//! The contest: every family of a registry with the workloads it can run, as functions compiled for it.

use std::marker::PhantomData;

use flowmeter_harness::channel::{Alts, Async, Blocking};
use flowmeter_harness::measure::{Stage, StageError};
use flowmeter_harness::record::FailureKind;
use flowmeter_harness::registry::{AsyncRegistry, Contestant, Enrol};
use flowmeter_harness::timer::{BlockingSleep, Cancel, Sleep, Timers};

use crate::scenario::ScenarioSpec;
use crate::workloads::{Casting, Timing};

/// Everybody who takes part, and in what.
#[derive(Debug)]
pub struct Contest<R> {
    contestants: Vec<Contestant>,
    castings: Vec<(&'static str, Casting)>,
    registry: PhantomData<fn(R)>,
}

impl<R: AsyncRegistry> Contest<R> {
    /// Everybody in that registry.
    pub fn of(registry: R) -> Contest<R> {
        let mut contest = Contest {
            contestants: Vec::new(),
            castings: Vec::new(),
            registry: PhantomData,
        };
        registry.everybody(&mut contest);
        contest
    }
}

impl<R> Contest<R> {
    /// Who takes part, in the registry's order.
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
        match self.casting(implementation, scenario) {
            Some(casting) => (casting.stage)(&scenario.work),
            None => Err(StageError {
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
        let castings = self.castings.iter();
        let mut own = castings.filter(|(name, _)| *name == implementation);
        own.find(|(_, casting)| (casting.takes_part)(&scenario.work))
            .map(|(_, casting)| *casting)
    }
}

impl<R: AsyncRegistry> Enrol for Contest<R> {
    fn contestant(&mut self, who: &Contestant) {
        self.contestants.push(who.clone());
    }

    fn blocking<C: Blocking>(&mut self, who: &Contestant) {
        self.castings.push((who.name, Casting::blocking::<C>()));
    }

    fn asynchronous<C: Async>(&mut self, who: &Contestant) {
        let casting = Casting::asynchronous::<C, R::Executor>();
        self.castings.push((who.name, casting));
    }

    fn alts<C: Alts>(&mut self, who: &Contestant) {
        self.castings.push((who.name, Casting::alts::<C>()));
    }

    fn timer<T: Timers>(&mut self, who: &Contestant) {
        self.castings.push((who.name, Casting::timer::<T>()));
    }

    fn cancel<T: Cancel>(&mut self, who: &Contestant) {
        self.castings.push((who.name, Casting::cancel::<T>()));
    }

    fn sleep<S: Sleep>(&mut self, who: &Contestant) {
        let casting = Casting::sleep::<S, R::Executor>();
        self.castings.push((who.name, casting));
    }

    fn blocking_sleep<S: BlockingSleep>(&mut self, who: &Contestant) {
        self.castings
            .push((who.name, Casting::blocking_sleep::<S>()));
    }
}
