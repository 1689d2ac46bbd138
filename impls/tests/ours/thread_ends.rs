//! Our library in the destructors of thread-locals, which a thread runs when it ends. A put there completes callbacks,
//! wakes tasks, and has the bindings that it had before. Under loom and shuttle threads do not end like this.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "what users have beside the library is std's"
)]

use std::cell::RefCell;
use std::future::Future;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flowmeter_harness::executor::{Bindings, Executors, Spawn};
use flowmeter_impls::channel::Buffer;
use flowmeter_impls::channel::mutex::Channel;
use flowmeter_impls::executor::bindings::Frames;
use flowmeter_impls::executor::fixed_pool::FixedPool;
use flowmeter_impls::executor::thread_per_task::ThreadPerTask;

/// Longer than any wait that ends.
const LONG: Duration = Duration::from_secs(10);

/// Calls the closure when the thread ends.
struct AtTheEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            // A panic here would end the process, and with it the other tests.
            let _ = catch_unwind(AssertUnwindSafe(call));
        }
    }
}

thread_local! {
    static EARLY: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd(None)) };
    static LATE: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd(None)) };
}

/// Runs `first` on a thread, and the other two as that thread ends: one in a thread-local that existed before `first`,
/// and one in a thread-local that was made after it. Systems differ in the order of their drops.
fn as_a_thread_ends(
    first: impl FnOnce() + Send + 'static,
    ends: [impl FnOnce() + Send + 'static; 2],
) {
    let run = move || {
        let [early, late] = ends;
        EARLY.set(AtTheEnd(Some(Box::new(early))));
        first();
        LATE.set(AtTheEnd(Some(Box::new(late))));
    };
    thread::spawn(run).join().expect("it panics nowhere");
}

/// Three puts, each on a channel of its own.
fn puts(channels: &[Channel<u32>; 3]) -> [impl FnOnce() + Send + 'static; 3] {
    channels.clone().map(|channel| {
        move || {
            channel.put(7).expect("it is open");
        }
    })
}

#[test]
fn a_callback_is_called() {
    let channels = [(); 3].map(|()| Channel::new(Buffer::fixed(1)));
    let (answers, seen) = mpsc::channel();
    for channel in &channels {
        let answers = answers.clone();
        channel.take_then(move |answer| {
            answers.send(answer).expect("it is being watched");
        });
    }
    drop(answers);
    let [first, early, late] = puts(&channels);
    as_a_thread_ends(first, [early, late]);
    assert_eq!(seen.iter().collect::<Vec<_>>(), [Ok(7); 3]);
}

/// More frames than fit on a stack if they were nested (C11).
#[test]
fn a_chain_of_callbacks_needs_no_stack() {
    const LENGTH: usize = 100_000;
    let links: Vec<Channel<u32>> = (0..LENGTH)
        .map(|_| Channel::new(Buffer::Rendezvous))
        .collect();
    let (answers, seen) = mpsc::channel();
    for pair in links.windows(2) {
        let next = pair[1].clone();
        pair[0].take_then(move |answer| next.put_then(answer.expect("open") + 1, |_| {}));
    }
    links[LENGTH - 1].take_then(move |answer| answers.send(answer).expect("it is being watched"));
    let used = Channel::new(Buffer::fixed(1));
    let first = links[0].clone();
    let chain = move || first.put_then(0, |_| {});
    let acts: [Box<dyn FnOnce() + Send>; 2] = [Box::new(chain), Box::new(|| {})];
    as_a_thread_ends(move || used.put_then(0, |_| {}), acts);
    assert_eq!(seen.recv_timeout(LONG), Ok(Ok(LENGTH as u32 - 1)));
}

/// Three tasks, each of which waits on a channel of its own.
fn tasks_are_woken(executor: &impl Executors) {
    let channels = [(); 3].map(|()| Channel::new(Buffer::fixed(1)));
    let (begins, begun) = mpsc::channel();
    let (answers, seen) = mpsc::channel();
    for channel in &channels {
        let (channel, begins, answers) = (channel.clone(), begins.clone(), answers.clone());
        executor.spawn(async move {
            let mut take = Box::pin(channel.take_async());
            let taken = std::future::poll_fn(|context| {
                let polled = take.as_mut().poll(context);
                let _ = begins.send(());
                polled
            });
            answers.send(taken.await).expect("it is being watched");
        });
    }
    for _ in &channels {
        begun.recv_timeout(LONG).expect("each begins to wait");
    }
    let [first, early, late] = puts(&channels);
    as_a_thread_ends(first, [early, late]);
    for _ in &channels {
        assert_eq!(seen.recv_timeout(LONG), Ok(Ok(7)), "a task was not woken");
    }
}

#[test]
fn tasks_of_a_fixed_pool_are_woken() {
    tasks_are_woken(&FixedPool::with_threads(NonZeroUsize::MIN));
}

#[test]
fn tasks_with_threads_of_their_own_are_woken() {
    tasks_are_woken(&ThreadPerTask::with_threads(NonZeroUsize::MIN));
}

#[cfg(feature = "work-stealing")]
#[test]
fn tasks_of_a_stealing_executor_are_woken() {
    use flowmeter_impls::executor::work_stealing::WorkStealing;

    tasks_are_woken(&WorkStealing::with_threads(NonZeroUsize::MIN));
}

#[test]
fn bindings_are_conveyed() {
    #[derive(Clone, PartialEq, Debug)]
    struct User(&'static str);

    let pool = FixedPool::with_threads(NonZeroUsize::MIN);
    let (answers, seen) = mpsc::channel();
    let acts = [(); 3].map(|()| {
        let (spawner, answers) = (Frames::conveying(pool.spawner()), answers.clone());
        move || {
            Frames::bind(User("ann"), || {
                spawner.spawn(async move {
                    let bound = Frames::bound::<User>();
                    answers.send(bound).expect("it is being watched");
                });
            });
        }
    });
    drop(answers);
    let [first, early, late] = acts;
    as_a_thread_ends(first, [early, late]);
    for _ in 0..3 {
        assert_eq!(seen.recv_timeout(LONG), Ok(Some(User("ann"))));
    }
}
