//! Takes the place of `core` in a twin: a published crate, compiled from unchanged sources and explored.
//!
//! Atomics and `spin_loop` are scheduling points of the explored world. Everything else is core's own. Outside an
//! execution every operation does what core's does.

#![allow(
    ambiguous_glob_reexports,
    reason = "a name that is defined here hides core's"
)]

pub use ::core::*;

pub mod engine;

/// As `core::sync`.
pub mod sync {
    pub use ::core::sync::*;
    pub mod atomic;
}

/// As `core::hint`.
pub mod hint {
    pub use crate::engine::spin_loop;
    pub use ::core::hint::*;
}
