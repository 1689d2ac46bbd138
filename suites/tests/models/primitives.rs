// Models of the facade's primitives, the same in every world. `sync` and `W` are the world.

use std::sync::Arc as Plain;
use std::sync::Mutex as PlainMutex;
use std::sync::PoisonError;
use std::time::Duration;

use flowmeter_harness::sync::{Exploration, Explored, World};
use flowmeter_suites::isolation::Model;

use sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use sync::{Arc, Condvar, JoinHandle, Mutex, Parker, Track, UnsafeCell};

/// A name in this world.
fn named(name: &str) -> String {
    format!("{}::{name}", W::NAME)
}

pub fn explore(model: impl Fn() + Send + Sync + 'static) -> Explored {
    explore_with(true, model)
}

fn explore_with(mischief: bool, model: impl Fn() + Send + Sync + 'static) -> Explored {
    let executions = match W::NAME {
        "std" => 200,
        "loom" => 200_000,
        _ => 4_000,
    };
    let plan = Exploration {
        executions,
        time: Duration::from_secs(20),
        mischief,
        ..Exploration::default()
    };
    W::explore(&plan, model)
}

/// Explores, and requires that a world that can exhaust the space did.
pub fn exhaust(model: impl Fn() + Send + Sync + 'static) -> Explored {
    exhausted(explore(model))
}

fn exhausted(mut explored: Explored) -> Explored {
    if W::NAME == "loom" && explored.failure.is_none() && !explored.complete {
        let open = "loom did not come to the end of the space".to_owned();
        explored.failure = Some(open.into());
    }
    explored
}

/// A cell without races by contract of its users; loom checks it.
pub struct Shared<T>(UnsafeCell<T>);

