//! When a loop of a pipeline lets other tasks run.
//!
//! Some executors keep a woken task for the thread that woke it (tokio's LIFO slot). No other thread runs that task
//! until the thread is done with its present one. So a loop that has woken another loop for the next input yields once,
//! before work that may block the thread. Otherwise a burst of such items would run on one core, and items that wait
//! for each other would wait for ever. A loop with items that never wait would keep its thread from all other tasks, so
//! it also yields every 64 items.

use flowmeter_harness::executor::give_way;

/// After so many items a loop yields.
const ITEMS: usize = 64;

/// What a loop has done since it last yielded.
#[derive(Debug, Default)]
pub(super) struct Stint {
    items: usize,
}

impl Stint {
    /// Counts another item. `called`: another loop was woken for the next input.
    pub(super) async fn goes_on(&mut self, called: bool) {
        self.items += 1;
        if called || self.items == ITEMS {
            self.items = 0;
            give_way().await;
        }
    }
}
