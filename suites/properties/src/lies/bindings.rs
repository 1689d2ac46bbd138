//! Faults injected into bindings: what is bound, what is found, and where.

use std::future::Future;

use flowmeter_harness::executor::Spawn;

use super::{executors, told};
use crate::design::executors::{Binding, Bindings, Binds, Spawner};

/// The design with one fault, on an executor that may have faults as well.
pub(super) fn lying(real: Bindings) -> Bindings {
    Bindings {
        on: executors::hosting(real.on),
        table: Box::leak(Box::new(Lying(real.table))),
    }
}

/// Bindings that behave like the real ones, except for one fault.
struct Lying(&'static dyn Binding);

/// A spawner of such bindings, and the one that it conveys for.
#[derive(Clone)]
struct Conveying {
    real: Spawner,
    plain: Spawner,
}

impl<T> Binds<T> for Lying
where
    dyn Binding: Binds<T>,
{
    fn bind(&self, value: T, act: &mut dyn FnMut()) {
        if told("a value is not bound") {
            return act();
        }
        self.0.bind(value, act);
    }

    fn bound(&self) -> Option<T> {
        if told("what is bound is not found") {
            return None;
        }
        self.0.bound()
    }
}

impl Binding for Lying {
    fn conveying(&self, spawner: Spawner) -> Spawner {
        Spawner::of(Conveying {
            real: self.0.conveying(spawner.clone()),
            plain: spawner,
        })
    }
}

impl Spawn for Conveying {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if told("a task has no bindings") {
            return self.plain.spawn(task);
        }
        self.real.spawn(task);
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        if told("work has no bindings") {
            return self.plain.spawn_blocking(work);
        }
        self.real.spawn_blocking(work);
    }
}
