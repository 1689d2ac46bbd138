//! The measuring engine: rounds, forks, windows, histograms, noise.
//!
//! A contestant is timed in a child process that speaks one line protocol, idle on a pipe while others
//! run; the parent interleaves windows among the children. What a child does in a window is a
//! [`Stage`]: the engine knows no workload and no implementation.

mod stage;

pub use stage::{LatencySample, Sample, Stage, StageError, WindowSpec};
