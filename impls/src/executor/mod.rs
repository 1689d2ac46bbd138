//! Our executors.

pub mod fixed_pool;

pub use flowmeter_harness::executor::{Executors, Spawn, go};
