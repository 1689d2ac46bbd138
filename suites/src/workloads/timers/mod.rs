//! What timers go through, each in the form it has: callbacks, futures, threads held up.

pub mod churn;
pub mod expiry;
pub mod lateness;
pub mod sleepers;
pub mod storm;
