//! The measuring engine: rounds, forks, windows, histograms, noise.
//!
//! An implementation is timed in a child process that speaks a line [`protocol`] and is stopped while others run. The
//! [`parent`] interleaves windows among the children. A [`Stage`] is what a child runs in a window: the engine knows no
//! workload and no implementation.
//!
//! | module | is about |
//! | --- | --- |
//! | [`plan`], [`parent`] | what a run shall measure, and measuring or resuming it |
//! | [`child`], [`protocol`], [`group`] | an implementation's process |
//! | [`edges`], [`interval`], [`reading`], [`clock`], [`usage`], [`counters`] | what a workload counts with |
//! | [`budget`], [`order`], [`progress`] | length of windows, order of entries, progress reports |
//! | [`machine`], [`noise`], [`pin`], [`topology`] | the machine, its noise, its cores, and what they share |
//! | [`allocation`] | counting allocations, in a pass that times nothing |

pub mod allocation;
mod allocation_pass;
mod book;
mod buckets;
pub mod budget;
pub mod child;
pub mod clock;
pub mod counters;
mod course;
pub mod edges;
mod error;
pub mod group;
pub mod interval;
pub mod machine;
pub mod noise;
pub mod order;
pub mod parent;
pub mod pin;
pub mod plan;
mod process;
pub mod progress;
pub mod protocol;
pub mod reading;
mod stage;
pub mod topology;
pub mod usage;

pub use error::MeasureError;
pub use parent::{RunSummary, Settled, resume, run, run_in_looks};
pub use plan::{Entry, Plan, PlannedScenario};
pub use process::speaks;
pub use progress::{Event, Progress, Silent, Standing};
pub use stage::{LatencySample, Sample, Stage, StageError, WindowSpec};
