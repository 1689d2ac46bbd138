//! The program of the twins: published crates, compiled as they are over another `std`. Shuttle schedules its locks and
//! atomics.
//!
//! It has no command. `cargo flowmeter check` starts it for the cells of published crates in the worlds shuttle and
//! sim. `scripts/twins` writes its manifest and builds it. The adapters are those of the std world, from the same
//! files.

mod registry;
mod sync;

#[path = "../../src/own_thread.rs"]
mod own_thread;
#[path = "../../src/peers/mod.rs"]
pub mod peers;

/// What adapters and registry take from our own implementations.
#[path = "."]
pub mod channel {
    pub use flowmeter_impls_shuttle::channel::*;

    #[path = "../../src/channel/trampoline.rs"]
    pub(crate) mod trampoline;
}

/// What pipelines are made of.
#[path = "."]
mod pipeline {
    #[path = "../../src/pipeline/output.rs"]
    #[allow(dead_code)]
    mod output;
    #[path = "../../src/pipeline/ports.rs"]
    #[allow(dead_code)]
    mod ports;

    pub(crate) use output::{Demand, Output};
    pub(crate) use ports::{ONE, TOO_MANY, next, open};
}

use std::process::ExitCode;

use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_suites::cost::Keeping;
use flowmeter_suites::process;
use flowmeter_suites::worlds::Worlds;
use registry::{Nothing, Twins};

// As in the command.
#[global_allocator]
static ALLOCATOR: Keeping = Keeping;

fn main() -> ExitCode {
    let worlds = Worlds::of(Nothing)
        .with::<Shuttle>(Twins)
        .with::<Sim>(Twins);
    process::serve_if_asked(&worlds).unwrap_or_else(|| {
        eprintln!("this program is for `cargo flowmeter check`, not for you");
        ExitCode::from(2)
    })
}
