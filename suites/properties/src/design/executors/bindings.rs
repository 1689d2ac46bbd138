//! Designs of bindings.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use flowmeter_harness::executor::Bindings as Family;

use super::{Runtime, Spawner};

/// A value that does something as it is dropped.
pub(crate) type Held = Arc<dyn Any + Send + Sync>;

/// A design of bindings. A binding is found by its type: models bind numbers, names and what is [`Held`].
#[derive(Clone, Copy)]
pub(crate) struct Bindings {
    /// The executors and channels of the blocks that see them.
    pub(crate) on: Runtime,
    pub(crate) table: &'static dyn Binding,
}

/// The operations of bindings.
pub(crate) trait Binding: Binds<u32> + Binds<&'static str> + Binds<Held> + Sync {
    fn conveying(&self, spawner: Spawner) -> Spawner;
}

/// The bindings of one type.
pub(crate) trait Binds<T> {
    fn bind(&self, value: T, act: &mut dyn FnMut());
    fn bound(&self) -> Option<T>;
}

struct Of<B>(PhantomData<fn(B)>);

impl<B: Family> Binding for Of<B> {
    fn conveying(&self, spawner: Spawner) -> Spawner {
        Spawner::of(B::conveying(spawner))
    }
}

impl<B: Family, T: Any + Send + Sync + Clone> Binds<T> for Of<B> {
    fn bind(&self, value: T, act: &mut dyn FnMut()) {
        B::bind(value, act);
    }
    fn bound(&self) -> Option<T> {
        B::bound()
    }
}

impl Bindings {
    /// The design of that family.
    pub(super) fn of<B: Family>(on: Runtime) -> Bindings {
        let table = &Of::<B>(PhantomData);
        Bindings { on, table }
    }

    /// Binds a value while `act` runs on this thread.
    pub(crate) fn bind<T, R>(self, value: T, act: impl FnOnce() -> R) -> R
    where
        dyn Binding: Binds<T>,
    {
        let (mut act, mut answer) = (Some(act), None);
        self.table
            .bind(value, &mut || answer = act.take().map(|act| act()));
        answer.expect("what is to see the binding runs")
    }

    /// The innermost value of that type that is bound here.
    pub(crate) fn bound<T>(self) -> Option<T>
    where
        dyn Binding: Binds<T>,
    {
        self.table.bound()
    }

    /// The same spawner; its tasks and work have the bindings of the code that spawned them.
    pub(crate) fn conveying(self, spawner: Spawner) -> Spawner {
        self.table.conveying(spawner)
    }
}
