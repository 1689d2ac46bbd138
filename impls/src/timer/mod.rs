//! Our timers.

mod closing;
mod contained;
#[cfg(feature = "delay-queue")]
pub mod delay_queue;
pub mod heap;
