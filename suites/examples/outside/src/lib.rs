//! A channel and a timer of somebody else's, as a crate outside of Flowmeter has them.
//!
//! Their locks, threads and clock come from Flowmeter's facade, so that the same sources can be compiled against loom
//! and shuttle (`loom/Cargo.toml`, `shuttle/Cargo.toml`). Without its features the facade is the bare primitives of std.
//! What Flowmeter has to be told of them is in `adapter.rs`, and nowhere else.

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
