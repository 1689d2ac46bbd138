//! Implementations: core.async's world in Rust, and adapters of published crates.
//!
//! The same sources are compiled three times, against `std`, loom and shuttle (see `impls/loom` and
//! `impls/shuttle`). Every primitive comes from [`sync`], never from `std`. [`registry`] is the only
//! list of implementations.

#![cfg_attr(
    not(feature = "loom"),
    allow(
        clippy::disallowed_types,
        clippy::disallowed_methods,
        clippy::disallowed_macros,
        reason = "elsewhere some of the facade's names are std's own; the loom twin holds clippy.toml's bans"
    )
)]

#[cfg(feature = "loom")]
pub use flowmeter_harness::sync::loom as sync;
#[cfg(feature = "shuttle")]
pub use flowmeter_harness::sync::shuttle as sync;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use flowmeter_harness::sync::std as sync;

pub mod alts;
pub mod channel;
pub mod combinator;
pub mod executor;
pub mod guide;
pub mod limiter;
#[cfg(feature = "mutants")]
pub mod mutants;
mod own_thread;
#[cfg(feature = "peers")]
pub mod peers;
pub mod pipeline;
pub mod registry;
mod spin;
pub mod timer;
