// The faults that an explored world has to find, and what it must not report as a failure.

/// Models for the worlds that explore.
pub fn checked() -> Vec<Model> {
    vec![
        Model::holds(
            named("a_full_channel_is_rescued"),
            a_full_channel_is_rescued,
        ),
        Model::holds(
            named("timers_fire_before_any_thread_is_rescued"),
            timers_fire_before_any_thread_is_rescued,
        ),
        Model::holds(
            named("a_rescuer_that_is_not_needed_is_dropped"),
            a_rescuer_that_is_not_needed_is_dropped,
        ),
        Model::holds(
            named("a_timer_fires_for_a_waiter_that_holds_a_lock"),
            a_timer_fires_for_a_waiter_that_holds_a_lock,
        ),
        Model::holds(
            named("all_threads_of_a_model_are_one_of_the_system"),
            one_system_thread,
        ),
        Model::holds(named("random_numbers_replay"), random_numbers_differ),
        Model::finds(
            named("a_deadlock_says_which_thread_parks_where"),
            "thread 0 waits in park at suites/tests/models/checked.rs:",
            || explore(|| Parker::new().park()),
        ),
        Model::finds(
            named("a_deadlock_says_which_thread_joins_which"),
            "thread 0 joins thread 1 at suites/tests/models/checked.rs:",
            joins_one_that_waits,
        ),
        Model::finds(
            named("a_deadlock_says_which_thread_waits_in_a_condvar"),
            "thread 1 waits in a condvar at suites/tests/models/checked.rs:",
            joins_one_that_waits,
        ),
        Model::finds(
            named("locks_in_two_orders_deadlock"),
            " holds at suites/tests/models/checked.rs:",
            locks_in_two_orders,
        ),
        Model::finds(
            named("a_rescue_that_helps_no_thread_is_a_deadlock"),
            "deadlock: every thread waits",
            || {
                explore(|| {
                    assert!(W::on_quiescence(|| {}));
                    Parker::new().park();
                })
            },
        ),
        Model::finds(
            named("a_flag_read_outside_the_lock_loses_a_wake_up"),
            "waits in a condvar at",
            flag_read_outside_the_lock,
        ),
        Model::finds(
            named("a_token_is_not_two"),
            "waits in park at",
            a_token_is_not_two,
        ),
        Model::finds(
            named("an_unlocked_increment_is_lost"),
            "an increment was lost",
            unlocked_increments,
        ),
        Model::holds(
            named("a_thread_that_spins_until_a_timer_has_fired_ends"),
            a_thread_that_spins_until_a_timer_has_fired_ends,
        ),
        Model::finds(
            named("a_panic_under_a_lock_is_told_first"),
            "alas",
            a_panic_under_a_lock,
        ),
        Model::holds(
            named("a_park_takes_the_token_that_wakes_it"),
            a_park_takes_the_token_that_wakes_it,
        ),
        Model::finds(
            named("a_timer_called_off_does_not_fire"),
            "time stood still",
            a_timer_called_off_does_not_fire,
        ),
        Model::finds(
            named("the_earlier_timer_fires_first"),
            "the earlier one was first",
            the_earlier_timer_fires_first,
        ),
        Model::finds(
            named("a_leak_is_found_with_its_line"),
            "leak: tracked values made at suites/tests/models/checked.rs:",
            || explore(|| std::mem::forget(Track::new(1))),
        ),
        Model::finds(
            named("a_timer_may_fire_before_a_notification"),
            "the timer was faster",
            || timer_against_notification(|passed| assert!(!passed, "the timer was faster")),
        ),
        Model::finds(
            named("a_notification_may_come_before_a_timer"),
            "the notification was faster",
            || timer_against_notification(|passed| assert!(passed, "the notification was faster")),
        ),
        Model::finds(
            named("a_panic_of_the_facade_is_a_failure"),
            "there is nothing to choose from",
            || {
                explore(|| {
                    let _nothing = sync::choose(0);
                })
            },
        ),
        Model::finds(
            named("an_exploration_in_a_model_is_refused"),
            "a model explores a model",
            || {
                explore(|| {
                    if let Some(failure) = explore(|| {}).failure {
                        panic!("{failure}");
                    }
                })
            },
        ),
    ]
}

