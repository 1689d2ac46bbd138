//! When a loop of a pipeline lets other tasks run.
//!
//! What a thread wakes, some executors keep for that thread: nobody else finds it until the thread is done with the task that it
//! runs (tokio's LIFO slot). So a loop that has called another for the next input goes behind it once, before work that
//! may hold up the thread; else a burst of such items would run on one core, and those that wait for each other for ever.
//! And a loop whose items never wait would keep its thread from all other tasks, so it gives way now and then anyway.

use flowmeter_harness::executor::give_way;

/// After so many items a loop gives way.
const ITEMS: usize = 64;

/// What a loop has done since it last gave way.
#[derive(Debug, Default)]
pub(super) struct Stint {
    items: usize,
}

impl Stint {
    /// Has another item. `called`: another loop was woken for the one behind it.
    pub(super) async fn goes_on(&mut self, called: bool) {
        self.items += 1;
        if called || self.items == ITEMS {
            self.items = 0;
            give_way().await;
        }
    }
}
