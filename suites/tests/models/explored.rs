//! Results that only one of the worlds can find.

use std::time::Duration;

use flowmeter_harness::sync::loom::{self, Loom};
use flowmeter_harness::sync::shuttle::{self, Shuttle, Sim};
use flowmeter_harness::sync::{Exploration, Explored, World};
use flowmeter_suites::isolation::Model;

use super::loom_world::{Shared, exhaust, explore, pass_a_message};
use loom::atomic::{AtomicU32, Ordering, fence};
use loom::{Arc, spawn};
use shuttle::atomic::{AtomicBool, AtomicU64};

/// The models.
pub fn models() -> Vec<Model> {
    vec![
        Model::finds(
            "loom::a_relaxed_flag_passes_no_message",
            "Causality violation",
            || explore(|| pass_a_message(Ordering::Relaxed, Ordering::Acquire)),
        ),
        Model::finds(
            "loom::a_relaxed_look_receives_no_message",
            "Causality violation",
            || explore(|| pass_a_message(Ordering::Release, Ordering::Relaxed)),
        ),
        Model::finds(
            "loom::a_racing_cell_is_found_with_its_lines",
            "suites/tests/models/primitives.rs:",
            a_racing_cell,
        ),
        Model::holds("loom::fences_order_store_before_load", || {
            exhaust(|| both_miss(true))
        }),
        Model::finds("loom::without_fences_both_may_miss", "both missed", || {
            explore(|| both_miss(false))
        }),
        Model::finds("loom::an_arc_that_is_forgotten_leaks", "Arc leaked", || {
            explore(|| std::mem::forget(Arc::new(1)))
        }),
        Model::new(
            "loom::a_limit_is_not_the_end_of_the_space",
            limits_are_incomplete,
        ),
        Model::new("loom::an_execution_without_end_comes_to_a_limit", || {
            comes_to_a_limit(&explore(|| {
                loop {
                    Loom::yield_now();
                }
            }))
        }),
        Model::new("loom::a_thread_too_many_comes_to_a_limit", || {
            comes_to_a_limit(&explore(|| (0..5).for_each(|_| drop(spawn(|| ())))))
        }),
        Model::new(
            "loom::mischief_that_the_budget_leaves_out_is_not_the_whole_space",
            mischief_left_out,
        ),
        Model::new(
            "shuttle::executions_are_counted_and_never_complete",
            shuttle_counts,
        ),
        Model::new("shuttle::an_execution_without_end_comes_to_a_limit", || {
            comes_to_a_limit(&without_end())
        }),
        Model::new("shuttle::a_livelock_is_a_fault", || {
            is_a_livelock(&Shuttle::explore(&Exploration::default(), livelock))
        }),
        Model::new("sim::a_livelock_is_a_fault", || {
            is_a_livelock(&Sim::explore(&Exploration::default(), livelock))
        }),
        Model::new("shuttle::a_long_spin_is_no_livelock", a_long_spin),
        Model::new("sim::days_are_exact_and_take_no_time", days_in_sim),
        Model::new("sim::every_run_is_the_same", twice_in_sim),
    ]
}

/// A limit of the explorer is distinguished from a fault of the model.
fn comes_to_a_limit(explored: &Explored) -> Result<String, String> {
    match &explored.failure {
        Some(failure) if failure.limit => Ok(failure.message.clone()),
        other => Err(format!("no limit, but {other:?}")),
    }
}

fn a_racing_cell() -> Explored {
    explore(|| {
        let cell = Arc::new(Shared::new(0));
        let other = {
            let cell = cell.clone();
            spawn(move || cell.set(1))
        };
        cell.set(2);
        other.join();
    })
}

