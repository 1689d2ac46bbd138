//! The specification of timers: what becomes of each that is armed ([`Service`]: T1 to T5, T8), and which timeouts are
//! one channel ([`Shared`]: T7).
//!
//! Moments are nanoseconds of the clock of a world; `u64::MAX` never comes.

mod service;
mod shared;
#[cfg(test)]
mod tests;

pub use service::{Event, Service, Terms};
pub use shared::{Asked, Shared};
