//! What models of tasks wait at.
//!
//! A gate is made of std's plain primitives in every world: what a model is held by must add no ordering
//! between its threads, nor a step to their schedule. Its critical sections run no code of a world.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use flowmeter_harness::channel::{Buffer, Offered};
use flowmeter_harness::sync::world;

use crate::design::Channels;
use crate::design::executors::Executor;

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
pub(super) fn panics(executor: &Executor, expected: u64, patience: u64) -> u64 {
    let end = world::now_nanos().saturating_add(patience);
    while executor.panics() < expected && world::now_nanos() < end {
        world::yield_now();
    }
    executor.panics()
}

/// Waits until no other thread can run. In the std world that moment cannot be known: there it waits until
/// `reached` answers yes, for `patience` nanoseconds at most.
pub(super) fn quiesce(channels: Channels, patience: u64, reached: impl Fn() -> bool) {
    // The design's own channel: what the rescuer finds of this thread must be ordered for the checker.
    let opened = channels.open(Buffer::fixed(1));
    let (mut still, mut stillness) = opened.expect("a family with futures has a buffer");
    if world::on_quiescence(move || assert_eq!(still.offer(()), Offered::Done)) {
        let rescued = world::block_on(stillness.take_async());
        return assert_eq!(rescued, Ok(()));
    }
    let end = world::now_nanos().saturating_add(patience);
    while !reached() && world::now_nanos() < end {
        world::yield_now();
    }
}
