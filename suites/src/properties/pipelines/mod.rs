//! What is checked on pipelines: a file for each property. Every model has an executor of one thread, unless
//! it says otherwise, and the channels that the registry names.

mod clock;
mod flight;
pub(super) mod p1_bound;
pub(super) mod p2_order;
pub(super) mod p3_close;
pub(super) mod p4_faults;
pub(super) mod p5_window;
pub(super) mod p6_workers;
pub(super) mod p7_map;
pub(super) mod p8_figures;

use std::num::NonZeroUsize;

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::parallel_map::ParallelMaps;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::registry::Contestant;
use flowmeter_harness::sync::World;
use flowmeter_harness::transform_pipeline::TransformPipelines;

use super::{Case, Owed, Property, Reliance};

#[cfg(feature = "command")]
pub(crate) use clock::Clock;

/// How many threads a model's executor has.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// The threads of an executor on which tasks run at once.
fn several<W: World>() -> NonZeroUsize {
    let threads = if W::name() == "std" { 4 } else { 2 };
    NonZeroUsize::new(threads).expect("there are some")
}

/// How long to wait, in the std world, for what has to happen: only a failure takes as long.
const PATIENCE: u64 = 5_000_000_000;

/// What a pipeline owes.
///
/// # Panics
/// When it is entered without its bound.
pub(super) fn owed<P, C, E, W>(who: &Contestant) -> Owed
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let extra = who.capabilities.bound_over_n.expect("a pipeline's bound");
    let mut owed = vec![
        (&p1_bound::PROPERTY, p1_bound::cases::<P, C, E, W>(extra)),
        (&p2_order::PROPERTY, p2_order::cases::<P, C, E, W>()),
        (&p3_close::PROPERTY, p3_close::cases::<P, C, E, W>(extra)),
        (&p4_faults::PROPERTY, p4_faults::cases::<P, C, E, W>(extra)),
        (
            &p8_figures::PROPERTY,
            p8_figures::cases::<P, C, E, W>(extra),
        ),
    ];
    if P::default().window(ONE).is_some() {
        let cases = p5_window::cases::<P, C, E, W>(extra);
        owed.push((&p5_window::PROPERTY, cases));
    }
    owed
}

/// What a parallel map owes.
pub(super) fn map_owes<M, C, E, W>() -> Owed
where
    M: ParallelMaps<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    vec![(&p7_map::PROPERTY, p7_map::cases::<M, C, E, W>())]
}

/// What a pipeline that transforms owes.
pub(super) fn workers_owe<P, C, E, W>() -> Owed
where
    P: TransformPipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    vec![(&p6_workers::PROPERTY, p6_workers::cases::<P, C, E, W>())]
}