/// Each of two threads announces itself and looks for the other.
fn both_miss(fenced: bool) {
    let flags = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let look = move |flags: &[AtomicU32; 2], me: usize| {
        flags[me].store(1, Ordering::Relaxed);
        if fenced {
            fence(Ordering::SeqCst);
        }
        flags[1 - me].load(Ordering::Relaxed)
    };
    let other = {
        let flags = flags.clone();
        spawn(move || look(&flags, 1))
    };
    let mine = look(&flags, 0);
    assert!(mine + other.join() > 0, "both missed");
}

fn limits_are_incomplete() -> Result<String, String> {
    let adding = |times: u32| {
        move || {
            let counter = Arc::new(AtomicU32::new(0));
            let add = move |counter: &AtomicU32| {
                for _ in 0..times {
                    counter.fetch_add(1, Ordering::AcqRel);
                }
            };
            let others = [(); 2].map(|()| {
                let counter = counter.clone();
                spawn(move || add(&counter))
            });
            add(&counter);
            others.into_iter().for_each(loom::JoinHandle::join);
        }
    };
    let model = adding(1);
    let plan = |executions| Exploration {
        executions,
        preemptions: None,
        ..Exploration::default()
    };
    let few = Loom::explore(&plan(3), model);
    let all = Loom::explore(&plan(100_000), model);
    let exactly = Loom::explore(&plan(all.executions), model);
    let none = Loom::explore(
        &Exploration {
            time: Duration::ZERO,
            ..Exploration::default()
        },
        model,
    );
    let short = Exploration {
        time: Duration::from_millis(100),
        ..plan(u64::MAX)
    };
    let short = Loom::explore(&short, adding(4));
    let seen = format!("{few:?} {all:?} {exactly:?} {none:?} {short:?}");
    let right = !few.complete
        && few.executions == 3
        && all.complete
        && all.executions > 3
        && exactly.executions == all.executions
        && !none.complete
        && none.executions == 0
        && !short.complete
        && short.executions % 1_000 == 999
        && short.failure.is_none();
    if right { Ok(seen) } else { Err(seen) }
}

fn mischief_left_out() -> Result<String, String> {
    let model = || {
        let parker = loom::Parker::new();
        let unparker = parker.unparker();
        let other = spawn(move || unparker.unpark());
        parker.park();
        other.join();
    };
    let plan = |executions, mischief| Exploration {
        executions,
        mischief,
        ..Exploration::default()
    };
    let plain = Loom::explore(&plan(100_000, false), model);
    let few = Loom::explore(&plan(plain.executions, true), model);
    let whole = Loom::explore(&plan(100_000, true), model);
    let seen = format!("{plain:?} {few:?} {whole:?}");
    let right = plain.complete
        && !few.complete
        && few.executions == plain.executions
        && whole.complete
        && whole.executions > plain.executions;
    if right { Ok(seen) } else { Err(seen) }
}

fn shuttle_counts() -> Result<String, String> {
    let plan = Exploration {
        executions: 10,
        ..Exploration::default()
    };
    let explored = Shuttle::explore(&plan, || {
        let other = Shuttle::spawn(Shuttle::yield_now);
        Shuttle::yield_now();
        Shuttle::join(other);
    });
    let seen = format!("{explored:?}");
    let right = explored.executions == 10 && !explored.complete && explored.failure.is_none();
    if right { Ok(seen) } else { Err(seen) }
}

/// It writes again and again, so the next write may end it.
fn without_end() -> Explored {
    let plan = Exploration {
        executions: 1,
        ..Exploration::default()
    };
    Shuttle::explore(&plan, || {
        let turns = AtomicU64::new(0);
        loop {
            turns.fetch_add(1, Ordering::Relaxed);
            Shuttle::yield_now();
        }
    })
}

/// One thread joins another, which spins for a flag that nothing sets.
fn livelock() {
    let flag = std::sync::Arc::new(AtomicBool::new(false));
    let spinner = shuttle::spawn(move || {
        while !flag.load(Ordering::Acquire) {
            Shuttle::yield_now();
        }
    });
    shuttle::JoinHandle::join(spinner);
}

