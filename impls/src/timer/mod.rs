//! Our timers.
//!
//! `heap`, `hashed_wheel` and `hierarchical_wheel` are one [`service`] around three ways to find what is due next.

mod buckets;
mod closing;
mod contained;
#[cfg(feature = "delay-queue")]
pub mod delay_queue;
pub mod futures;
pub mod hashed_wheel;
pub mod heap;
pub mod hierarchical_wheel;
pub mod service;
mod window;
