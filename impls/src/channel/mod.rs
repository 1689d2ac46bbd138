//! Our channels: a file or folder for each design.
//!
//! `mutex`, `ordered_locks` and `lock_free` have the shared handle of core.async, `Channel`, and counted halves,
//! [`Producer`](halves::Producer) and [`Consumer`](halves::Consumer), with the same operations. [The guide](crate::guide)
//! shows them in use. `condvar` and `spsc_ring` have the operations of the harness's traits alone.

pub use flowmeter_harness::channel::{
    AltsError, BatchError, Buffer, Offered, Polled, PutError, PutUntilError, ReserveError,
    TakeError, TakeUntilError, TransformError,
};

pub mod batch;
pub(crate) mod boxed;
mod by_name;
pub mod callback;
mod cell;
pub mod condvar;
pub mod design;
mod engine;
mod family;
mod front;
pub mod halves;
pub mod handle;
pub mod lock_free;
pub mod mutex;
mod notify;
pub mod ordered_locks;
mod outlook;
mod pace;
pub mod permits;
mod promise;
pub mod spsc_ring;
#[cfg(feature = "futures")]
pub mod streams;
pub(crate) mod trampoline;
mod transformed;
pub mod transforms;
pub mod values;
pub mod watchers;

/// Whether schedules are explored here. Then looking again finds nothing new, and few requests are made.
const EXPLORED: bool = cfg!(any(feature = "loom", feature = "shuttle"));
