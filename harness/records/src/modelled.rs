//! Costs that are counted and not timed.

use flowmeter_harness::sync::cost::{Counts, Pace};
use serde::{Deserialize, Serialize};

/// What messages cost a channel in shared memory and in allocations, under a fixed schedule: also the line that
/// `cost --format json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelledCost {
    /// The scenario whose tasks and channel were counted.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// The schedule.
    pub pace: Pace,
    /// Messages that cost that.
    pub messages: u64,
    /// The counts of so many messages; `None` where the execution failed.
    pub counts: Option<Counts>,
    /// Why it failed.
    pub error: Option<String>,
}

impl ModelledCost {
    /// Name and number of each count, per message, in the order of tables. The number is `None` where it was not counted.
    pub fn per_message(&self) -> Option<[(&'static str, Option<f64>); 7]> {
        let per_message = |count: u64| count as f64 / self.messages as f64;
        let each = |(name, count): (_, Option<u64>)| (name, count.map(per_message));
        Some(self.counts?.each().map(each))
    }
}
