//! T9: timers that come and go leave memory as it was. In a program of its own, since it measures the process.

use std::time::Duration;

use flowmeter_harness::sync::std::clock;
use flowmeter_harness::timer::Cancel;
use flowmeter_impls::timer::hashed_wheel::HashedWheel;
use flowmeter_impls::timer::heap::Heap;
use flowmeter_impls::timer::hierarchical_wheel::HierarchicalWheel;

/// Enough to find a leak of a few bytes for each timer: the smallest entry has 48 bytes.
const CYCLES: u64 = 1_000_000;
/// The bytes that an allocator may keep.
const SLACK: u64 = 8 << 20;

/// Resident bytes of this process; `None` where the system does not say.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Schedules and cancels so many timers with differing delays, each with a callback that owns memory.
fn cycles<T: Cancel>(timers: &T, count: u64) {
    for number in 0..count {
        let owned = Box::new(number);
        let due = clock::after(Duration::from_secs(60 + number % 3_600));
        let handle = timers.schedule(due, move |_| drop(owned));
        assert!(timers.cancel(&handle), "T2: it fired a minute early");
    }
}

fn leaves_memory_flat<T: Cancel>(name: &str, live: u64) {
    let timers = T::start();
    for number in 0..live {
        timers.schedule(clock::after(Duration::from_secs(3_600 + number)), |_| {});
    }
    cycles(&timers, CYCLES / 10);
    let before = resident();
    cycles(&timers, CYCLES);
    let Some((before, after)) = before.zip(resident()) else {
        eprintln!("the system does not tell how much memory is in use");
        return;
    };
    let grown = after.saturating_sub(before);
    assert!(
        grown < SLACK,
        "T9: {name} beside {live}: {grown} bytes more"
    );
}

#[test]
fn a_million_cycles_leave_memory_flat() {
    for live in [0, 1_000] {
        leaves_memory_flat::<Heap>("heap", live);
        leaves_memory_flat::<HashedWheel>("hashed_wheel", live);
        leaves_memory_flat::<HierarchicalWheel>("hierarchical_wheel", live);
    }
}
