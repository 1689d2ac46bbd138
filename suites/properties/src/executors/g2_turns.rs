//! G2: every task gets its turns. One that goes on waking itself leaves others theirs, blocking work runs once, and a
//! task that has ended is let go.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! one thread
//! task 1: wakes itself, is polled again, wakes itself, …
//! task 2: is never polled
//!
//! spawn_blocking(work): two threads run it
//! ```

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::Poll;

use flowmeter_harness::executor::Spawn;
use flowmeter_harness::sync::world;

use super::super::gate::Gate;
use super::{Case, Cases, Design, ONE, Property, Reliance, Runtime, What};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g2-turns",
    statement: "A task that goes on waking itself leaves others their turns; work runs once; what has ended is let go.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Executors(cases),
};

/// After so many turns of one task every other has had one. Executors look at common queues once in some tens of turns.
const TURNS: u32 = 300;

fn cases(design: &Design) -> Vec<Case> {
    let What::Executors(on) = design.what else {
        return Vec::new();
    };
    let mut cases = vec![Case::new("an ended task is let go", move || let_go(on))];
    // The other models are more than loom can explore.
    if world::name() != "loom" {
        cases.push(Case::new("blocking work runs once", move || runs_once(on)));
        cases.push(Case::new("a task that goes on waking itself", move || {
            wakes_itself(on, false)
        }));
        cases.push(Case::new(
            "two tasks that go on waking each other",
            move || wakes_itself(on, true),
        ));
    }
    cases
}

/// A task is spawned beside one, or two, that are always ready. Only where they do not yield their thread at all could
/// they end first.
fn wakes_itself(on: Runtime, two: bool) {
    let executor = on.executors.with_threads(ONE);
    let came = Arc::new(AtomicBool::new(false));
    let begun = Arc::new(AtomicBool::new(false));
    // Where tasks have threads of their own the system gives them turns; then the number says nothing.
    let most = if world::name() == "std" {
        1_000_000
    } else {
        TURNS
    };
    let busy = |_| {
        let (came, begun) = (Arc::clone(&came), Arc::clone(&begun));
        on.go(&executor.spawner(), async move {
            let mut turns = 0;
            poll_fn(|context| {
                if came.load(Relaxed) || turns == most {
                    return Poll::Ready(());
                }
                turns += u32::from(begun.load(Relaxed));
                context.waker().wake_by_ref();
                world::yield_now();
                Poll::Pending
            })
            .await;
            Some(turns)
        })
    };
    let busy: Vec<_> = (0..=usize::from(two)).map(busy).collect();
    let theirs = Arc::clone(&came);
    let other = on.go(&executor.spawner(), async move {
        theirs.store(true, Relaxed);
        Some(0)
    });
    begun.store(true, Relaxed);
    for mut turns in busy {
        let turns = world::block_on(turns.take_async());
        holds!(
            turns.is_ok_and(|turns| turns < most),
            "G2: a task had {turns:?} turns, and another none"
        );
    }
    drop(other);
}

/// Several pieces of work, begun by the executor and by tasks, are run once each.
fn runs_once(on: Runtime) {
    let pieces = 4;
    let executor = on.executors.with_threads(ONE);
    let ran: Arc<[AtomicUsize]> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
    let (mut tx, mut rx) = on.open::<usize>(pieces);
    for piece in 0..pieces {
        let ran = Arc::clone(&ran);
        let another = tx.another();
        let Some(mut mine) = another else { return };
        let work = move || {
            ran[piece].fetch_add(1, Relaxed);
            let _ = mine.offer(piece);
        };
        match piece % 2 {
            0 => executor.spawn_blocking(work),
            _ => executor.spawner().spawn_blocking(work),
        }
    }
    for _ in 0..pieces {
        let piece = world::block_on(rx.take_async());
        holds!(piece.is_ok(), "G2: work was lost");
    }
    drop(executor);
    let _ = tx.offer(0);
    for (piece, ran) in ran.iter().enumerate() {
        let times = ran.load(Relaxed);
        holds!(times == 1, "G2: work {piece} ran {times} times");
    }
}

/// Opens its gate when it is dropped.
struct Held(Gate);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// What a task holds is dropped when it ends, and not only with its executor. If it is not, this waits for ever.
fn let_go(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let gate = Gate::default();
    let held = Held(gate.clone());
    let mut results = on.go(&executor.spawner(), async move {
        let _held = held;
        Some(1)
    });
    let result = world::block_on(results.take_async());
    holds!(result == Ok(1), "G1: a block has no result");
    world::block_on(gate.pass());
    drop(executor);
}