/// A put on a full channel without consumers waits for ever, as it should: the rescuer closes the channel.
fn a_full_channel_is_rescued() -> Explored {
    exhaust(|| {
        let channel = Arc::new((Mutex::new((1_usize, false)), Condvar::new()));
        let putter = {
            let channel = channel.clone();
            sync::spawn(move || {
                let mut state = channel.0.lock();
                while state.0 >= 1 && !state.1 {
                    state = channel.1.wait(state);
                }
                state.1
            })
        };
        let rescued = Plain::new(std::sync::atomic::AtomicBool::new(false));
        assert!(W::on_quiescence({
            let (channel, rescued) = (channel.clone(), rescued.clone());
            move || {
                rescued.store(true, Ordering::SeqCst);
                channel.0.lock().1 = true;
                channel.1.notify_all();
            }
        }));
        assert!(putter.join(), "closed, not drained");
        assert!(rescued.load(Ordering::SeqCst));
    })
}

/// For models of the actual behaviour of a primitive, beyond what its users may rely on.
fn without_mischief(model: impl Fn() + Send + Sync + 'static) -> Explored {
    exhausted(explore_with(false, model))
}

fn timers_fire_before_any_thread_is_rescued() -> Explored {
    without_mischief(|| {
        let parker = Parker::new();
        let deadline = soon();
        let unparker = parker.unparker();
        assert!(W::on_quiescence(move || {
            assert!(sync::clock::has_passed(deadline));
            unparker.unpark();
        }));
        parker.park_until(deadline);
        assert!(sync::clock::has_passed(deadline));
        parker.park();
    })
}

fn a_rescuer_that_is_not_needed_is_dropped() -> Explored {
    exhaust(|| {
        let value = Arc::new(Track::new(()));
        assert!(W::on_quiescence(move || {
            drop(value);
            panic!("no thread waits in this model");
        }));
    })
}

fn a_timer_fires_for_a_waiter_that_holds_a_lock() -> Explored {
    exhaust(|| {
        let lock = Arc::new(Mutex::new(()));
        let deadline = soon();
        let other = {
            let lock = lock.clone();
            sync::spawn(move || {
                let _held = lock.lock();
                Parker::new().park_until(deadline);
            })
        };
        drop(lock.lock());
        other.join();
    })
}

/// The census relies on it.
fn one_system_thread() -> Explored {
    let system_thread = std::thread::current().id();
    exhaust(move || {
        assert_eq!(std::thread::current().id(), system_thread);
        sync::spawn(move || assert_eq!(std::thread::current().id(), system_thread)).join();
    })
}

/// Two numbers of a thread differ, and under loom every execution draws the same ones.
fn random_numbers_differ() -> Explored {
    let first = Plain::new(PlainMutex::new(None));
    exhaust(move || {
        let numbers = (sync::random_u64(), sync::random_u64());
        assert_ne!(numbers.0, numbers.1);
        assert_ne!(sync::spawn(sync::random_u64).join(), numbers.0);
        if W::NAME == "loom" {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            assert_eq!(*first.get_or_insert(numbers), numbers);
        }
    })
}

fn joins_one_that_waits() -> Explored {
    explore(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = {
            let pair = pair.clone();
            sync::spawn(move || drop(pair.1.wait(pair.0.lock())))
        };
        other.join();
    })
}

fn locks_in_two_orders() -> Explored {
    explore(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = {
            let locks = locks.clone();
            sync::spawn(move || {
                let _second = locks.1.lock();
                let _first = locks.0.lock();
            })
        };
        {
            let _first = locks.0.lock();
            let _second = locks.1.lock();
        }
        other.join();
    })
}

fn flag_read_outside_the_lock() -> Explored {
    explore(|| {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let opener = {
            let gate = gate.clone();
            sync::spawn(move || {
                *gate.0.lock() = true;
                gate.1.notify_one();
            })
        };
        let open = *gate.0.lock();
        if !open {
            drop(gate.1.wait(gate.0.lock()));
        }
        opener.join();
    })
}

fn a_token_is_not_two() -> Explored {
    explore(|| {
        let parker = Parker::new();
        parker.unparker().unpark();
        parker.unparker().unpark();
        parker.park();
        parker.park();
    })
}

