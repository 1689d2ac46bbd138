//! Bindings that spawned tasks inherit (G5).

use std::any::Any;

use super::Spawn;

/// A design of bindings: values that code finds in its context instead of receiving them as arguments.
///
/// They correspond to Clojure's dynamic variables, which core.async's `go` captures: a block sees the bindings of its
/// spawner on any thread. Here a value is bound by its type, so each binding needs a type of its own. A spawner that
/// wraps any other spawner conveys the bindings, so all code that is passed a spawner conveys them too.
pub trait Bindings: Sized + Send + Sync + 'static {
    /// A spawner. Its tasks and pieces of work inherit the bindings at the spawn.
    type Conveying<S: Spawn + Clone + Send + 'static>: Spawn + Clone + Send + 'static;

    /// Binds a value while `act` runs on this thread, hiding an outer one of its type.
    fn bind<T: Any + Send + Sync, R>(value: T, act: impl FnOnce() -> R) -> R;

    /// The innermost value of that type that is bound here.
    fn bound<T: Any + Send + Sync + Clone>() -> Option<T>;

    /// The same spawner, conveying.
    fn conveying<S: Spawn + Clone + Send + 'static>(spawner: S) -> Self::Conveying<S>;
}
