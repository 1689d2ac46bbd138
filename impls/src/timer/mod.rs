//! Our timers.

mod closing;
mod daemon;
#[cfg(feature = "delay-queue")]
pub mod delay_queue;
pub mod heap;
