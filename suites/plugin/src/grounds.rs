//! The compilations of a caller's crate, by the words that [`suite!`](crate::suite!) has for them: which channels and which
//! executor a pipeline gets there, and which worlds explore it.

use flowmeter_harness::channel::{Async, AwaitAlts, Blocking, Callback};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::registry::{AsyncRegistry, Registry};
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::trace::{What, traced};
use flowmeter_harness::sync::{Exploration, World};
#[cfg(feature = "loom")]
use flowmeter_harness::sync::{loom::Loom, panic_text};
use flowmeter_impls::registry as real;
#[cfg(feature = "loom")]
use flowmeter_impls_loom::registry as loomed;
use flowmeter_impls_shuttle::registry as shuttled;
use flowmeter_suites::worlds::Worlds;

/// What pipelines and combinators get: ours, so that only the designs differ. Tasks of executors wait on these channels,
/// too.
pub trait Ground {
    /// The channels.
    type Channels: Async + AwaitAlts + Blocking + Callback;
    /// The executor.
    type Executor: Executors;
}

/// A compilation that worlds explore.
pub trait Explored: Ground {
    /// The names of its worlds.
    const WORLDS: &'static [&'static str];
    /// What the package must be compiled with, as the end of a sentence.
    const NEEDS: &'static str;

    /// With these worlds.
    fn with(worlds: Worlds, registry: impl Registry) -> Worlds;
    /// Whether its worlds see what `touch` does.
    fn sees(touch: fn()) -> bool;
}

macro_rules! ground {
    ($(#[$attribute:meta])* $ground:ident: $impls:ident) => {
        $(#[$attribute])*
        #[allow(non_camel_case_types, reason = "it is a word of `suite!`")]
        #[derive(Debug)]
        pub struct $ground;

        $(#[$attribute])*
        impl Ground for $ground {
            type Channels = $impls::OfTasks;
            type Executor = <$impls::All as AsyncRegistry>::Executor;
        }
    };
}

ground! {
    /// Against std.
    plain: real
}
ground! {
    /// Against `flowmeter-std`.
    explored: shuttled
}
ground! {
    /// Against loom.
    #[cfg(feature = "loom")]
    loom: loomed
}

impl Explored for explored {
    const WORLDS: &'static [&'static str] = &["shuttle", "sim"];
    const NEEDS: &'static str =
        "needs flowmeter-std and flowmeter-core as its dependencies `std` and `core`";

    fn with(worlds: Worlds, registry: impl Registry) -> Worlds {
        worlds.with::<Shuttle>(registry).with::<Sim>(registry)
    }

    /// Both worlds have the same primitives.
    fn sees(touch: fn()) -> bool {
        let once = Exploration {
            executions: 1,
            ..Exploration::default()
        };
        let (_, events) = traced(|| Sim::explore(&once, touch));
        let is_step = |what: &What| matches!(what, What::Step { at: Some(_), .. });
        events.iter().any(|event| is_step(&event.what))
    }
}

#[cfg(feature = "loom")]
impl Explored for loom {
    const WORLDS: &'static [&'static str] = &["loom"];
    const NEEDS: &'static str = "must take its locks, atomics and threads from loom or from the facade's module `loom`: \
                                 loom has no shim for those of std";

    fn with(worlds: Worlds, registry: impl Registry) -> Worlds {
        worlds.with::<Loom>(registry)
    }

    /// Outside of an execution loom panics with a message of its own before it makes any primitive, and those of std and its
    /// shim are real ones. What a structure does with loom's own types is not traced.
    fn sees(touch: fn()) -> bool {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        let panicked = std::panic::catch_unwind(touch).err();
        std::panic::set_hook(hook);
        panicked.is_some_and(|panic| panic_text(&*panic).contains("Loom execution state"))
    }
}
