//! Checks a concurrent structure of any crate for linearizability.
//!
//! The structure is compared with a sequential [specification](Sequential). proptest draws small programs of its
//! operations. Each program runs many times, and a judge searches for an order of the operations that explains all
//! answers. If there is none, the program and its schedule are shrunk, and the test fails with a drawing of the
//! execution and a line that replays it.
//!
//! [`check!`] makes a test for each world:
//!
//! | world | what runs |
//! | --- | --- |
//! | `std` | real threads |
//! | `shuttle` | schedules of the locks, atomics and threads that the structure uses |
//! | `sim` | one schedule in which time is virtual and passes only when all threads wait |
//! | `loom` | all interleavings and memory orders of smaller programs; needs the feature `loom` |
//!
//! The explored worlds see a structure that is compiled against `flowmeter-std`, which takes the place of `std`, or
//! with the facade `flowmeter_harness::sync`. The guide `docs/own.md` has the lines of Cargo.toml.
//!
//! Invariant: what is not decided never passes. A judge without an answer, a limit of an explorer and a structure of
//! which no step was seen fail the test.

mod check;
mod draw;
mod execution;
mod finding;
mod history;
mod judge;
mod macros;
mod process;
mod program;
mod replay;
mod search;
mod sequential;
mod shrink;
mod subject;
pub mod worlds;

pub use check::Check;
pub use sequential::Sequential;
pub use subject::Subject;

/// Lets a closure of [`check!`] change the check. Its parameter has a type here, so the closure needs none.
#[doc(hidden)]
pub fn changed<P: Sequential>(
    check: Check<P>,
    change: impl FnOnce(Check<P>) -> Check<P>,
) -> Check<P> {
    change(check)
}
