//! Puts implementations of another crate under the properties and workloads of Flowmeter. The crate names this package
//! as a dev-dependency, writes an *adapter*, and lists its implementations with their claims in [`suite!`].
//!
//! [`suite!`] makes one program, an example of that crate:
//!
//! - `cargo test` proves each property that is claimed, a test for each property and world.
//! - `cargo run --release --example NAME -- VERB` is the whole `flowmeter` command. With the feature `rivals` it also has
//!   our implementations and the published crates, to be ranked among.
//!
//! The worlds shuttle and sim need a second compilation of the crate, against `flowmeter-std` in the place of std. It is a
//! manifest without sources. The crate itself does not change, and depends on nothing of Flowmeter.
//! `suites/examples/template` is a crate of that form, and `CONTRIBUTING.md` has the steps.
//!
//! The world loom needs the feature `loom` and one more compilation, in which the crate takes its primitives from loom. It
//! cannot explore a structure over `flowmeter-std` or std.
//!
//! Invariant: a property that a world cannot decide does not pass. In particular the program refuses to explore a
//! compilation of which it sees no step. Pipelines, combinators and go blocks may have no step of their own, so of these it
//! is not asked.

mod claims;
#[doc(hidden)]
pub mod grounds;
mod probe;
mod programs;
mod suite;

use std::time::Duration;

use flowmeter_harness::registry::AsyncRegistry;
use flowmeter_harness::sync::world;
use flowmeter_impls::registry::All;

pub use flowmeter_harness::caps::Claim;
pub use flowmeter_harness::registry;
pub use flowmeter_harness::sync::Deadline;
pub use flowmeter_harness::{
    channel, combinator, executor, limiter, parallel_map, pipeline, timer, transform_pipeline,
};

#[doc(hidden)]
pub use claims::{Has, supported};
#[doc(hidden)]
pub use flowmeter_suites::catalogue::Catalogue;
#[doc(hidden)]
pub use flowmeter_suites::worlds::Worlds;
#[doc(hidden)]
pub use probe::{Otherwise, Probe};
#[doc(hidden)]
pub use programs::{Touch, Twin, commanded, tested};

/// The clock of deadlines, in the world that runs the caller.
#[must_use]
pub fn now() -> Duration {
    Duration::from_nanos(world::now_nanos())
}

/// The time left until a deadline, on the clock of the world that runs the caller: zero if it has passed, and
/// [`Duration::MAX`] for [`Deadline::NEVER`]. For an API that takes delays.
#[must_use]
pub fn left(deadline: Deadline) -> Duration {
    match deadline {
        Deadline::NEVER => Duration::MAX,
        _ => Duration::from_nanos(deadline.as_nanos()).saturating_sub(now()),
    }
}

/// The executor of async rows: that of the rivals, so that no row is timed with a better one.
#[doc(hidden)]
pub type Executor = <All as AsyncRegistry>::Executor;
/// The timer that tasks sleep on.
#[doc(hidden)]
pub type Sleep = <All as AsyncRegistry>::Sleep;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_ends_at_the_deadline_and_never_for_never() {
        assert_eq!(left(Deadline::NEVER), Duration::MAX);
        assert_eq!(left(Deadline::from_nanos(0)), Duration::ZERO);
        let hour = Duration::from_secs(3_600);
        let deadline = Deadline::after(world::now_nanos(), hour);
        let left = left(deadline);
        assert!(left <= hour && left > hour / 2, "{left:?}");
    }
}
