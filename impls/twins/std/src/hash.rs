//! As `std::hash`, with random keys that are part of the schedule. A `HashMap` that names no hasher has std's keys.

pub use ::std::hash::*;

use flowmeter_core::engine::random;

/// As `std::hash::RandomState`.
#[derive(Clone, Copy, Debug)]
pub struct RandomState(u64);

#[allow(missing_docs, reason = "std documents them")]
impl RandomState {
    #[must_use]
    pub fn new() -> RandomState {
        RandomState(random())
    }
}

impl Default for RandomState {
    fn default() -> Self {
        RandomState::new()
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;
    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}
