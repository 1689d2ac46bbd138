//! Our limiters: a file (or folder) for each design, and what several of them are made of.

pub mod gcra;
mod rate;
pub mod semaphore;
