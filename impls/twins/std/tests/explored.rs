//! The crate that takes the place of std, explored.

use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::{Exploration, Failure, World, world};
use flowmeter_std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use flowmeter_std::sync::{Condvar, Mutex, OnceLock, RwLock};
use flowmeter_std::thread;
use flowmeter_std::time::Instant;

fn plan() -> Exploration {
    Exploration {
        executions: 400,
        ..Exploration::default()
    }
}

fn failure(model: impl Fn() + Send + Sync + 'static) -> Option<Failure> {
    Shuttle::explore(&plan(), model).failure
}

fn message(model: impl Fn() + Send + Sync + 'static) -> String {
    failure(model).expect("it is found").message
}

#[test]
fn an_atomic_is_a_scheduling_point() {
    let told = message(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&count);
        let add = |count: &AtomicUsize| {
            count.store(count.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
        };
        let thread = world::spawn(move || add(&other));
        add(&count);
        world::join(thread);
        assert_eq!(count.load(Ordering::SeqCst), 2, "an update was lost");
    });
    assert!(told.contains("an update was lost"), "{told}");
}

#[test]
fn a_failing_execution_replays() {
    let model = || {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let thread = world::spawn(|| LAST.store(1, Ordering::SeqCst));
        LAST.store(2, Ordering::SeqCst);
        world::join(thread);
        assert_eq!(LAST.load(Ordering::SeqCst), 1);
    };
    let schedule = failure(model).and_then(|failure| failure.schedule);
    let replayed = Shuttle::replay(&schedule.expect("it is recorded"), model);
    let replayed = replayed.expect("it is a schedule of this world");
    assert!(replayed.fits && replayed.failure.is_some(), "{replayed:?}");
}

#[test]
fn statics_begin_anew_in_each_execution() {
    static COUNT: AtomicUsize = AtomicUsize::new(7);
    static ONCE: OnceLock<Vec<usize>> = OnceLock::new();
    static LIST: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let model = || {
        assert_eq!(COUNT.fetch_add(1, Ordering::SeqCst), 7);
        assert!(ONCE.get().is_none(), "filled by the execution before");
        assert_eq!(ONCE.get_or_init(|| vec![1, 2]).len(), 2);
        let mut list = LIST.lock().expect("no thread panics");
        assert!(list.is_empty(), "{list:?}");
        list.extend(0..100);
    };
    assert_eq!(failure(model), None);
}

#[test]
fn locks_exclude() {
    let model = || {
        let both = Arc::new((Mutex::new(0), RwLock::new(0)));
        let add = |both: &(Mutex<u32>, RwLock<u32>)| {
            let mut first = both.0.lock().expect("no thread panics");
            let before = *first;
            *both.1.write().expect("no thread panics") += 1;
            thread::yield_now();
            *first = before + 1;
        };
        let other = Arc::clone(&both);
        let thread = thread::spawn(move || add(&other));
        add(&both);
        thread.join().expect("no thread panics");
        assert_eq!(*both.0.lock().expect("no thread panics"), 2);
        assert_eq!(*both.1.read().expect("no thread panics"), 2);
    };
    assert_eq!(failure(model), None);
}

#[test]
fn a_deadlock_names_the_lines_that_lock() {
    let told = message(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = Arc::clone(&locks);
        let thread = world::spawn(move || {
            let _second = other.1.lock();
            let _first = other.0.lock();
        });
        let first = locks.0.lock();
        let second = locks.1.lock();
        drop((first, second));
        world::join(thread);
    });
    assert!(told.contains("waits in a lock at "), "{told}");
    assert!(told.contains("explored.rs:"), "{told}");
}

#[test]
fn a_missed_notification_is_found() {
    let told = message(|| {
        let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&shared);
        let thread = world::spawn(move || {
            other.0.store(true, Ordering::SeqCst);
            other.2.notify_one();
        });
        let guard = shared.1.lock().expect("no thread panics");
        if !shared.0.load(Ordering::SeqCst) {
            drop(shared.2.wait(guard));
        }
        world::join(thread);
    });
    assert!(told.contains("waits in a condvar at "), "{told}");
}

#[test]
fn time_passes_when_all_threads_wait() {
    const AN_HOUR: Duration = Duration::from_secs(3_600);
    let model = || {
        let began = Instant::now();
        let thread = thread::spawn(|| thread::sleep(2 * AN_HOUR));
        thread::park_timeout(AN_HOUR);
        assert_eq!(began.elapsed(), AN_HOUR);
        let pair = (Mutex::new(()), Condvar::new());
        let guard = pair.0.lock().expect("no thread panics");
        let waited = pair.1.wait_timeout(guard, AN_HOUR / 2);
        assert!(waited.expect("no thread panics").1.timed_out());
        thread.join().expect("no thread panics");
        assert_eq!(began.elapsed(), 2 * AN_HOUR);
    };
    assert_eq!(Sim::explore(&plan(), model).failure, None);
}