// SAFETY: the models access the cell under a lock or after a hand-over; loom checks it.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    pub fn new(value: T) -> Self {
        Shared(UnsafeCell::new(value))
    }
    pub fn get(&self) -> T {
        // SAFETY: no writer meanwhile, see above.
        self.0.with(|value| unsafe { *value })
    }
    pub fn set(&self, new: T) {
        // SAFETY: no other access meanwhile, see above.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}

/// The facade's models for this world.
pub fn models() -> Vec<Model> {
    vec![
        Model::holds(named("a_lock_excludes"), a_lock_excludes),
        Model::holds(
            named("try_lock_fails_only_while_held"),
            try_lock_fails_only_while_held,
        ),
        Model::holds(
            named("a_condvar_hands_over_every_value"),
            a_condvar_hands_over_every_value,
        ),
        Model::holds(named("notify_all_wakes_all"), notify_all_wakes_all),
        Model::holds(
            named("a_token_given_before_parking_is_kept"),
            a_token_given_before_parking_is_kept,
        ),
        Model::holds(
            named("release_and_acquire_pass_a_message"),
            release_and_acquire_pass_a_message,
        ),
        Model::holds(
            named("join_passes_the_result_and_all_writes"),
            join_passes_the_result_and_all_writes,
        ),
        Model::holds(
            named("block_on_is_woken_by_another_thread"),
            block_on_is_woken_by_another_thread,
        ),
        Model::holds(
            named("thread_locals_are_per_thread"),
            thread_locals_are_per_thread,
        ),
        Model::holds(
            named("order_keys_differ_and_grow"),
            order_keys_differ_and_grow,
        ),
        Model::holds(
            named("objects_have_places_in_a_lock_order"),
            objects_have_places_in_a_lock_order,
        ),
        Model::new(named("choose_answers_each_of_n"), choose_answers_each_of_n),
        Model::holds(
            named("a_tracked_value_that_is_dropped_is_no_leak"),
            tracked_and_dropped,
        ),
        Model::finds(
            named("a_panic_is_a_failure_with_its_text"),
            "one is not two",
            || explore(|| assert_eq!(1, 2, "one is not two")),
        ),
        Model::finds(
            named("a_panic_in_a_thread_is_a_failure"),
            "one is not two",
            || explore(|| sync::spawn(|| assert_eq!(1, 2, "one is not two")).join()),
        ),
    ]
}

fn a_lock_excludes() -> Explored {
    exhaust(|| {
        let counter = Arc::new((Mutex::new(()), Shared::new(0)));
        let add = |counter: Arc<(Mutex<()>, Shared<u32>)>| {
            let _guard = counter.0.lock();
            counter.1.set(counter.1.get() + 1);
        };
        let threads: Vec<JoinHandle<()>> = (0..2)
            .map(|_| {
                let counter = counter.clone();
                sync::spawn(move || add(counter))
            })
            .collect();
        threads.into_iter().for_each(JoinHandle::join);
        assert_eq!(counter.1.get(), 2);
    })
}

fn try_lock_fails_only_while_held() -> Explored {
    exhaust(|| {
        let lock = Arc::new(Mutex::new(0));
        let held = lock.lock();
        assert!(lock.try_lock().is_none());
        drop(held);
        let other = {
            let lock = lock.clone();
            sync::spawn(move || *lock.lock() += 1)
        };
        if let Some(mut value) = lock.try_lock() {
            *value += 1;
        } else {
            *lock.lock() += 1;
        }
        other.join();
        assert_eq!(lock.try_lock().map(|value| *value), Some(2));
    })
}

fn a_condvar_hands_over_every_value() -> Explored {
    exhaust(|| {
        let slot = Arc::new((Mutex::new(None), Condvar::new()));
        let taker = {
            let slot = slot.clone();
            sync::spawn(move || {
                [(); 2].map(|()| {
                    let mut value = slot.0.lock();
                    loop {
                        if let Some(taken) = value.take() {
                            slot.1.notify_one();
                            return taken;
                        }
                        value = slot.1.wait(value);
                    }
                })
            })
        };
        for next in 1..=2 {
            let mut value = slot.0.lock();
            while value.is_some() {
                value = slot.1.wait(value);
            }
            *value = Some(next);
            slot.1.notify_one();
        }
        assert_eq!(taker.join(), [1, 2]);
    })
}

fn notify_all_wakes_all() -> Explored {
    exhaust(|| {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let threads: Vec<JoinHandle<()>> = (0..2)
            .map(|_| {
                let gate = gate.clone();
                sync::spawn(move || {
                    let mut open = gate.0.lock();
                    while !*open {
                        open = gate.1.wait(open);
                    }
                })
            })
            .collect();
        *gate.0.lock() = true;
        gate.1.notify_all();
        threads.into_iter().for_each(JoinHandle::join);
    })
}

fn a_token_given_before_parking_is_kept() -> Explored {
    exhaust(|| {
        let ready = Arc::new(AtomicBool::new(false));
        let parker = Parker::new();
        let other = {
            let (ready, unparker) = (ready.clone(), parker.unparker());
            sync::spawn(move || {
                ready.store(true, Ordering::Release);
                unparker.unpark();
            })
        };
        while !ready.load(Ordering::Acquire) {
            parker.park();
        }
        other.join();
    })
}

fn release_and_acquire_pass_a_message() -> Explored {
    exhaust(|| pass_a_message(Ordering::Release, Ordering::Acquire))
}

/// One thread writes a message and sets a flag; the other reads the message if it sees the flag.
pub fn pass_a_message(raise: Ordering, see: Ordering) {
    let shared = Arc::new((Shared::new(0), AtomicBool::new(false)));
    let writer = {
        let shared = shared.clone();
        sync::spawn(move || {
            shared.0.set(7);
            shared.1.store(true, raise);
        })
    };
    if shared.1.load(see) {
        assert_eq!(shared.0.get(), 7);
    }
    writer.join();
}

fn join_passes_the_result_and_all_writes() -> Explored {
    exhaust(|| {
        let seen = Arc::new(AtomicUsize::new(0));
        let thread = {
            let seen = seen.clone();
            sync::spawn(move || {
                seen.store(3, Ordering::Relaxed);
                "done"
            })
        };
        assert_eq!(thread.join(), "done");
        assert_eq!(seen.load(Ordering::Relaxed), 3);
    })
}

fn block_on_is_woken_by_another_thread() -> Explored {
    use std::task::{Poll, Waker};
    exhaust(|| {
        // The ready flag, and the waker of the waiting task.
        let state = Arc::new(Mutex::new((false, None::<Waker>)));
        let other = {
            let state = state.clone();
            sync::spawn(move || {
                let waker = {
                    let mut state = state.lock();
                    state.0 = true;
                    state.1.take()
                };
                if let Some(waker) = waker {
                    waker.wake();
                }
            })
        };
        let answer = sync::block_on(std::future::poll_fn(|context| {
            let mut state = state.lock();
            if state.0 {
                return Poll::Ready(5);
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        }));
        assert_eq!(answer, 5);
        other.join();
    })
}

sync::thread_local! {
    static MINE: std::cell::Cell<u32> = const { std::cell::Cell::new(1) };
}

fn thread_locals_are_per_thread() -> Explored {
    exhaust(|| {
        MINE.with(|mine| mine.set(2));
        let other = sync::spawn(|| MINE.with(std::cell::Cell::get));
        assert_eq!(other.join(), 1);
        assert_eq!(MINE.with(std::cell::Cell::get), 2);
    })
}

fn order_keys_differ_and_grow() -> Explored {
    exhaust(|| {
        let first = sync::order_key();
        let other = sync::spawn(sync::order_key).join();
        let last = sync::order_key();
        assert!(first < other && other < last);
        if W::NAME != "std" {
            assert_eq!((first, last), (1, 3), "keys begin anew with each execution");
        }
    })
}

fn objects_have_places_in_a_lock_order() -> Explored {
    exhaust(|| {
        type Object = (sync::LockPlace, u8);
        let made = || Box::new((sync::LockPlace::fresh(), 0));
        let (first, other) = (made(), sync::spawn(made).join());
        let number = |object: &Object| object.0.of(object);
        assert_ne!(number(&first), number(&other));
        assert_eq!(number(&first), number(&first));
        if W::NAME != "std" {
            let numbers = (number(&first), number(&other));
            assert_eq!(numbers, (1, 2), "they begin anew with each execution");
        }
    })
}

/// Two choices of one thread and one of another: every combination must occur.
fn choose_answers_each_of_n() -> Result<String, String> {
    let seen = Plain::new(PlainMutex::new(std::collections::BTreeSet::new()));
    let explored = {
        let seen = seen.clone();
        exhaust(move || {
            let other = sync::spawn(|| sync::choose(2));
            let first = sync::choose(3);
            // Asked only after some answers, as in a real model.
            let second = if first == 2 { sync::choose(2) } else { 0 };
            let all = (first, second, other.join());
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.insert(all);
        })
    };
    let seen = seen.lock().map_err(|error| error.to_string())?;
    // Sim explores only one execution.
    let expected = if W::NAME == "sim" { 1 } else { 8 };
    match (&explored.failure, seen.len()) {
        (Some(failure), _) => Err(failure.to_string()),
        (None, some) if some == expected => Ok(format!("{} executions", explored.executions)),
        (None, some) => Err(format!("{some} of 8 combinations: {seen:?}")),
    }
}

fn tracked_and_dropped() -> Explored {
    exhaust(|| {
        let mut kept = Track::new(vec![1]);
        kept.get_mut().push(2);
        assert_eq!(kept.get_ref().len(), 2);
        assert_eq!(kept.into_inner(), [1, 2]);
        let _dropped_at_the_end = Track::new(());
    })
}
