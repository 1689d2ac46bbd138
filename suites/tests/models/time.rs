// Models of time and of waiting, the same in every world; and the faults that an explored world has to find.

use flowmeter_harness::sync::Deadline;

/// The facade's models of time for this world.
pub fn time_models() -> Vec<Model> {
    vec![
        Model::holds(
            named("a_timed_wait_ends_and_never_early"),
            a_timed_wait_ends_and_never_early,
        ),
        Model::holds(
            named("a_timed_park_ends_and_never_early"),
            a_timed_park_ends_and_never_early,
        ),
        Model::holds(
            named("a_deadline_counts_from_the_present"),
            a_deadline_counts_from_the_present,
        ),
        Model::holds(
            named("a_deadline_that_has_passed_does_not_wait"),
            passed_does_not_wait,
        ),
        Model::holds(
            named("a_deadline_of_never_waits_for_the_token"),
            never_waits_for_the_token,
        ),
        Model::holds(
            named("a_notified_timed_wait_has_its_value"),
            a_notified_timed_wait_has_its_value,
        ),
        Model::holds(
            named("a_timed_out_waiter_eats_no_notification"),
            a_timed_out_waiter_eats_no_notification,
        ),
    ]
}

fn soon() -> Deadline {
    sync::clock::after(Duration::from_micros(200))
}

fn a_timed_wait_ends_and_never_early() -> Explored {
    exhaust(|| {
        let (lock, condvar) = (Mutex::new(()), Condvar::new());
        let deadline = soon();
        let mut guard = lock.lock();
        loop {
            let (again, passed) = condvar.wait_until(guard, deadline);
            guard = again;
            assert_eq!(passed, sync::clock::has_passed(deadline));
            if passed {
                break;
            }
        }
        assert!(W::now_nanos() >= deadline.as_nanos());
    })
}

fn a_timed_park_ends_and_never_early() -> Explored {
    exhaust(|| {
        let deadlines = [soon(), sync::clock::after(Duration::from_micros(100))];
        let threads = deadlines.map(|deadline| {
            sync::spawn(move || {
                let parker = Parker::new();
                while !sync::clock::has_passed(deadline) {
                    parker.park_until(deadline);
                }
                assert!(W::now_nanos() >= deadline.as_nanos());
            })
        });
        threads.into_iter().for_each(JoinHandle::join);
        assert_eq!(sync::clock::left(deadlines[0]), Some(Duration::ZERO));
        assert!(sync::clock::has_passed(deadlines[1]));
    })
}

fn a_deadline_counts_from_the_present() -> Explored {
    exhaust(|| {
        let delay = Duration::from_micros(1);
        Parker::new().park_until(soon());
        let before = W::now_nanos();
        assert!(sync::clock::after(delay).as_nanos() >= before + 1_000);
    })
}

fn passed_does_not_wait() -> Explored {
    exhaust(|| {
        let now = Deadline::from_nanos(W::now_nanos());
        Parker::new().park_until(now);
        let (lock, condvar) = (Mutex::new(()), Condvar::new());
        let (_guard, passed) = condvar.wait_until(lock.lock(), now);
        assert!(passed);
    })
}

fn never_waits_for_the_token() -> Explored {
    exhaust(|| {
        assert!(!sync::clock::has_passed(Deadline::NEVER));
        assert_eq!(sync::clock::left(Deadline::NEVER), None);
        assert_eq!(sync::clock::after(Duration::MAX), Deadline::NEVER);
        let come = Arc::new(AtomicBool::new(false));
        let parker = Parker::new();
        let other = {
            let (come, unparker) = (come.clone(), parker.unparker());
            sync::spawn(move || {
                come.store(true, Ordering::Release);
                unparker.unpark();
            })
        };
        while !come.load(Ordering::Acquire) {
            parker.park_until(Deadline::NEVER);
        }
        other.join();
    })
}

fn a_notified_timed_wait_has_its_value() -> Explored {
    exhaust(|| {
        let slot = Arc::new((Mutex::new(None), Condvar::new()));
        let deadline = soon();
        let taker = {
            let slot = slot.clone();
            sync::spawn(move || {
                let mut value = slot.0.lock();
                while value.is_none() {
                    let (again, passed) = slot.1.wait_until(value, deadline);
                    value = again;
                    if passed {
                        assert!(W::now_nanos() >= deadline.as_nanos());
                        break;
                    }
                }
                value.take()
            })
        };
        *slot.0.lock() = Some(1);
        slot.1.notify_one();
        let taken = taker.join();
        let left = slot.0.lock().take();
        assert_eq!(taken.or(left), Some(1));
        assert!(taken.is_none() || left.is_none());
    })
}

/// One waiter gives up after a while, the other waits for ever. One notification must reach the second, unless the
/// first took it before its time was up; then the first passes it on.
fn a_timed_out_waiter_eats_no_notification() -> Explored {
    exhaust(|| {
        let state = Arc::new((Mutex::new(0_u32), Condvar::new()));
        let deadline = soon();
        let patient = {
            let state = state.clone();
            sync::spawn(move || {
                let mut tickets = state.0.lock();
                while *tickets == 0 {
                    tickets = state.1.wait(tickets);
                }
            })
        };
        let hasty = {
            let state = state.clone();
            sync::spawn(move || {
                let tickets = state.0.lock();
                if *tickets == 0 {
                    let (guard, _passed) = state.1.wait_until(tickets, deadline);
                    drop(guard);
                    state.1.notify_one();
                }
            })
        };
        *state.0.lock() = 1;
        state.1.notify_one();
        hasty.join();
        patient.join();
    })
}
