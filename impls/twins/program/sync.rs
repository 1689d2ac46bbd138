//! The facade as adapters use it: the explored world's, with the clock that twins read.

pub use flowmeter_harness::sync::shuttle::*;

/// The clock of the world.
pub mod clock {
    pub use flowmeter_harness::sync::shuttle::clock::*;
    pub use std::time::instant;
}
