//! Workloads of pipelines, over the channels and the executor that the registry names for them.

mod course;
pub mod flow;
pub mod tasks;
