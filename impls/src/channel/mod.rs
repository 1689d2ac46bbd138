//! Our channels: a file (or folder) for each design.

pub mod condvar;
pub mod mutex;
pub mod ordered_locks;
mod trampoline;
