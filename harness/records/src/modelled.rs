//! Costs that are counted and not timed.

use flowmeter_harness::sync::cost::{Counts, Pace};
use serde::{Deserialize, Serialize};

/// What messages cost a channel in shared memory under a fixed schedule: also the line that `cost --format json` prints.
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
    /// Name and number of each count, per message, in the order of tables.
    pub fn per_message(&self) -> Option<[(&'static str, f64); 6]> {
        let each = |(name, count)| (name, count as f64 / self.messages as f64);
        Some(self.counts?.each().map(each))
    }
}
