//! spin_sleep: the system's sleep, with a spin for the last stretch. A reference row: it blocks its thread as the
//! system's own sleep does, and pays for its punctuality in CPU time.
//!
//! | offered | where the crate documents it |
//! | --- | --- |
//! | blocking-sleep | `SpinSleeper::sleep_until`: it sleeps "until the `deadline` less the configured native accuracy. Then spins until the specified deadline is reached" |
//!
//! Nothing is claimed. Its defaults are used, which "should be good enough for most cases". On Linux it stops sleeping
//! 125 us before the deadline, and yields to other threads while it spins.

use ::spin_sleep::{SpinSleeper, native_sleep};
use ::std::time::Duration;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::BlockingSleep;

use crate::sync::clock;

/// A sleep that ends in a spin.
#[derive(Clone, Copy, Debug)]
pub struct SpinSleep(SpinSleeper);

impl BlockingSleep for SpinSleep {
    fn start() -> Self {
        SpinSleep(SpinSleeper::default())
    }

    #[inline]
    fn sleep_until(&self, deadline: Deadline) {
        match clock::instant(deadline) {
            Some(at) => self.0.sleep_until(at),
            // A deadline that never comes has no `Instant`.
            None => loop {
                native_sleep(Duration::MAX);
            },
        }
    }
}
