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

use flowmeter_harness::sync::world;

use super::{Case, Cases, Property, Reliance};
use crate::design::pipelines::{Design, What};

pub use clock::Clock;

/// How many threads a model's executor has.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// The threads of an executor on which tasks run at once.
fn several() -> NonZeroUsize {
    let threads = if world::name() == "std" { 4 } else { 2 };
    NonZeroUsize::new(threads).expect("there are some")
}

/// How long to wait, in the std world, for what has to happen: only a failure takes as long.
const PATIENCE: u64 = 5_000_000_000;
