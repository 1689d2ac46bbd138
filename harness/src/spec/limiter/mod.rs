//! The specification of limiters: how many permits may be granted in any interval ([`Limit`]: L1, L2, L4), and the
//! order in which waiters are served ([`Waiters`]: L1's order of service, L3).
//!
//! Moments are nanoseconds of a world's clock. From outside, a grant is only known to lie between the call of an
//! acquisition and its return, both included ([`Grant`]). If time advances only while no thread can run, the two are
//! one moment. An observation is a violation only if no placement of the grants explains it.

mod limit;
#[cfg(test)]
mod tests;
mod waiters;

pub use limit::{Grant, Limit, fullest, judge};
pub use waiters::{Event, Terms, Waiters};
