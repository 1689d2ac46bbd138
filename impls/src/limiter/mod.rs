//! Our limiters: a file (or folder) for each design, and what several of them are made of.

pub mod gcra;
pub mod line;
mod rate;
pub mod semaphore;
pub mod token_bucket;
