//! Our implementations, as far as their tests can share a process. One program, since each would link everything again.
//! Tests that measure the process, or that busy neighbours would disturb, are programs of their own.

#![allow(
    clippy::disallowed_macros,
    reason = "`thread_ends` has std's thread-locals; Clippy takes this allowance only at the root"
)]

mod agendas;
mod alts_macros;
mod bad_use;
mod callbacks_that_wait;
mod dead_loops;
mod pipelines_at_scale;
mod stress;
mod surface;
mod thread_ends;
#[cfg(feature = "delay-queue")]
mod timers;
