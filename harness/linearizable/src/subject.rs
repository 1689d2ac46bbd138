//! The structure under test, without its type.

use std::fmt;
use std::sync::Arc;

use flowmeter_harness::sync::world;

use crate::Sequential;

/// One structure: performs an operation on the calling thread.
pub(crate) type Instance<P> =
    Arc<dyn Fn(&<P as Sequential>::Op) -> <P as Sequential>::Ret + Send + Sync>;

/// How to make the structure, and how to perform an operation on it.
pub struct Subject<P: Sequential>(Arc<dyn Fn() -> Instance<P> + Send + Sync>);

impl<P: Sequential> Subject<P> {
    /// Operations that are called. `make` gives a new structure for each execution.
    pub fn calls<S: Send + Sync + 'static>(
        make: impl Fn() -> S + Send + Sync + 'static,
        apply: impl Fn(&S, &P::Op) -> P::Ret + Send + Sync + 'static,
    ) -> Subject<P> {
        let apply = Arc::new(apply);
        Subject(Arc::new(move || {
            let (structure, apply) = (make(), Arc::clone(&apply));
            Arc::new(move |op| apply(&structure, op))
        }))
    }

    /// Operations that are awaited. Each thread of a program runs its futures to their ends, one after the other.
    pub fn awaits<S: Send + Sync + 'static>(
        make: impl Fn() -> S + Send + Sync + 'static,
        apply: impl AsyncFn(&S, &P::Op) -> P::Ret + Send + Sync + 'static,
    ) -> Subject<P> {
        Subject::calls(make, move |structure, op| {
            world::block_on(apply(structure, op))
        })
    }

    pub(crate) fn make(&self) -> Instance<P> {
        (self.0)()
    }
}

impl<P: Sequential> Clone for Subject<P> {
    fn clone(&self) -> Self {
        Subject(Arc::clone(&self.0))
    }
}

impl<P: Sequential> fmt::Debug for Subject<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").finish_non_exhaustive()
    }
}
