//! Our executors, and what works with any of them: go blocks as state machines, and bindings.

pub mod bindings;
mod blocking;
pub mod fixed_pool;
mod slots;
pub mod state_machine;
pub mod thread_per_task;
#[cfg(feature = "work-stealing")]
pub mod work_stealing;

pub use flowmeter_harness::executor::{
    Bindings, Executors, Frame, GoBlocks, Port, Selected, Spawn, Step, go,
};
