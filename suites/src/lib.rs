//! What the contestants go through: [`properties`] that prove them, [`workloads`] that time them in
//! [`scenario`]s, and the `flowmeter` command over both.
//!
//! All of it is generic over a [`Registry`](flowmeter_harness::registry::Registry), so that a crate with
//! contestants of its own can use it; without the feature `command` neither the command nor our contestants
//! come along.

pub mod campaign;
#[cfg(feature = "command")]
mod claims;
#[cfg(feature = "command")]
pub mod cli;
pub mod contest;
pub mod foreign;
pub mod isolation;
#[cfg(feature = "command")]
pub mod lies;
pub mod mutants;
mod polls;
pub mod process;
pub mod properties;
pub mod proving;
pub mod roster;
pub mod scenario;
#[cfg(feature = "command")]
pub mod sites;
pub mod smoke;
pub mod workloads;
pub mod worlds;

#[cfg(feature = "command")]
pub use claims::holding as claims_holding;
