//! Our limiters: a file or folder for each design, and the parts that they share.

pub mod gcra;
pub mod line;
mod rate;
pub mod semaphore;
pub mod token_bucket;
