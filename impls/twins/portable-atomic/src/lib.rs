//! Takes the place of portable-atomic in a twin: the atomics that this machine has.

pub use flowmeter_core::hint;
pub use flowmeter_core::sync::atomic::*;
