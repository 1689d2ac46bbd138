//! The tests and measurements of implementations: [`properties`] that prove them, [`workloads`] that time them in
//! [`scenario`]s, and the `flowmeter` command for both.
//!
//! Workloads are generic over a [`Registry`](flowmeter_harness::registry::Registry), so that a crate with
//! implementations of its own can use them. Properties are not: they see designs without their types. Nor is the
//! command: it holds a [`Catalogue`](catalogue::Catalogue) and the [`Worlds`](worlds::Worlds) of its program.

pub mod base;
pub mod campaign;
mod claims;
pub mod cli;
pub mod cost;
pub mod descriptions;
pub mod foreign;
pub mod isolation;
mod layouts;
pub mod mutants;
pub mod process;
pub mod proving;
pub mod sites;
pub mod smoke;
mod sweep;
pub mod timed;
mod twins;
mod without;
pub mod worlds;

pub use flowmeter_properties as properties;
pub use flowmeter_workloads::{catalogue, scenario, workloads};

pub use claims::holding as claims_holding;
