//! The one list of who takes part. Nothing outside this file names an implementation.

use flowmeter_harness::registry::{Enrol, Registry};

/// Everybody: ours in every world, the published crates in the std world.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everybody;

impl Registry for Everybody {
    fn channels<H: Enrol>(self, _hall: &mut H) {}
}
