//! `suite!` registers each trait of a family, as a registry does that lists them. A trait that it forgets would be neither
//! proved nor timed, and no test would be missed.

use std::collections::BTreeSet;

use flowmeter_harness::caps::Kind;
use flowmeter_impls::channel::lock_free::LockFree;
use flowmeter_impls::combinator::OverChannels;
use flowmeter_impls::executor::fixed_pool::FixedPool;
use flowmeter_impls::executor::state_machine::StateMachine;
use flowmeter_impls::limiter::gcra::{AsyncGcra, Gcra};
use flowmeter_impls::pipeline::{CoreAsync, HoldingUp, Unordered, Upmap};
use flowmeter_impls::registry::Ours;
use flowmeter_impls::timer::heap::Heap;
use flowmeter_plugin::registry::{Registered, Registry, Visitor};
use flowmeter_plugin::{Catalogue, channel, limiter, timer};

type GcraOfTasks = AsyncGcra<Heap>;

mod plain {
    flowmeter_plugin::__suite!(super on plain {
        LockFree: WaiterFifo, Disconnect;
        Heap;
        Gcra: RateBound;
        GcraOfTasks;
        CoreAsync (n + 2);
        Unordered;
        HoldingUp;
        Upmap;
        FixedPool;
        StateMachine;
        OverChannels;
    });
}

/// What is shown of one implementation where threads and tasks have one capability between them.
struct Shown<'a> {
    of: &'a str,
    traits: BTreeSet<String>,
}

macro_rules! shown {
    ($($method:ident: $trait:path;)+) => {
        impl Visitor for Shown<'_> {
            fn only(&self) -> Option<&str> {
                Some(self.of)
            }
            $(fn $method<F: $trait>(&mut self, _: &Registered) {
                self.traits.insert(concat!("trait ", stringify!($method)).to_owned());
            })+
        }
    };
}

shown! {
    batch: channel::Batch;
    async_batch: channel::AsyncBatch;
    reserve: channel::BlockingReserve;
    async_reserve: channel::AsyncReserve;
    sleep: timer::Sleep;
    blocking_sleep: timer::BlockingSleep;
    blocking_limit: limiter::BlockingLimit;
    limit_deadline: limiter::LimitDeadline;
    async_limit: limiter::AsyncLimit;
    async_limit_deadline: limiter::AsyncLimitDeadline;
    weighted_limit: limiter::WeightedLimit;
    async_weighted_limit: limiter::AsyncWeightedLimit;
}

fn of(registry: impl Registry, name: &str) -> BTreeSet<String> {
    let mut shown = Shown {
        of: name,
        traits: Catalogue::without_workloads(registry).capabilities(name),
    };
    registry.show_all(&mut shown);
    shown.traits
}

#[test]
fn a_channel_has_all_that_its_traits_give() {
    assert_eq!(of(plain::Suite, "LockFree"), of(Ours, "lock_free"));
}

#[test]
fn a_timer_has_all_but_timeouts_which_need_a_channel() {
    let mut listed = of(Ours, "heap");
    assert!(listed.remove("timeout"), "{listed:?}");
    assert_eq!(of(plain::Suite, "Heap"), listed);
}

#[test]
fn a_limiter_has_all_that_its_traits_give() {
    let mut both = of(plain::Suite, "Gcra");
    both.extend(of(plain::Suite, "GcraOfTasks"));
    assert_eq!(both, of(Ours, "gcra"));
}

#[test]
fn what_is_above_channels_has_all_but_bindings_which_are_a_second_type() {
    for (family, name) in [
        ("CoreAsync", "core_async"),
        ("Unordered", "unordered"),
        ("HoldingUp", "pipeline-blocking"),
        ("Upmap", "upmap"),
        ("FixedPool", "fixed_pool"),
        ("StateMachine", "state_machine"),
        ("OverChannels", "combinators"),
    ] {
        let mut listed = of(Ours, name);
        assert_eq!(listed.remove("bindings"), name == "fixed_pool");
        assert_eq!(of(plain::Suite, family), listed, "{name}");
    }
}

/// What the registry shows of each implementation before it is asked anything.
fn shown() -> Vec<Registered> {
    struct Seen(Vec<Registered>);
    impl Visitor for Seen {
        fn implementation(&mut self, implementation: &Registered) {
            self.0.push(implementation.clone());
        }
    }
    let mut seen = Seen(Vec::new());
    plain::Suite.show_all(&mut seen);
    seen.0
}

#[test]
fn a_pipeline_has_the_bound_of_its_line() {
    let bounds: Vec<_> = (shown().iter())
        .filter_map(|it| it.capabilities.bound_over_n.map(|over| (it.name, over)))
        .collect();
    let expected = [
        ("CoreAsync", 2),
        ("Unordered", 0),
        ("HoldingUp", 0),
        ("Upmap", 0),
    ];
    assert_eq!(bounds, expected);
}

#[test]
fn a_family_has_the_version_of_its_crate_and_the_claims_of_its_line() {
    let version = env!("CARGO_PKG_VERSION");
    let shown = shown();
    assert!(shown.iter().all(|it| it.version == version), "{shown:?}");
    let claims: Vec<_> = (shown.iter())
        .map(|it| (it.name, it.kind, it.capabilities.claims.len()))
        .collect();
    let expected = [
        ("LockFree", Kind::Channel, 2),
        ("Heap", Kind::Timer, 0),
        ("CoreAsync", Kind::Pipeline, 0),
        ("Unordered", Kind::Pipeline, 0),
        ("HoldingUp", Kind::Pipeline, 0),
        ("Upmap", Kind::Pipeline, 0),
        ("Gcra", Kind::Limiter, 1),
        ("GcraOfTasks", Kind::Limiter, 0),
        ("FixedPool", Kind::Executor, 0),
        ("StateMachine", Kind::Executor, 0),
        ("OverChannels", Kind::Combinator, 0),
    ];
    assert_eq!(claims, expected);
}

#[test]
fn beside_others_each_keeps_what_it_has_and_mine_come_first() {
    let alone = Catalogue::without_workloads(plain::Suite);
    let both = alone.beside(Catalogue::without_workloads(Ours));
    let mut names = both.implementations().iter().map(|it| it.name);
    assert_eq!(names.next(), Some("LockFree"));
    assert!(names.any(|name| name == "heap"), "{both:?}");
    for (name, alone) in [
        ("Heap", Catalogue::without_workloads(plain::Suite)),
        ("heap", Catalogue::without_workloads(Ours)),
    ] {
        assert_eq!(both.capabilities(name), alone.capabilities(name));
    }
}
