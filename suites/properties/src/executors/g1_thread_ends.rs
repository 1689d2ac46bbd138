//! G1 as threads end: the destructor of a thread-local may wake a task, when the library's own thread-locals of that
//! thread are gone or not. The task runs all the same.
//!
//! The smallest history that violates it:
//!
//! ```text
//! thread                                     block
//!                                            waits
//! wakes another task, and ends
//! drops the thread-locals of the executor
//! drops a user's, which wakes the block      is never polled again
//! ```

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_harness::channel::Polled;
use flowmeter_harness::sync::world;

use super::super::gate::Gate;
use super::{Case, Cases, Design, ONE, Property, Reliance, Runtime, What};
use crate::design::Rx;
use crate::patience::{end, until};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g1-thread-ends",
    statement: "A task that is woken by the destructor of a thread-local, as its thread ends, runs all the same.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Executors(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Executors(on) = design.what else {
        return Vec::new();
    };
    // In the other worlds threads do not end like this.
    if world::name() != "std" {
        return Vec::new();
    }
    vec![Case::new("a block that waits", move || woken(on))]
}

/// Calls the closure when the thread ends.
struct AtTheEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            // A panic here would end the process.
            let _ = catch_unwind(AssertUnwindSafe(call));
        }
    }
}

thread_local! {
    static EARLY: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd(None)) };
    static LATE: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd(None)) };
}

/// Of three blocks one is woken before its thread ends, and two as it ends: by a thread-local that was there before the
/// executor was used, and by one that came after. Systems differ in the order of their drops.
fn woken(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let waiting = Arc::new(AtomicUsize::new(0));
    let gates = [(); 3].map(|()| Gate::default());
    let results = gates.each_ref().map(|gate| {
        let (pass, waiting) = (gate.pass(), Arc::clone(&waiting));
        on.go(&executor.spawner(), async move {
            let mut pass = pin!(pass);
            let mut counted = false;
            poll_fn(|context| {
                let polled = pass.as_mut().poll(context);
                if !std::mem::replace(&mut counted, true) {
                    waiting.fetch_add(1, Ordering::Relaxed);
                }
                polled
            })
            .await;
            Some(7)
        })
    });
    while waiting.load(Ordering::Relaxed) < gates.len() {
        world::yield_now();
    }
    let ends = world::spawn(move || {
        let [early, now, late] = gates;
        EARLY.set(AtTheEnd(Some(Box::new(move || early.open()))));
        now.open();
        LATE.set(AtTheEnd(Some(Box::new(move || late.open()))));
    });
    world::join(ends);
    let end = end();
    let seen = results.map(|results| first(results, end));
    drop(executor);
    holds_eq!(
        seen,
        [Some(7); 3],
        "G1: the results of blocks that were woken early, before, and late as a thread ended"
    );
}

/// The first result; none where it does not come in time.
fn first(mut results: Rx<u32>, end: u64) -> Option<u32> {
    until(end, || match results.poll() {
        Polled::Done(result) => Some(Some(result)),
        Polled::Closed => Some(None),
        Polled::WouldWait => None,
    })
    .flatten()
}
