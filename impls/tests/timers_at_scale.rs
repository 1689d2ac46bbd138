//! Behaviour that only a million timers show: none is early, and timers far in the future let the thread sleep.

#![expect(clippy::disallowed_types, reason = "these tests run against std alone")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::{Arc, Parker, clock};
use flowmeter_harness::timer::Timers;
use flowmeter_impls::channel::mutex::Channel;
use flowmeter_impls::timer::delay_queue::DelayQueueTimers;
use flowmeter_impls::timer::hashed_wheel::HashedWheel;
use flowmeter_impls::timer::heap::Heap;
use flowmeter_impls::timer::hierarchical_wheel::HierarchicalWheel;

const SECOND: u64 = 1_000_000_000;

/// The same numbers each time, below `end`. Source: Marsaglia's xorshift.
fn numbers(end: u64) -> impl Iterator<Item = u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % end
    })
}

/// Arms so many timers within a second, most of them while others fire.
fn none_is_early<T: Timers>(count: u64) {
    let timers = T::start();
    let early = Arc::new(AtomicU64::new(0));
    let left = Arc::new(AtomicU64::new(count));
    let all = Channel::new(Buffer::Unbounded);
    for distance in numbers(SECOND).take(count as usize) {
        let deadline = Deadline::from_nanos(clock::now_nanos() + distance);
        let (early, left, all) = (early.clone(), left.clone(), all.clone());
        timers.schedule(deadline, move |fired| {
            let called = Deadline::from_nanos(clock::now_nanos());
            if called < deadline || fired.due != deadline {
                early.fetch_add(1, Ordering::Relaxed);
            }
            if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                all.put(()).expect("nothing closes it");
            }
        });
    }
    all.take_until(clock::after(Duration::from_secs(100)))
        .expect("all of them fire");
    assert_eq!(early.load(Ordering::Relaxed), 0, "of {count} timers");
}

#[test]
fn none_of_a_million_is_early() {
    none_is_early::<HierarchicalWheel>(1_000_000);
}

#[test]
fn none_of_a_hundred_thousand_is_early() {
    none_is_early::<Heap>(100_000);
    none_is_early::<HashedWheel>(100_000);
    none_is_early::<DelayQueueTimers>(100_000);
}

/// The file in which the system reports how often the callback thread has slept; `None` where the system has none.
fn thread_of<T: Timers>(timers: &T) -> Option<String> {
    let heard = Channel::new(Buffer::Unbounded);
    let said = heard.clone();
    timers.schedule(Deadline::from_nanos(0), move |_| {
        let thread = std::fs::read_link("/proc/thread-self").ok();
        said.put(thread).expect("nothing closes it");
    });
    let thread = heard.take().expect("nothing closes it")?;
    Some(format!("/proc/{}/status", thread.display()))
}

fn switches(status: &str) -> u64 {
    let text = std::fs::read_to_string(status).expect("the thread lives");
    let counts = text.lines().filter(|line| line.contains("ctxt_switches"));
    let last = counts.map(|line| line.rsplit('\t').next().expect("lines have two parts"));
    last.map(|count| count.parse::<u64>().expect("a count"))
        .sum()
}

/// Whether the thread waits, and neither runs nor is runnable.
fn sleeps(status: &str) -> bool {
    let text = std::fs::read_to_string(status).expect("the thread lives");
    text.lines().any(|line| line.starts_with("State:\tS"))
}

/// Sleeps for that time.
fn rest(time: Duration) {
    let (end, parker) = (clock::after(time), Parker::new());
    while !clock::has_passed(end) {
        parker.park_until(end);
    }
}

/// Two seconds with a million timers of an hour and more: the thread is not woken once.
#[test]
fn far_timers_wake_no_thread() {
    let timers = HierarchicalWheel::new();
    let Some(status) = thread_of(&timers) else {
        eprintln!("the system does not tell how often a thread is woken");
        return;
    };
    let hour = 3_600 * SECOND;
    for distance in numbers(24 * hour).take(1_000_000) {
        let deadline = clock::now_nanos() + hour + distance;
        timers.schedule(Deadline::from_nanos(deadline), |_| {});
    }
    // Arming has woken the thread whenever a timer was the earliest: wait until it sleeps again.
    let mut seconds = 0..30;
    while !sleeps(&status) && seconds.next().is_some() {
        rest(Duration::from_secs(1));
    }
    let asleep = switches(&status);
    rest(Duration::from_secs(2));
    assert_eq!(switches(&status) - asleep, 0, "wake-ups in two seconds");
}
