//! Questions to the machine: where threads may run, and what it costs two of them to answer each other. For the std world
//! and for programs that measure; implementations ask `sync::wait_costs`.

pub mod affinity;
mod round_trips;

pub use round_trips::{RoundTrips, Waits};
