//! Our limiters: a file (or folder) for each design.

pub mod semaphore;
