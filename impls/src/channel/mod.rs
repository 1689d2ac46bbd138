//! Our channels: a file (or folder) for each design.

pub mod condvar;
pub mod halves;
pub mod mutex;
pub mod ordered_locks;
mod trampoline;
pub mod transforms;
