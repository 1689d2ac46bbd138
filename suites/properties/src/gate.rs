//! Gates at which the tasks of a model wait.
//!
//! A gate uses plain std primitives in every world: it must add no ordering between the threads of a model, and no
//! step to their schedule. Its critical sections run no code of a world.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use flowmeter_harness::channel::{Buffer, Offered};
use flowmeter_harness::sync::world;

use crate::design::Channels;
use crate::design::executors::Executor;
use crate::patience::{end, until};

/// Blocks all until it is opened.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    open: bool,
    wakers: Vec<Waker>,
}

const WHOLE: &str = "no thread panics while it holds the lock";

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
            // Before the lock, and dropped after it: a waker may be code of a world.
            let waker = context.waker().clone();
            let mut waiting = gate.0.lock().expect(WHOLE);
            if waiting.open {
                return Poll::Ready(());
            }
            waiting.wakers.push(waker);
            Poll::Pending
        })
    }
}

/// How many tasks of that executor have panicked, once `expected` have or too much time has passed. An executor counts
/// a task when it has ended, a moment after its channels show it.
pub(super) fn panics(executor: &Executor, expected: u64) -> u64 {
    until(end(), || (executor.panics() >= expected).then_some(()));
    executor.panics()
}

/// Waits until no other thread can run. The std world cannot know that moment: there it waits until `reached` is
/// true or too much time has passed.
pub(super) fn quiesce(channels: Channels, reached: impl Fn() -> bool) {
    // A channel of the design itself: the checker must see an order between this thread and the one that rescues it.
    let opened = channels.open(Buffer::fixed(1));
    let (mut still, mut stillness) = opened.expect("a family with futures has a buffer");
    if world::on_quiescence(move || assert_eq!(still.offer(()), Offered::Done)) {
        let rescued = world::block_on(stillness.take_async());
        return assert_eq!(rescued, Ok(()));
    }
    until(end(), || reached().then_some(()));
}
