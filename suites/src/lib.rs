//! What the contestants go through.

pub mod contest;
pub mod scenario;
pub mod workloads;
