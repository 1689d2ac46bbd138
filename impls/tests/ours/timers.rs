//! What the properties of timers do not check: panics are counted, wake-ups are precise, and ticks stay on their
//! grid.

#![expect(clippy::disallowed_types, reason = "these tests run against std alone")]

use std::future::{pending, ready};
use std::panic::resume_unwind;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::{Arc, block_on, clock};
use flowmeter_harness::timer::{Cancel, Reset, Sleep, Timers};
use flowmeter_impls::channel::mutex::Channel;
use flowmeter_impls::timer::delay_queue::DelayQueueTimers;
use flowmeter_impls::timer::futures::{Elapsed, Interval, timeout_at};
use flowmeter_impls::timer::hashed_wheel::{HashedWheel, Ticks};
use flowmeter_impls::timer::heap::{DaryHeap, Heap};
use flowmeter_impls::timer::hierarchical_wheel::{HierarchicalWheel, Wheel};
use flowmeter_impls::timer::service::{Index, Spinning, TimerService};

const NOW: Deadline = Deadline::from_nanos(0);

fn one_panics<T: Timers>(timers: &T) {
    // Bypasses the panic hook, which would print it.
    timers.schedule(NOW, |_| resume_unwind(Box::new("a callback's own fault")));
    let heard = Channel::new(Buffer::Unbounded);
    let said = heard.clone();
    timers.schedule(NOW, move |_| said.put(()).expect("nothing closes it"));
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

struct Says(u32, Channel<u32>);

impl Wake for Says {
    fn wake(self: Arc<Self>) {
        self.1.put(self.0).expect("nothing closes it");
    }
}

/// In one batch, wakers are claimed together and callbacks one by one. The thread is blocked until all are due.
fn of_one_moment<I: Index>() {
    let (service, others) = (TimerService::<I>::new(), TimerService::<I>::new());
    let turns = |delay| {
        let (hold, heard) = (
            Channel::new(Buffer::Unbounded),
            Channel::new(Buffer::Unbounded),
        );
        let held = hold.clone();
        service.schedule(NOW, move |_| held.take().expect("nothing closes it"));
        let due = clock::after(delay);
        let mut is_late = false;
        let mut sleeps = Vec::new();
        for number in 0..8 {
            let heard = heard.clone();
            if number % 3 == 2 {
                service.schedule(due, move |_| heard.put(number).expect("nothing closes it"));
            } else {
                let waker = Waker::from(Arc::new(Says(number, heard)));
                let mut sleep = Box::pin(Sleep::sleep_until(&service, due));
                let first = sleep.as_mut().poll(&mut Context::from_waker(&waker));
                is_late |= first.is_ready();
                sleeps.push(sleep);
            }
        }
        block_on(Sleep::sleep_until(&others, due));
        hold.put(()).expect("nothing closes it");
        let end = clock::after(Duration::from_secs(10));
        (!is_late).then(|| (0..8).map_while(|_| heard.take_until(end).ok()).collect())
    };
    let mut delays = (0..15).map(|doublings| Duration::from_millis(1 << doublings));
    let heard: Vec<u32> = delays.find_map(turns).expect("eight are armed in time");
    assert_eq!(heard, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn wakers_and_callbacks_of_one_moment_have_their_turns() {
    of_one_moment::<Wheel>();
    of_one_moment::<DaryHeap>();
    of_one_moment::<Ticks>();
}

/// The timer slack of the calling thread in nanoseconds; `None` where the system does not say.
fn timer_slack() -> Option<u64> {
    let thread = std::fs::read_link("/proc/thread-self").ok()?;
    let number = thread.file_name()?.to_str()?;
    let slack = std::fs::read_to_string(format!("/proc/{number}/timerslack_ns")).ok()?;
    slack.trim().parse().ok()
}

/// The timer slack of the thread that runs callbacks.
fn slack_of<T: Timers>(timers: &T) -> Option<u64> {
    let heard = Channel::new(Buffer::Unbounded);
    let said = heard.clone();
    timers.schedule(NOW, move |_| {
        said.put(timer_slack()).expect("nothing closes it");
    });
    heard.take().expect("nothing closes it")
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
    // Five moments behind, the last of them by less than a period.
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

/// A callback may drop the service that calls it, arm a timer in the past, and cancel one that has fired.
#[test]
fn callbacks_may_do_anything_to_their_service() {
    fn bad_use<T: Cancel + Reset>() {
        let timers = Arc::new(T::start());
        let heard = Channel::new(Buffer::Unbounded);
        let (inside, said) = (Arc::clone(&timers), heard.clone());
        let first = timers.schedule(NOW, move |_| {
            let again = said.clone();
            inside.schedule(NOW, move |_| again.put("again").expect("nothing closes it"));
            said.put("first").expect("nothing closes it");
        });
        assert_eq!(heard.take(), Ok("first"));
        assert_eq!(heard.take(), Ok("again"));
        assert!(!timers.cancel(&first), "it has fired");
        assert!(!timers.reset(&first, NOW), "it has fired");
        let far = timers.schedule(Deadline::NEVER, |_| {});
        assert!(timers.cancel(&far));
        assert!(!timers.cancel(&far), "it was called off");
        assert!(!timers.reset(&far, NOW), "it was called off");
        // The last reference to the service is held by its own callback.
        let (last, said) = (Arc::clone(&timers), heard.clone());
        let (go, gone) = (Channel::new(Buffer::Unbounded), Arc::downgrade(&timers));
        let wait = go.clone();
        timers.schedule(NOW, move |_| {
            wait.take().expect("nothing closes it");
            drop(last);
            said.put("dropped").expect("nothing closes it");
        });
        drop(timers);
        go.put(()).expect("nothing closes it");
        assert_eq!(heard.take(), Ok("dropped"));
        assert!(gone.upgrade().is_none());
    }
    bad_use::<Heap>();
    bad_use::<HashedWheel>();
    bad_use::<HierarchicalWheel>();
    bad_use::<TimerService<Spinning<Wheel>>>();
}
