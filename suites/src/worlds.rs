//! The worlds in which a program can prove: a registry for each, so that the same code asks and judges in all of
//! them.
//!
//! Code for a world is compiled where [`Worlds::with`] names the world, and nowhere else. A program that explores
//! nothing does not pay for models.

mod beside;

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use flowmeter_harness::caps::{Kind, Origin};
use flowmeter_harness::registry::{AsyncRegistry, Mutant, MutantRegistry, Registered, Registry};
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Exploration, Explored, Failure, Replayed, Schedule, World};

use crate::catalogue::{Catalogue, introduced};
use crate::claims::{self, Leaving, Stage};
use crate::properties::Case;
use crate::properties::cost::{OfShape, Shape, costs};
use crate::properties::{Cell, Checks, Explorer, Judgement, Model, judge_closely};
use crate::timed::{self, TimedProgram};
use crate::twins;

/// What an implementation does before its process ends, by the indices of the claims.
type Leavings = dyn Fn(&str) -> Vec<(usize, Leaving)> + Send + Sync;

/// The implementations of each world.
pub struct Worlds {
    catalogue: Catalogue,
    leaving: Box<Leavings>,
    /// std first, then in the order of addition.
    all: Vec<Box<dyn Prover>>,
    mutants: &'static [Mutant],
    /// The worlds for mutants, in the order of addition.
    attacked: Vec<Box<dyn Prover>>,
    /// The worlds for injected faults.
    lied: Vec<Box<dyn Prover>>,
    /// The world in which the claims of the seed texts are re-enacted.
    stage: Option<Box<dyn Stage>>,
}

/// A registry in a world.
pub(crate) trait Prover: Send + Sync {
    /// The world's name.
    fn world(&self) -> &'static str;
    /// Its implementations. Opens no channel.
    fn implementations(&self) -> Vec<Registered>;
    /// An implementation with each property of its kind, or with that one. Runs the code of the implementation that
    /// answers.
    fn cells(&self, implementation: &str, property: Option<&str>) -> Vec<Cell>;
    /// An implementation with a property of its kind.
    fn cell(&self, implementation: &str, property: &str) -> Option<Cell> {
        self.cells(implementation, Some(property)).pop()
    }
    /// The verdict of a cell.
    fn judge(&self, cell: &Cell, plan: &Exploration) -> Judgement;
    /// Explores a case.
    fn explore_case(&self, case: &Case, plan: &Exploration) -> Explored;
    /// Explores one model of a case.
    fn explore(&self, model: Model, plan: &Exploration) -> Explored;
    /// That execution of the model again.
    fn replay(&self, model: Model, schedule: &Schedule) -> Result<Replayed, String>;
    /// What an implementation costs in each shape, under each fixed schedule.
    fn costs(&self, implementation: &str, shapes: &[Shape]) -> Vec<OfShape>;
    /// An execution that fails alike with fewer switches, if it is found in that time.
    fn shrink(&self, model: Model, failure: &Failure, limit: Duration) -> Option<Failure>;
}

struct In<W, R> {
    registry: R,
    /// Whether faults may be injected into our own implementations; then no others take part.
    lies: bool,
    world: PhantomData<W>,
}

impl<W, R> In<W, R> {
    const fn of(registry: R, lies: bool) -> Self {
        In {
            registry,
            lies,
            world: PhantomData,
        }
    }
}

impl<W: World, R: Registry> Prover for In<W, R> {
    fn world(&self) -> &'static str {
        W::NAME
    }

    fn implementations(&self) -> Vec<Registered> {
        let mut all = introduced(self.registry);
        all.retain(|implementation| !self.lies || implementation.origin == Origin::Own);
        all
    }

    fn cells(&self, implementation: &str, property: Option<&str>) -> Vec<Cell> {
        let checks = match self.lies {
            false => Checks::of_one::<W>(self.registry, implementation, property),
            true => Checks::of_one_that_lies::<W>(self.registry, implementation, property),
        };
        checks.cells().collect()
    }

    fn judge(&self, cell: &Cell, plan: &Exploration) -> Judgement {
        judge_closely(&Explorer::of::<W>(), cell, plan)
    }

    fn explore_case(&self, case: &Case, plan: &Exploration) -> Explored {
        case.explore(&Explorer::of::<W>(), plan)
    }

    fn explore(&self, model: Model, plan: &Exploration) -> Explored {
        W::explore(plan, move || model())
    }

    fn replay(&self, model: Model, schedule: &Schedule) -> Result<Replayed, String> {
        W::replay(schedule, move || model())
    }

    fn costs(&self, implementation: &str, shapes: &[Shape]) -> Vec<OfShape> {
        costs::<W>(self.registry, implementation, shapes)
    }

    fn shrink(&self, model: Model, failure: &Failure, limit: Duration) -> Option<Failure> {
        W::shrink(failure, move || model(), limit)
    }
}

impl Worlds {
    /// The std world alone, for proving and timing.
    pub fn of(registry: impl AsyncRegistry) -> Worlds {
        Worlds::timing(Catalogue::of(registry), registry)
    }

