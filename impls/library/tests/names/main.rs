//! The names that people look for: documentation examples of other crates, word for word but for the crate, and what
//! this crate promises beyond them.

mod core_async;
mod crossbeam;
mod flume;
mod promises;
