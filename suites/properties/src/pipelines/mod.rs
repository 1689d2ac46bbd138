//! The properties of pipelines, a file for each. Unless it says otherwise, a model has an executor of one thread and
//! the channels that the registry names.

mod clock;
mod flight;
pub(super) mod p1_bound;
pub(super) mod p2_order;
pub(super) mod p2_several;
pub(super) mod p3_close;
pub(super) mod p3_idle;
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

/// The number of threads of a model's executor.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// The number of threads of an executor that runs tasks in parallel.
fn several() -> NonZeroUsize {
    let threads = if world::name() == "std" { 4 } else { 2 };
    NonZeroUsize::new(threads).expect("there are some")
}