fn unlocked_increments() -> Explored {
    explore(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        let add = |counter: &AtomicUsize| {
            let seen = counter.load(Ordering::SeqCst);
            counter.store(seen + 1, Ordering::SeqCst);
        };
        let other = {
            let counter = counter.clone();
            sync::spawn(move || add(&counter))
        };
        add(&counter);
        other.join();
        assert_eq!(counter.load(Ordering::SeqCst), 2, "an increment was lost");
    })
}

fn timer_against_notification(judge: impl Fn(bool) + Send + Sync + 'static) -> Explored {
    explore(move || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let deadline = soon();
        let other = {
            let pair = pair.clone();
            sync::spawn(move || {
                *pair.0.lock() = true;
                pair.1.notify_one();
            })
        };
        let mut come = pair.0.lock();
        let mut waited = None;
        while !*come && waited != Some(true) {
            let (again, passed) = pair.1.wait_until(come, deadline);
            come = again;
            waited = Some(passed);
        }
        drop(come);
        other.join();
        if let Some(passed) = waited {
            judge(passed);
        }
    })
}

fn a_thread_that_spins_until_a_timer_has_fired_ends() -> Explored {
    exhaust(|| {
        let deadline = soon();
        let other = sync::spawn(move || {
            let parker = Parker::new();
            while !sync::clock::has_passed(deadline) {
                parker.park_until(deadline);
            }
        });
        while !sync::clock::has_passed(deadline) {
            sync::spin_hint();
        }
        other.join();
    })
}

/// Unwinding releases a lock that others wait for, and drops shared values.
fn a_panic_under_a_lock() -> Explored {
    explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let others = [(); 2].map(|()| {
            let lock = lock.clone();
            sync::spawn(move || *lock.lock() += 1)
        });
        let kept = lock.clone();
        let value = lock.lock();
        assert!(*value < 1, "alas");
        drop(value);
        others.into_iter().for_each(JoinHandle::join);
        drop(kept);
    })
}

/// After the one token is used up, only the rescuer wakes the thread.
fn a_park_takes_the_token_that_wakes_it() -> Explored {
    without_mischief(|| {
        let rescued = Arc::new(AtomicBool::new(false));
        let parker = Parker::new();
        let unparker = parker.unparker();
        let other = sync::spawn(move || unparker.unpark());
        parker.park();
        other.join();
        let (rescue, unparker) = (rescued.clone(), parker.unparker());
        assert!(W::on_quiescence(move || {
            rescue.store(true, Ordering::Release);
            unparker.unpark();
        }));
        parker.park();
        assert!(rescued.load(Ordering::Acquire), "woken without a token");
    })
}

/// If the notification came before the deadline, time need not reach the deadline, even though all threads wait in
/// the end.
fn a_timer_called_off_does_not_fire() -> Explored {
    explore(|| {
        let deadline = soon();
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        // The other thread can notify only when this thread waits.
        let held = pair.0.lock();
        let other = {
            let pair = pair.clone();
            sync::spawn(move || {
                drop(pair.0.lock());
                pair.1.notify_one();
            })
        };
        drop(pair.1.wait_until(held, deadline));
        other.join();
        let again = Parker::new();
        let unparker = again.unparker();
        assert!(W::on_quiescence(move || unparker.unpark()));
        again.park();
        assert!(sync::clock::has_passed(deadline), "time stood still");
    })
}

/// The later timer is armed first; still there is an execution in which the earlier one fires first.
fn the_earlier_timer_fires_first() -> Explored {
    explore(|| {
        let (earlier, later) = (soon(), sync::clock::after(Duration::from_secs(1)));
        let state = Arc::new((Mutex::new(false), Condvar::new()));
        let other = {
            let state = state.clone();
            sync::spawn(move || {
                let mut waits = state.0.lock();
                *waits = true;
                state.1.notify_one();
                drop(state.1.wait_until(waits, later));
            })
        };
        let mut waits = state.0.lock();
        while !*waits {
            waits = state.1.wait(waits);
        }
        drop(waits);
        Parker::new().park_until(earlier);
        assert!(sync::clock::has_passed(later), "the earlier one was first");
        other.join();
    })
}
