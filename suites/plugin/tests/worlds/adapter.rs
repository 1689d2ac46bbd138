//! These families have the traits themselves.

pub use super::flowmeter_impls::executor::thread_per_task::ThreadPerTask;
pub use super::flowmeter_impls::pipeline::Unordered;
