//! Bindings that go with what is spawned (G5).

use std::any::Any;

use super::Spawn;

/// A design of bindings: values that are found where code runs, and not handed to it.
///
/// Clojure's dynamic variables, which core.async's `go` captures: a block sees those of whoever spawned it, on whichever
/// thread it runs. Here a value is bound by its type, so a binding has a type of its own, and what conveys the bindings is
/// a spawner around any other: everything that is told what spawns its tasks conveys them too.
pub trait Bindings: Sized + Send + Sync + 'static {
    /// A spawner whose tasks and pieces of work have the bindings of whoever spawned them.
    type Conveying<S: Spawn + Clone + Send + 'static>: Spawn + Clone + Send + 'static;

    /// Binds a value while `act` runs on this thread, over an outer one of its type.
    fn bind<T: Any + Send + Sync, R>(value: T, act: impl FnOnce() -> R) -> R;

    /// The innermost value of that type that is bound here.
    fn bound<T: Any + Send + Sync + Clone>() -> Option<T>;

    /// The same spawner, conveying.
    fn conveying<S: Spawn + Clone + Send + 'static>(spawner: S) -> Self::Conveying<S>;
}
