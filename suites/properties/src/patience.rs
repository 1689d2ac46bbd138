//! Waits for events of real threads. In real time, waiting for ever would hang instead of failing.

use std::thread;
use std::time::Duration;

use flowmeter_harness::sync::world;

/// Nanoseconds after which an event is taken to be missing. Only a failure takes so long.
const PATIENCE: u64 = 3_000_000_000;

/// So often a wait yields before it sleeps: an event that comes is seen at once, one that is missing costs no processor.
const YIELDS: u32 = 500;

/// The moment until which to wait, also for several events.
pub(super) fn end() -> u64 {
    world::now_nanos().saturating_add(PATIENCE)
}

/// The result of the first `attempt` that has one. `None` where none has before `end`.
pub(super) fn until<R>(end: u64, mut attempt: impl FnMut() -> Option<R>) -> Option<R> {
    let mut attempts = 0;
    loop {
        let result = attempt();
        if result.is_some() || world::now_nanos() >= end {
            return result;
        }
        attempts += 1;
        if attempts > YIELDS && world::name() == "std" {
            thread::sleep(Duration::from_micros(100));
        } else {
            world::yield_now();
        }
    }
}
