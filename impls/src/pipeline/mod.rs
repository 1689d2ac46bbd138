//! Our pipelines, and what they share with those of published crates: how they wait at their channels.

mod between;
pub mod core_async;
mod ended;
pub mod finishes;
mod item;
mod lead;
mod look;
mod loops;
mod output;
mod ports;
mod room;
mod stint;
#[cfg(test)]
mod tests;
mod turns;
pub mod unordered;
pub mod upmap;
pub mod windowed;
pub mod workers;

pub use core_async::{CoreAsync, Swapped};
pub use finishes::Finishes;
pub use flowmeter_harness::transform_pipeline::TransformPipelines;
pub(crate) use output::{Demand, Output};
pub(crate) use ports::{ONE, TOO_MANY, next, open, put};
pub use unordered::Unordered;
pub use upmap::{EagerUpmap, Upmap, upmap};
pub use windowed::Windowed;
#[cfg(feature = "peers")]
pub(crate) use workers::emitted;
pub use workers::{Computing, HoldingUp, Workers, each_by};
