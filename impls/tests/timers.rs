//! What no property of timers can see: panics are counted, and the thread's wake-ups are precise.

use std::panic::resume_unwind;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Timers;
use flowmeter_impls::channel::mutex::Channel;
use flowmeter_impls::timer::delay_queue::DelayQueueTimers;
use flowmeter_impls::timer::heap::Heap;

const NOW: Deadline = Deadline::from_nanos(0);

fn one_panics<T: Timers>(timers: &T) {
    // Past the hook, which would print it.
    timers.schedule(NOW, |_| resume_unwind(Box::new("a callback's own fault")));
    let heard = Channel::new(Buffer::Unbounded);
    let said = heard.clone();
    timers.schedule(NOW, move |_| said.put(()).expect("nobody closes it"));
    heard.take().expect("the timer goes on");
}

#[test]
fn callbacks_that_panic_are_counted() {
    let heap = Heap::new();
    one_panics(&heap);
    assert_eq!(heap.panics(), 1);
    let delay_queue = DelayQueueTimers::new();
    one_panics(&delay_queue);
    assert_eq!(delay_queue.panics(), 1);
}

/// The calling thread's, in nanoseconds; `None` where the system does not say.
fn timer_slack() -> Option<u64> {
    let thread = std::fs::read_link("/proc/thread-self").ok()?;
    let number = thread.file_name()?.to_str()?;
    let slack = std::fs::read_to_string(format!("/proc/{number}/timerslack_ns")).ok()?;
    slack.trim().parse().ok()
}

/// Of the thread that calls back.
fn slack_of<T: Timers>(timers: &T) -> Option<u64> {
    let heard = Channel::new(Buffer::Unbounded);
    let said = heard.clone();
    timers.schedule(NOW, move |_| {
        said.put(timer_slack()).expect("nobody closes it");
    });
    heard.take().expect("nobody closes it")
}

#[test]
fn the_heap_wakes_without_slack_and_the_delay_queue_with_the_default() {
    let Some(default) = timer_slack() else {
        return;
    };
    assert_ne!(default, 1, "nothing to tell apart");
    assert_eq!(slack_of(&Heap::new()), Some(1));
    assert_eq!(slack_of(&DelayQueueTimers::new()), Some(default));
}
