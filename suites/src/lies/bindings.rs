//! Lies about bindings: what is bound, what is found, and who has it.

use std::any::Any;
use std::future::Future;
use std::marker::PhantomData;

use flowmeter_harness::executor::{Bindings, Spawn};

use super::told;

/// Bindings that are what `B`'s are, but for one lie.
pub(super) struct Lying<B>(PhantomData<fn() -> B>);

/// A spawner of theirs, and the one that it conveys for.
#[derive(Clone)]
pub(super) struct Conveying<K, S> {
    real: K,
    plain: S,
}

impl<B: Bindings> Bindings for Lying<B> {
    type Conveying<S: Spawn + Clone + Send + 'static> = Conveying<B::Conveying<S>, S>;

    fn bind<T: Any + Send + Sync, R>(value: T, act: impl FnOnce() -> R) -> R {
        if told("a value is not bound") {
            return act();
        }
        B::bind(value, act)
    }

    fn bound<T: Any + Send + Sync + Clone>() -> Option<T> {
        if told("what is bound is not found") {
            return None;
        }
        B::bound()
    }

    fn conveying<S: Spawn + Clone + Send + 'static>(spawner: S) -> Self::Conveying<S> {
        Conveying {
            real: B::conveying(spawner.clone()),
            plain: spawner,
        }
    }
}

impl<K: Spawn, S: Spawn> Spawn for Conveying<K, S> {
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
