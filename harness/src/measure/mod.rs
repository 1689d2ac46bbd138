//! The measuring engine: rounds, forks, windows, histograms, noise.
//!
//! A contestant is timed in a child process that speaks one line protocol, idle on a pipe while others
//! run; the parent interleaves windows among the children. What a child does in a window is a
//! [`Stage`]: the engine knows no workload and no implementation.

pub mod clock;
pub mod edges;
mod stage;
pub mod usage;

pub use stage::{LatencySample, Sample, Stage, StageError, WindowSpec};