    /// The std world alone, where another program times the implementations of `registry`.
    ///
    /// # Panics
    /// When it was called before in this process.
    pub fn timed_in(program: TimedProgram, registry: impl Registry) -> Worlds {
        timed::serve_in(program);
        Worlds::timing(Catalogue::without_workloads(registry), registry)
    }

    /// The std world alone, where `catalogue` times the implementations of `registry`. The workloads may have been
    /// compiled in another crate, with more care.
    pub fn timing(catalogue: Catalogue, registry: impl Registry) -> Worlds {
        let worlds = Worlds {
            catalogue,
            leaving: Box::new(move |name| claims::leaving(registry, name)),
            all: Vec::new(),
            mutants: &[],
            attacked: Vec::new(),
            lied: Vec::new(),
            stage: None,
        };
        worlds.with::<Std>(registry)
    }

    /// With one more world. Implementations have the names of the std world; one that the registry of the new world
    /// lacks is not checked there.
    #[must_use]
    pub fn with<W: World>(mut self, registry: impl Registry) -> Worlds {
        self.all.push(Box::new(In::<W, _>::of(registry, false)));
        self
    }

    /// Also with the implementations of `other`, behind these, in each world that `other` has. What `other` has besides,
    /// such as mutants, is left out. No name may be in both.
    #[must_use]
    pub fn beside(self, other: Worlds) -> Worlds {
        let (own, more) = (self.leaving, other.leaving);
        Worlds {
            catalogue: self.catalogue.beside(other.catalogue),
            leaving: Box::new(move |name| own(name).into_iter().chain(more(name)).collect()),
            all: beside::joined(self.all, other.all),
            ..self
        }
    }

    /// With mutants in a world: they are tried there after the worlds that were added before it. Each world has the
    /// same ones.
    #[must_use]
    pub fn with_mutants<W: World>(mut self, registry: impl MutantRegistry) -> Worlds {
        self.mutants = registry.mutants();
        self.attacked
            .push(Box::new(In::<W, _>::of(registry, false)));
        self
    }

    /// With a world in which faults are injected into our own implementations of that registry.
    #[must_use]
    pub fn with_lies<W: World>(mut self, registry: impl Registry) -> Worlds {
        self.lied.push(Box::new(In::<W, _>::of(registry, true)));
        self
    }

    /// With a world of virtual time in which implementations of the std world re-enact the claims of the seed texts:
    /// our own ones, by the names that they have there.
    #[must_use]
    pub fn with_claims<W: World>(mut self, registry: impl Registry) -> Worlds {
        self.stage = Some(Box::new(claims::In::<W, _>::new(registry)));
        self
    }

    /// With twins of published crates in these worlds: another program serves their cells there, if it was built.
    /// Called after [`with_mutants`](Worlds::with_mutants): the program is not asked about those.
    ///
    /// # Panics
    /// When it was called before in this process.
    #[must_use]
    pub fn with_twins(self, worlds: &'static [&'static str]) -> Worlds {
        twins::serve_in(worlds, self.mutants, twins::built());
        self
    }

    /// The stage for claims.
    pub(crate) fn stage(&self) -> Option<&dyn Stage> {
        self.stage.as_deref()
    }

    /// The worlds for injected faults.
    pub(crate) fn of_lies(&self) -> impl Iterator<Item = &dyn Prover> + '_ {
        self.lied.iter().map(|prover| &**prover)
    }

    /// The prover for injected faults in that world.
    pub(crate) fn prover_of_lies(&self, world: &str) -> Option<&dyn Prover> {
        self.of_lies().find(|prover| prover.world() == world)
    }

    /// All mutants.
    pub fn mutants(&self) -> &'static [Mutant] {
        self.mutants
    }

    /// The kind of a mutant.
    ///
    /// # Panics
    /// When it is in no world.
    pub(crate) fn kind_of(&self, mutant: &Mutant) -> Kind {
        let mut implementations = self
            .attacked
            .iter()
            .flat_map(|prover| prover.implementations());
        let implementation = implementations.find(|it| it.name == mutant.name);
        implementation
            .expect("a mutant takes part where it is looked at")
            .kind
    }

    /// Names of the worlds for mutants, in order.
    pub(crate) fn of_mutants(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.attacked.iter().map(|prover| prover.world())
    }

    /// The prover for that implementation, mutant or not, in that world.
    pub(crate) fn prover_of(&self, world: &str, implementation: &str) -> Option<&dyn Prover> {
        let is_mutant = self
            .mutants
            .iter()
            .any(|mutant| mutant.name == implementation);
        let provers = if is_mutant { &self.attacked } else { &self.all };
        let mut provers = provers.iter().map(|prover| &**prover);
        provers.find(|prover| prover.world() == world)
    }

    /// The implementations of the std world and their workloads.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What an implementation of the std world does before its process ends.
    pub(crate) fn leaving(&self, implementation: &str) -> Vec<(usize, Leaving)> {
        (self.leaving)(implementation)
    }

    /// Names of the worlds.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.all.iter().map(|prover| prover.world())
    }

    /// The world of that name.
    pub(crate) fn find(&self, name: &str) -> Option<&dyn Prover> {
        let mut all = self.all.iter().map(|prover| &**prover);
        all.find(|prover| prover.world() == name)
    }
}

impl fmt::Debug for Worlds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
