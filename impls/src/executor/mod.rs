//! Our executors, and what runs go blocks that are state machines on any of them.

pub mod fixed_pool;
pub mod state_machine;

pub use flowmeter_harness::executor::{
    Executors, Frame, GoBlocks, Port, Selected, Spawn, Step, go,
};
