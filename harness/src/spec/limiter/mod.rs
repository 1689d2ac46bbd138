//! The specification of limiters: how many permits may be granted in any length of time ([`Limit`]: L1, L2, L4),
//! and, of those who wait, who is served when ([`Waiters`]: L1's order of service, L3).
//!
//! Moments are nanoseconds of the clock of a world. From outside a grant is known to lie between the call of an
//! acquisition and its return, both of them included ([`Grant`]); where time stands still while anybody can run, the
//! two are one moment. Only what holds wherever the grants lie in there is a violation.

mod limit;
#[cfg(test)]
mod tests;
mod waiters;

pub use limit::{Grant, Limit, fullest, judge};
pub use waiters::{Event, Terms, Waiters};