#[test]
fn a_loop_that_looks_at_the_clock_ends_at_its_moment() {
    let model = || {
        let end = Instant::now() + Duration::from_millis(10);
        while Instant::now() < end {
            thread::yield_now();
        }
        assert_eq!(Instant::now(), end);
        // A timeout of nothing, until the clock is past the moment.
        while end.checked_duration_since(Instant::now()).is_some() {
            thread::park_timeout(Duration::ZERO);
        }
    };
    assert_eq!(Sim::explore(&plan(), model).failure, None);
}

#[test]
fn a_loop_that_spins_for_ever_is_a_deadlock() {
    let told = message(|| {
        let never = AtomicBool::new(false);
        while !never.load(Ordering::SeqCst) {
            flowmeter_std::hint::spin_loop();
        }
    });
    assert!(told.contains("waits in a spin loop at "), "{told}");
}

#[test]
fn a_loop_without_a_hint_ends_under_every_scheduler() {
    let model = || {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let thread = world::spawn(move || other.store(true, Ordering::SeqCst));
        while !flag.load(Ordering::SeqCst) {}
        world::join(thread);
    };
    assert_eq!(failure(model), None);
}

#[test]
fn an_execution_ends_before_a_crates_own_threads() {
    let model = || {
        let held = Arc::new(Mutex::new(0));
        let other = Arc::clone(&held);
        drop(thread::spawn(move || {
            let _guard = other.lock();
            thread::park();
        }));
        thread::yield_now();
    };
    assert_eq!(failure(model), None);
}

#[test]
fn a_thread_that_waits_in_a_static_is_gone_in_the_next_execution() {
    static HELD: Mutex<bool> = Mutex::new(false);
    static TOLD: Condvar = Condvar::new();
    let model = || {
        TOLD.notify_all();
        drop(thread::spawn(|| {
            let guard = HELD.lock().expect("no thread panics");
            drop(TOLD.wait(guard));
        }));
        thread::sleep(Duration::from_secs(1));
    };
    assert_eq!(failure(model), None);
}

#[test]
fn a_panic_that_a_crate_catches_is_found() {
    let told = message(|| {
        let caught = std::panic::catch_unwind(|| panic!("alas"));
        assert!(caught.is_err());
    });
    assert!(told.contains("alas"), "{told}");
}

mod locals {
    use super::*;
    use std::cell::Cell;

    flowmeter_std::thread_local! {
        static OWN: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn each_thread_has_its_own_value() {
        OWN.set(5);
        let model = || {
            assert_eq!(OWN.replace(1), 0);
            let thread = thread::spawn(|| OWN.get());
            assert_eq!(thread.join().expect("no thread panics"), 0);
            assert_eq!(OWN.get(), 1);
        };
        assert_eq!(failure(model), None);
        assert_eq!(OWN.get(), 5, "outside of executions");
    }
}

#[test]
fn outside_of_executions_it_is_std() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&pair);
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        *other.0.lock().expect("no thread panics") = true;
        sender.send(()).expect("it is received");
        thread::park();
        7
    });
    receiver.recv().expect("it is sent");
    assert!(*pair.0.lock().expect("no thread panics"));
    thread.thread().unpark();
    assert_eq!(thread.join().expect("no thread panics"), 7);
}

#[test]
fn outside_of_executions_a_condvar_waits_for_its_notification() {
    // How often the waiter has begun to wait, and whether it may go on.
    let shared = Arc::new((Mutex::new((0, false)), Condvar::new()));
    let other = Arc::clone(&shared);
    let waiter = std::thread::spawn(move || {
        let mut state = other.0.lock().expect("no thread panics");
        while !state.1 {
            state.0 += 1;
            state = other.1.wait(state).expect("no thread panics");
        }
    });
    let look = || *shared.0.lock().expect("no thread panics");
    while look().0 == 0 {
        std::thread::yield_now();
    }
    // A wait may end spuriously. One that never waits would begin anew at nearly each look.
    let looks = 10_000;
    for _ in 0..looks {
        look();
        std::thread::yield_now();
    }
    assert!(look().0 < looks / 100, "{:?}", look());
    shared.0.lock().expect("no thread panics").1 = true;
    shared.1.notify_one();
    waiter.join().expect("no thread panics");
    let guard = shared.0.lock().expect("no thread panics");
    let waited = shared.1.wait_timeout(guard, Duration::from_millis(1));
    assert!(waited.expect("no thread panics").1.timed_out());
}
