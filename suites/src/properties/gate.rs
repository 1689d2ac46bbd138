//! What models of tasks wait at.
//!
//! A gate is made of std's plain primitives in every world: what a model is held by must add no ordering
//! between its threads, nor a step to their schedule. Its critical sections run no code of a world.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use flowmeter_harness::channel::{Async, Buffer, Offered};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::sync::World;

/// Lets nobody through until it is opened.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    open: bool,
    wakers: Vec<Waker>,
}

const WHOLE: &str = "nobody panics with the lock";

impl Gate {
    pub(super) fn open(&self) {
        let mut waiting = self.0.lock().expect(WHOLE);
        waiting.open = true;
        let wakers = std::mem::take(&mut waiting.wakers);
        drop(waiting);
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(super) fn pass(&self) -> impl Future<Output = ()> + Send + use<> {
        let gate = self.clone();
        poll_fn(move |context| {
            let mut waiting = gate.0.lock().expect(WHOLE);
            if waiting.open {
                return Poll::Ready(());
            }
            waiting.wakers.push(context.waker().clone());
            Poll::Pending
        })
    }
}

/// How many tasks of that executor have panicked, once as many have as are expected. A task is counted when it has ended,
/// which its channels tell a moment before; that is waited for, for `patience` nanoseconds at most.
pub(super) fn panics_of<E: Executors, W: World>(executor: &E, expected: u64, patience: u64) -> u64 {
    let end = W::now_nanos().saturating_add(patience);
    while executor.panics() < expected && W::now_nanos() < end {
        W::yield_now();
    }
    executor.panics()
}

/// Waits until nobody else can run. In the std world nobody can know that moment: there it waits until
/// `reached` answers yes, for `patience` nanoseconds at most.
pub(super) fn settle<C: Async, W: World>(patience: u64, reached: impl Fn() -> bool) {
    // The family's own channel: what the rescuer finds of this thread must be ordered for the checker.
    let (mut still, mut stillness) =
        C::open(Buffer::fixed(1)).expect("a family with futures has a buffer");
    if W::on_quiescence(move || assert_eq!(C::offer(&mut still, ()), Offered::Done)) {
        let rescued = W::block_on(C::take_async(&mut stillness));
        return assert_eq!(rescued, Ok(()));
    }
    let end = W::now_nanos().saturating_add(patience);
    while !reached() && W::now_nanos() < end {
        W::yield_now();
    }
}
