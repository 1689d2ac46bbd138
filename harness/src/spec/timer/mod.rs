//! The specification of timers: the fate of each armed timer ([`Service`]: T1 to T5, T8), and which timeouts share a
//! channel ([`Shared`]: T7).
//!
//! Moments are nanoseconds of a world's clock; `u64::MAX` never comes.

mod service;
mod shared;
#[cfg(test)]
mod tests;

pub use service::{Event, Service, Terms};
pub use shared::{Asked, Shared};
