//! Our executors, and what goes with any of them: go blocks that are state machines, and bindings.

pub mod bindings;
pub mod fixed_pool;
pub mod state_machine;

pub use flowmeter_harness::executor::{
    Bindings, Executors, Frame, GoBlocks, Port, Selected, Spawn, Step, go,
};
