//! The work on an item, in the task of the loop that has begun it. A task of its own would cost more than all the rest
//! for an item that never waits.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::{Pin, pin};

use flowmeter_harness::executor::Spawn;

use crate::sync::caught;

/// Works on an item until `over` signals that the item has ended and its loop may go on. The rest of `work` then
/// belongs to no item. A panic ends the work only (P4), and is raised again in a task of its own, where the executor
/// counts it.
pub(super) async fn work_until<F: Future<Output = ()>>(
    mut work: Pin<&mut Option<F>>,
    over: impl Future<Output = ()>,
    spawner: &mut impl Spawn,
) {
    let mut over = pin!(over);
    poll_fn(|context| {
        let polled = caught(|| {
            let working = work.as_mut().as_pin_mut();
            if working.is_some_and(|working| working.poll(context).is_ready()) {
                work.set(None);
            }
        });
        if let Err(panic) = polled {
            // A mutable borrow: a spawner need not be shareable among threads.
            let spawner = &mut *spawner;
            spawner.spawn(async { resume_unwind(panic) });
            // What it held was dropped as it unwound.
            work.set(None);
        }
        over.as_mut().poll(context)
    })
    .await;
}
