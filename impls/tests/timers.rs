//! What no property of timers can see: panics are counted, wake-ups precise, and ticks on their grid.

#![expect(clippy::disallowed_types, reason = "these tests run against std alone")]

use std::future::{pending, ready};
use std::panic::resume_unwind;
use std::time::Duration;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::{Arc, block_on, clock};
use flowmeter_harness::timer::{Cancel, Reset, Sleep, Timers};
use flowmeter_impls::channel::mutex::Channel;
use flowmeter_impls::timer::delay_queue::DelayQueueTimers;
use flowmeter_impls::timer::futures::{Elapsed, Interval, timeout_at};
use flowmeter_impls::timer::hashed_wheel::HashedWheel;
use flowmeter_impls::timer::heap::Heap;
use flowmeter_impls::timer::hierarchical_wheel::{HierarchicalWheel, Wheel};
use flowmeter_impls::timer::service::{Spinning, TimerService};

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
    let wheel = HierarchicalWheel::new();
    one_panics(&wheel);
    assert_eq!(wheel.panics(), 1);
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
fn services_wake_without_slack_and_the_delay_queue_with_the_default() {
    let Some(default) = timer_slack() else {
        return;
    };
    assert_ne!(default, 1, "nothing to tell apart");
    assert_eq!(slack_of(&Heap::new()), Some(1));
    assert_eq!(slack_of(&HierarchicalWheel::new()), Some(1));
    assert_eq!(slack_of(&DelayQueueTimers::new()), Some(default));
}

#[test]
fn ticks_lie_on_their_grid_however_late_each_is_noticed() {
    let timers = HierarchicalWheel::new();
    let period = Duration::from_micros(300);
    let first = clock::after(period);
    let mut interval = Interval::new(&timers, first, period);
    for tick in 0..20 {
        let due = block_on(interval.tick());
        assert_eq!(due, Deadline::after(first.as_nanos(), tick * period));
        assert!(clock::has_passed(due));
    }
    // Five behind, the last of them by less than a period.
    let next = first.as_nanos() + 20 * 300_000;
    assert_eq!(interval.skip(next + 4 * 300_000 + 1), 5);
    let due = block_on(interval.tick());
    assert_eq!(due.as_nanos(), next + 5 * 300_000);
    assert_eq!(interval.skip(0), 0);
}

#[test]
fn a_timeout_ends_what_never_ends_and_nothing_that_is_ready() {
    let timers = HashedWheel::new();
    let soon = clock::after(Duration::from_millis(1));
    assert_eq!(
        block_on(timeout_at(&timers, soon, pending::<()>())),
        Err(Elapsed)
    );
    assert!(clock::has_passed(soon));
    assert_eq!(block_on(timeout_at(&timers, NOW, ready(7))), Ok(7));
    let never = timeout_at(&timers, Deadline::NEVER, timers_sleep(&timers));
    assert_eq!(block_on(never), Ok(()));
}

fn timers_sleep(timers: &impl Sleep) -> impl Future<Output = ()> + 'static {
    timers.sleep_until(clock::after(Duration::from_millis(1)))
}

/// A callback may drop the service that calls it, arm what is past, and call off what has fired.
#[test]
fn callbacks_may_do_anything_to_their_service() {
    fn bad_use<T: Cancel + Reset>() {
        let timers = Arc::new(T::start());
        let heard = Channel::new(Buffer::Unbounded);
        let (inside, said) = (Arc::clone(&timers), heard.clone());
        let first = timers.schedule(NOW, move |_| {
            let again = said.clone();
            inside.schedule(NOW, move |_| again.put("again").expect("nobody closes it"));
            said.put("first").expect("nobody closes it");
        });
        assert_eq!(heard.take(), Ok("first"));
        assert_eq!(heard.take(), Ok("again"));
        assert!(!timers.cancel(&first), "it has fired");
        assert!(!timers.reset(&first, NOW), "it has fired");
        let far = timers.schedule(Deadline::NEVER, |_| {});
        assert!(timers.cancel(&far));
        assert!(!timers.cancel(&far), "it was called off");
        assert!(!timers.reset(&far, NOW), "it was called off");
        // The last one that holds the service is its own callback.
        let (last, said) = (Arc::clone(&timers), heard.clone());
        let (go, gone) = (Channel::new(Buffer::Unbounded), Arc::downgrade(&timers));
        let wait = go.clone();
        timers.schedule(NOW, move |_| {
            wait.take().expect("nobody closes it");
            drop(last);
            said.put("dropped").expect("nobody closes it");
        });
        drop(timers);
        go.put(()).expect("nobody closes it");
        assert_eq!(heard.take(), Ok("dropped"));
        assert!(gone.upgrade().is_none());
    }
    bad_use::<Heap>();
    bad_use::<HashedWheel>();
    bad_use::<HierarchicalWheel>();
    bad_use::<TimerService<Spinning<Wheel>>>();
}
