//! Our channels: a file (or folder) for each design.

pub mod condvar;
pub mod halves;
pub mod mutex;
pub mod transforms;