/// The report is no limit, and names the line that spins.
fn is_a_livelock(explored: &Explored) -> Result<String, String> {
    match &explored.failure {
        Some(failure)
            if !failure.limit
                && failure.message.starts_with("livelock:")
                && failure
                    .message
                    .contains("thread 1 yields again and again at") =>
        {
            Ok(failure.message.clone())
        }
        other => Err(format!("no livelock, but {other:?}")),
    }
}

/// A thread spins while the other one is slow to write. Both spin in the end, where a timer is armed.
fn a_long_spin() -> Result<String, String> {
    let plan = Exploration {
        executions: 20,
        ..Exploration::default()
    };
    let explored = Shuttle::explore(&plan, || {
        let turns = std::sync::Arc::new(AtomicU64::new(0));
        let spinner = shuttle::spawn({
            let turns = turns.clone();
            move || {
                while turns.load(Ordering::Acquire) < 5 {
                    Shuttle::yield_now();
                }
            }
        });
        for _ in 0..5 {
            (0..1_000).for_each(|_| Shuttle::yield_now());
            turns.fetch_add(1, Ordering::Release);
        }
        let sleeper = shuttle::spawn(|| doze(Duration::from_secs(1), 1));
        while Shuttle::now_nanos() < 1_000_000_000 {
            Shuttle::yield_now();
        }
        shuttle::JoinHandle::join(spinner);
        shuttle::JoinHandle::join(sleeper);
    });
    match explored.failure {
        None => Ok(format!("{} executions", explored.executions)),
        Some(failure) => Err(failure.message),
    }
}

/// Sleepers with different delays of days: none wakes a nanosecond late.
fn days_in_sim() -> Result<String, String> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    one_execution(Sim::explore(&Exploration::default(), || {
        let sleepers: Vec<_> = (1..=20)
            .map(|stride| shuttle::spawn(move || doze(DAY / stride, 100)))
            .collect();
        sleepers.into_iter().for_each(shuttle::JoinHandle::join);
        assert_eq!(u128::from(Sim::now_nanos()), DAY.as_nanos() * 100);
    }))
}

/// Sleeps repeatedly, and checks that each sleep lasts as long as it should.
fn doze(each: Duration, times: u32) {
    let parker = shuttle::Parker::new();
    for _ in 0..times {
        let deadline = shuttle::clock::after(each);
        while !shuttle::clock::has_passed(deadline) {
            parker.park_until(deadline);
        }
        assert_eq!(Sim::now_nanos(), deadline.as_nanos());
    }
}

/// Threads that race for a lock record the same order every time.
fn twice_in_sim() -> Result<String, String> {
    let written = || {
        let kept = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let answer = kept.clone();
        let explored = Sim::explore(&Exploration::default(), move || {
            let log = shuttle::Arc::new(shuttle::Mutex::new(Vec::new()));
            let writers: Vec<_> = (0..4)
                .map(|writer| {
                    let log = log.clone();
                    shuttle::spawn(move || {
                        for _ in 0..5 {
                            log.lock().push((writer, shuttle::choose(100)));
                        }
                    })
                })
                .collect();
            writers.into_iter().for_each(shuttle::JoinHandle::join);
            answer
                .lock()
                .expect("no thread panics while it holds the lock")
                .clone_from(&log.lock());
        });
        one_execution(explored).map(|_| {
            kept.lock()
                .expect("no thread panics while it holds the lock")
                .clone()
        })
    };
    let (once, again) = (written()?, written()?);
    if once.len() == 20 && once == again {
        Ok("20 lines".to_owned())
    } else {
        Err(format!("{once:?}, then {again:?}"))
    }
}

fn one_execution(explored: Explored) -> Result<String, String> {
    match explored {
        Explored {
            executions: 1,
            complete: false,
            undecided: 0,
            failure: None,
        } => Ok("1 execution".to_owned()),
        other => Err(format!("{other:?}")),
    }
}
