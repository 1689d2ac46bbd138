//! Our channels: a file (or folder) for each design.
//!
//! Every design has the shared handle of core.async, `Channel`, and counted halves, [`Producer`](halves::Producer) and
//! [`Consumer`](halves::Consumer), with the same operations; [the guide](crate::guide) shows them at work.

pub use flowmeter_harness::channel::{
    AltsError, BatchError, Buffer, Offered, Polled, PutError, PutUntilError, ReserveError,
    TakeError, TakeUntilError, TransformError,
};

pub mod batch;
pub mod callback;
pub mod condvar;
mod engine;
mod family;
pub mod halves;
pub mod lock_free;
pub mod mutex;
pub mod ordered_locks;
pub mod permits;
mod promise;
#[cfg(feature = "futures")]
pub mod streams;
pub(crate) mod trampoline;
pub mod transforms;
pub mod values;
pub mod watchers;
