//! The worlds in which a structure is checked. Each function is one test.

use std::sync::Arc;

use flowmeter_harness::sync::World;
#[cfg(feature = "loom")]
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::std::Std;

use crate::execution::{Job, explored, joined};
use crate::program::Shape;
use crate::search::checked;
use crate::{Check, Sequential};

/// A world, and how programs run there.
pub(crate) trait Ground: World {
    /// Whether an execution may end while threads wait.
    const RESTS: bool;
    /// Whether it records the steps of the structure.
    const SHOWS_STEPS: bool;
    /// Whether it explores the whole space of a program.
    const EXHAUSTS: bool = false;

    /// Runs a program once.
    fn run<P: Sequential>(job: &Arc<Job<P>>);

    /// The size of programs here.
    fn shape(shape: &Shape) -> Shape {
        shape.clone()
    }

    /// How many programs there are, and how many executions of each.
    fn shares(programs: u64, executions: u64) -> (u64, u64) {
        (programs, executions)
    }
}

impl Ground for Std {
    const RESTS: bool = false;
    const SHOWS_STEPS: bool = false;

    fn run<P: Sequential>(job: &Arc<Job<P>>) {
        joined(job);
    }

    fn shares(programs: u64, executions: u64) -> (u64, u64) {
        // The system's threads take long to start.
        (programs, executions.div_ceil(5))
    }
}

impl Ground for Shuttle {
    const RESTS: bool = true;
    const SHOWS_STEPS: bool = true;

    fn run<P: Sequential>(job: &Arc<Job<P>>) {
        explored(job);
    }
}

impl Ground for Sim {
    const RESTS: bool = true;
    const SHOWS_STEPS: bool = true;

    fn run<P: Sequential>(job: &Arc<Job<P>>) {
        explored(job);
    }

    fn shares(programs: u64, executions: u64) -> (u64, u64) {
        // There is one schedule, so more programs take the place of executions.
        (programs.saturating_mul(executions).div_ceil(10), 1)
    }
}

#[cfg(feature = "loom")]
impl Ground for Loom {
    const RESTS: bool = false;
    const SHOWS_STEPS: bool = false;
    const EXHAUSTS: bool = true;

    fn run<P: Sequential>(job: &Arc<Job<P>>) {
        joined(job);
    }

    fn shape(shape: &Shape) -> Shape {
        // The space grows with each operation, and must be explored to its end.
        Shape {
            threads: 2..=2,
            each: 1..=(*shape.each.end()).min(2),
            before: shape.before,
            after: shape.after,
        }
    }

    fn shares(programs: u64, executions: u64) -> (u64, u64) {
        (programs.div_ceil(2), executions.saturating_mul(1_000))
    }
}

/// Checks on real threads.
///
/// # Panics
/// With the finding.
pub fn std<P: Sequential>(check: Check<P>) {
    checked::<Std, P>(check);
}

/// Checks under schedules that are chosen at random.
///
/// # Panics
/// With the finding.
pub fn shuttle<P: Sequential>(check: Check<P>) {
    checked::<Shuttle, P>(check);
}

/// Checks in virtual time, under one schedule.
///
/// # Panics
/// With the finding.
pub fn sim<P: Sequential>(check: Check<P>) {
    checked::<Sim, P>(check);
}

/// Checks all interleavings and memory orders of smaller programs. The structure has to be compiled with primitives of
/// loom.
///
/// # Panics
/// With the finding.
#[cfg(feature = "loom")]
pub fn loom<P: Sequential>(check: Check<P>) {
    checked::<Loom, P>(check);
}
