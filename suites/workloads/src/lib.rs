//! What is timed: [`workloads`] with parameters in [`scenario`]s, and the [`catalogue`] of all implementations of a
//! registry in them.
//!
//! Workloads are generic over the families of a [`Registry`](flowmeter_harness::registry::Registry). This package has
//! nothing of the command, so that a crate of timed code depends on little and compiles early.

pub mod catalogue;
pub mod scenario;
pub mod workloads;
