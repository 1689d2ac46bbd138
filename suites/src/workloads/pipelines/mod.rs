//! What pipelines go through, over the channels and the executor that they were entered with.

mod course;
pub mod flow;
pub mod tasks;
