//! Two registries in one world. Each was compiled where it was named, so a program that adds its own implementations to
//! those of a library does not compile the library's again.

use std::time::Duration;

use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::{Exploration, Explored, Failure, Replayed, Schedule};

use super::Prover;
use crate::properties::cost::{OfShape, Shape};
use crate::properties::{Case, Cell, Judgement, Model};

/// The provers of both programs, those of one world as one. The worlds are in the order of `some`, then of `more`.
pub(super) fn joined(
    some: Vec<Box<dyn Prover>>,
    mut more: Vec<Box<dyn Prover>>,
) -> Vec<Box<dyn Prover>> {
    let mut all: Vec<Box<dyn Prover>> = Vec::new();
    for first in some {
        let at = more.iter().position(|other| other.world() == first.world());
        all.push(match at {
            Some(at) => Box::new(Both(first, more.remove(at))),
            None => first,
        });
    }
    all.extend(more);
    all
}

/// Both are of one world.
struct Both(Box<dyn Prover>, Box<dyn Prover>);

impl Both {
    /// The prover that has the implementation.
    fn of(&self, implementation: &str) -> &dyn Prover {
        let mut first = self.0.implementations().into_iter();
        match first.any(|it| it.name == implementation) {
            true => &*self.0,
            false => &*self.1,
        }
    }
}

impl Prover for Both {
    fn world(&self) -> &'static str {
        self.0.world()
    }

    fn implementations(&self) -> Vec<Registered> {
        let mut all = self.0.implementations();
        all.extend(self.1.implementations());
        all
    }

    fn cells(&self, implementation: &str, property: Option<&str>) -> Vec<Cell> {
        self.of(implementation).cells(implementation, property)
    }

    fn costs(&self, implementation: &str, shapes: &[Shape]) -> Vec<OfShape> {
        self.of(implementation).costs(implementation, shapes)
    }

    // The rest is the world's, and alike in both.

    fn judge(&self, cell: &Cell, plan: &Exploration) -> Judgement {
        self.0.judge(cell, plan)
    }

    fn explore_case(&self, case: &Case, plan: &Exploration) -> Explored {
        self.0.explore_case(case, plan)
    }

    fn explore(&self, model: Model, plan: &Exploration) -> Explored {
        self.0.explore(model, plan)
    }

    fn replay(&self, model: Model, schedule: &Schedule) -> Result<Replayed, String> {
        self.0.replay(model, schedule)
    }

    fn shrink(&self, model: Model, failure: &Failure, limit: Duration) -> Option<Failure> {
        self.0.shrink(model, failure, limit)
    }
}
