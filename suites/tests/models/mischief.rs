// Mischief that the contracts permit: code that relies on stronger behaviour fails, other code passes.

/// Models for the worlds that explore.
pub fn mischief_models() -> Vec<Model> {
    vec![
        Model::finds(
            named("a_park_without_a_loop_relies_on_luck"),
            "woken for nothing",
            || explore(|| a_park_is_left(false)),
        ),
        Model::holds(named("a_park_in_a_loop_does_not"), || {
            exhaust(|| a_park_is_left(true))
        }),
        Model::finds(
            named("a_wait_without_a_loop_relies_on_luck"),
            "woken for nothing",
            || explore(|| a_wait_is_left(false)),
        ),
        Model::holds(named("a_wait_in_a_loop_does_not"), || {
            exhaust(|| a_wait_is_left(true))
        }),
        Model::finds(
            named("a_future_that_takes_a_second_poll_for_its_wake_up_relies_on_luck"),
            "polled for nothing",
            || explore(a_second_poll),
        ),
        Model::finds(
            named("a_weak_exchange_without_a_loop_relies_on_luck"),
            "failed for nothing",
            || explore(|| a_flag_is_raised(false)),
        ),
        Model::holds(named("a_weak_exchange_in_a_loop_does_not"), || {
            exhaust(|| a_flag_is_raised(true))
        }),
        Model::holds(named("fetch_update_is_such_a_loop"), || {
            exhaust(|| {
                let counter = AtomicUsize::new(1);
                let update = |value| Some(value + 1);
                let before = counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, update);
                assert_eq!((before, counter.load(Ordering::Acquire)), (Ok(1), 2));
            })
        }),
        Model::finds(
            named("a_notification_for_one_waiter_relies_on_luck"),
            "waits in a condvar at",
            || explore(|| two_kinds_of_waiters(false)),
        ),
        Model::holds(named("a_notification_for_all_waiters_does_not"), || {
            exhaust(|| two_kinds_of_waiters(true))
        }),
        Model::new(named("without_mischief_nothing_of_it_happens"), || {
            let models: [fn(); 3] = [
                || a_park_is_left(false),
                || a_wait_is_left(false),
                || a_flag_is_raised(false),
            ];
            for (index, model) in models.into_iter().enumerate() {
                let explored = without_mischief(model);
                if let Some(failure) = explored.failure {
                    return Err(format!("model {index}: {failure}"));
                }
            }
            Ok("held".to_owned())
        }),
    ]
}

fn a_park_is_left(looks_again: bool) {
    let come = Arc::new(AtomicBool::new(false));
    let parker = Parker::new();
    let other = {
        let (come, unparker) = (come.clone(), parker.unparker());
        sync::spawn(move || {
            come.store(true, Ordering::Release);
            unparker.unpark();
        })
    };
    parker.park();
    while looks_again && !come.load(Ordering::Acquire) {
        parker.park();
    }
    assert!(come.load(Ordering::Acquire), "woken for nothing");
    other.join();
}

fn a_wait_is_left(looks_again: bool) {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let other = {
        let gate = gate.clone();
        sync::spawn(move || {
            *gate.0.lock() = true;
            gate.1.notify_one();
        })
    };
    let mut open = gate.0.lock();
    if !*open {
        open = gate.1.wait(open);
    }
    while looks_again && !*open {
        open = gate.1.wait(open);
    }
    assert!(*open, "woken for nothing");
    drop(open);
    other.join();
}

fn a_second_poll() {
    use std::task::Poll;
    let come = Arc::new(AtomicBool::new(false));
    let mut other = None;
    sync::block_on(std::future::poll_fn(|context| {
        if other.is_some() {
            assert!(come.load(Ordering::Acquire), "polled for nothing");
            return Poll::Ready(());
        }
        let (come, waker) = (come.clone(), context.waker().clone());
        other = Some(sync::spawn(move || {
            come.store(true, Ordering::Release);
            waker.wake();
        }));
        Poll::Pending
    }));
    if let Some(other) = other {
        other.join();
    }
}

fn a_flag_is_raised(looks_again: bool) {
    let flag = AtomicBool::new(false);
    let raise =
        || flag.compare_exchange_weak(false, true, Ordering::AcqRel, Ordering::Acquire);
    let mut raised = raise();
    while looks_again && raised == Err(false) {
        raised = raise();
    }
    assert_eq!(raised, Ok(false), "failed for nothing");
}

/// Two threads wait for different conditions on one condition variable; the first one waits for the first condition.
fn two_kinds_of_waiters(all: bool) {
    let state = Arc::new((Mutex::new((0_u32, [false; 2])), Condvar::new()));
    let wait = |me: usize| {
        let state = state.clone();
        sync::spawn(move || {
            let mut held = state.0.lock();
            held.0 += 1;
            while !held.1[me] {
                held = state.1.wait(held);
            }
        })
    };
    let waiting = |count| {
        while state.0.lock().0 < count {
            sync::yield_now();
        }
    };
    let first = wait(0);
    waiting(1);
    let second = wait(1);
    waiting(2);
    for (thing, waiter) in [first, second].into_iter().enumerate() {
        state.0.lock().1[thing] = true;
        if all {
            state.1.notify_all();
        } else {
            state.1.notify_one();
        }
        waiter.join();
    }
}
