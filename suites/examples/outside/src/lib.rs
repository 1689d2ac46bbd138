//! A channel and a timer of another crate, as one outside of Flowmeter has them.
//!
//! Their locks, threads and clock come from Flowmeter's facade, so that the same sources can be compiled against loom
//! and shuttle (`loom/Cargo.toml`, `shuttle/Cargo.toml`). Without its features the facade is the bare primitives of
//! std. All code that is specific to Flowmeter is in `adapter.rs`.

#[cfg(feature = "loom")]
use flowmeter_harness::sync::loom as sync;
#[cfg(feature = "shuttle")]
use flowmeter_harness::sync::shuttle as sync;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
use flowmeter_harness::sync::std as sync;

mod adapter;
pub mod queue;
pub mod ticker;

pub use adapter::{Bounded, Mine};
