//! A failing execution is kept, reproduces every time, and is shrunk.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use flowmeter_harness::sync::loom::{self, Loom};
use flowmeter_harness::sync::shuttle::{self, Shuttle, Sim};
use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Exploration, Failure, Replayed, Schedule, World, panic_text};
use flowmeter_suites::isolation::Model;
use shuttle::atomic::{AtomicUsize, Ordering};

/// The models.
pub fn models() -> Vec<Model> {
    vec![
        Model::new("shuttle::a_kept_failure_comes_again_every_time", || {
            comes_again::<Shuttle>(lost_among_many)
        }),
        Model::new("shuttle::a_kept_deadlock_comes_again_every_time", || {
            comes_again::<Shuttle>(locks_in_two_orders)
        }),
        Model::new("shuttle::a_kept_leak_comes_again_every_time", || {
            comes_again::<Shuttle>(seldom_leaks)
        }),
        Model::new("shuttle::a_kept_timer_comes_again_every_time", || {
            comes_again::<Shuttle>(timers_and_chance)
        }),
        Model::new("loom::a_kept_failure_comes_again_every_time", || {
            comes_again::<Loom>(loom_chooses_and_loses)
        }),
        Model::new("loom::a_kept_race_comes_again_every_time", || {
            comes_again::<Loom>(loom_races)
        }),
        Model::new("sim::a_kept_failure_comes_again_every_time", || {
            comes_again::<Sim>(|| assert!(shuttle::choose(2) > 1, "alas: chance"))
        }),
        Model::new("shuttle::a_shrunk_schedule_fails_alike", || {
            shrinks(lost_among_many, 12)
        }),
        Model::new("shuttle::a_shrunk_deadlock_fails_alike", || {
            shrinks(locks_in_two_orders, 1)
        }),
        Model::new("shuttle::what_is_shrunk_with_timers_fails_alike", || {
            shrinks(timers_and_chance, usize::MAX)
        }),
        Model::new("shuttle::shrinking_is_the_same_every_time", || {
            let found = found::<Shuttle>(lost_among_many)?;
            let shrink = || Shuttle::shrink(&found, lost_among_many, A_MINUTE);
            match (shrink(), shrink()) {
                (one, other) if one == other => Ok("twice the same".to_owned()),
                different => Err(format!("{different:?}")),
            }
        }),
        Model::new("loom::only_the_execution_asked_for_is_run", only_that_one),
        Model::new("schedules_say_if_they_fit", no_longer_fits),
        Model::new("loom::a_number_of_another_execution_does_not_fit", || {
            outgrown(loom_chooses_and_looks)
        }),
        Model::new("loom::an_execution_with_other_choices_does_not_fit", || {
            outgrown(loom_chooses_once_more)
        }),
        Model::new(
            "loom::an_execution_with_another_answer_does_not_fit",
            || outgrown_from(loom_sees_an_old_value, loom_sees_an_old_value_late),
        ),
        Model::new("loom::a_mended_model_fits", mended_fits),
        Model::new("schedules_are_of_one_world", of_one_world),
        Model::new("schedules_survive_a_file", survive_a_file),
    ]
}

const A_MINUTE: Duration = Duration::from_secs(60);

fn plan() -> Exploration {
    Exploration {
        executions: 100_000,
        time: A_MINUTE,
        ..Exploration::default()
    }
}

/// On a system thread of its own, which a failure leaves unusable.
fn found<W: World>(model: impl Fn() + Send + Sync + 'static) -> Result<Failure, String> {
    let explored = std::thread::spawn(|| W::explore(&plan(), model)).join();
    let failure = explored.map_err(|panic| panic_text(&*panic))?.failure;
    failure.ok_or_else(|| "nothing failed".to_owned())
}

fn scheduled(failure: &Failure) -> Result<&Schedule, String> {
    let schedule = failure.schedule.as_ref();
    schedule.ok_or_else(|| format!("no schedule: {failure}"))
}

/// Twenty out of twenty times: the same message, and the same schedule.
fn comes_again<W: World>(
    model: impl Fn() + Clone + Send + Sync + 'static,
) -> Result<String, String> {
    let found = found::<W>(model.clone())?;
    for time in 1..=20 {
        let again = W::replay(scheduled(&found)?, model.clone())?;
        let expected = Replayed {
            failure: Some(found.clone()),
            fits: true,
        };
        if again != expected {
            return Err(format!("time {time}: {again:?} instead of {found:?}"));
        }
    }
    Ok(found.to_string())
}

/// Shrinks to at most that many switches, and no more than before; the result is replayed exactly.
fn shrinks(
    model: impl Fn() + Clone + Send + Sync + 'static,
    most: usize,
) -> Result<String, String> {
    let found = found::<Shuttle>(model.clone())?;
    let shrunk = Shuttle::shrink(&found, model.clone(), A_MINUTE);
    let shrunk = shrunk.unwrap_or_else(|| found.clone());
    let switches = |failure| scheduled(failure).map(|schedule| schedule.switches());
    let (before, after) = (switches(&found)?, switches(&shrunk)?);
    let seen = format!("{before:?} switches, then {after:?}: {shrunk}");
    if after > before || after > Some(most) || shrunk.violated() != found.violated() {
        return Err(seen);
    }
    for _ in 0..20 {
        let again = Shuttle::replay(scheduled(&shrunk)?, model.clone())?;
        if again.failure.as_ref() != Some(&shrunk) {
            return Err(format!("{again:?} instead of {shrunk:?}"));
        }
    }
    Ok(seen)
}

/// Two of eight threads lose an increment among many unrelated steps.
fn lost_among_many() {
    let counters = shuttle::Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let others: Vec<_> = (0..8)
        .map(|number| {
            let counters = counters.clone();
            shuttle::spawn(move || {
                for _ in 0..10 {
                    counters[0].fetch_add(shuttle::choose(3), Ordering::SeqCst);
                }
                if number < 2 {
                    let seen = counters[1].load(Ordering::SeqCst);
                    counters[1].store(seen + 1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    others.into_iter().for_each(shuttle::JoinHandle::join);
    let kept = counters[1].load(Ordering::SeqCst);
    assert_eq!(kept, 2, "C1: an increment was lost");
}

fn locks_in_two_orders() {
    let locks = shuttle::Arc::new((shuttle::Mutex::new(0), shuttle::Mutex::new(0)));
    let other = {
        let locks = locks.clone();
        shuttle::spawn(move || {
            for _ in 0..3 {
                let mut second = locks.1.lock();
                *second += *locks.0.lock();
            }
        })
    };
    for _ in 0..3 {
        let mut first = locks.0.lock();
        *first += *locks.1.lock();
    }
    other.join();
}

/// Reported only when the next execution has begun.
fn seldom_leaks() {
    let other = shuttle::spawn(shuttle::random_u64);
    if other.join() % 16 == 0 {
        std::mem::forget(shuttle::Track::new(()));
    }
}

fn timers_and_chance() {
    let pair = shuttle::Arc::new((shuttle::Mutex::new(0_u64), shuttle::Condvar::new()));
    let waiters: Vec<_> = (1..4)
        .map(|number| {
            let pair = pair.clone();
            shuttle::spawn(move || {
                let deadline = shuttle::clock::after(Duration::from_millis(number));
                let (mut last, passed) = pair.1.wait_until(pair.0.lock(), deadline);
                assert!(!passed || *last < number, "T3: {} before {number}", *last);
                *last = number * 10;
            })
        })
        .collect();
    for _ in 0..shuttle::choose(4) {
        pair.1.notify_one();
    }
    waiters.into_iter().for_each(shuttle::JoinHandle::join);
}

/// Fails under the last of three choices, and then only if the other thread runs between two steps of this one.
fn loom_chooses_and_loses() {
    use loom::atomic::{AtomicUsize, Ordering};
    let counter = loom::Arc::new(AtomicUsize::new(0));
    let careful = loom::choose(3) < 2;
    let other = {
        let counter = counter.clone();
        loom::spawn(move || counter.fetch_add(10, Ordering::SeqCst))
    };
    if careful {
        counter.fetch_add(1, Ordering::SeqCst);
    } else {
        let seen = counter.load(Ordering::SeqCst);
        counter.store(seen + 1, Ordering::SeqCst);
    }
    other.join();
    assert_ne!(counter.load(Ordering::SeqCst), 1, "C1: ten were lost");
}

/// The same with an unrelated read before.
fn loom_chooses_and_looks() {
    use loom::atomic::{AtomicUsize, Ordering};
    let unrelated = loom::Arc::new(AtomicUsize::new(0));
    let other = {
        let unrelated = unrelated.clone();
        loom::spawn(move || unrelated.load(Ordering::SeqCst))
    };
    unrelated.store(1, Ordering::SeqCst);
    loom_chooses_and_loses();
    other.join();
}

/// The same with another choice before.
fn loom_chooses_once_more() {
    loom::choose(2);
    loom_chooses_and_loses();
}

/// A flag is seen, and what was written before it is not.
fn loom_sees_an_old_value() {
    loom_reads_what_was_sent(|| {});
}

/// The same where an execution that does not fail comes earlier or later.
fn loom_sees_an_old_value_late() {
    loom_reads_what_was_sent(|| {
        loom::yield_now();
    });
}

fn loom_reads_what_was_sent(unseen: fn()) {
    use loom::atomic::AtomicUsize;
    let sent = loom::Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let other = {
        let sent = sent.clone();
        loom::spawn(move || {
            sent[0].store(1, Relaxed);
            sent[1].store(1, Relaxed);
        })
    };
    if sent[1].load(Relaxed) == 1 {
        let value = sent[0].load(Relaxed);
        assert_eq!(value, 1, "C1: the flag came before the value");
    } else {
        unseen();
    }
    other.join();
}

fn loom_races() {
    let cell = loom::Arc::new(super::loom_world::Shared::new(0));
    let other = {
        let cell = cell.clone();
        loom::spawn(move || cell.set(1))
    };
    cell.set(2);
    other.join();
}

/// Replays not the whole exploration before it, only the part with its choices.
fn only_that_one() -> Result<String, String> {
    let found = found::<Loom>(loom_chooses_and_loses)?;
    let Schedule::Nth { execution, .. } = *scheduled(&found)? else {
        return Err(format!("{found:?}"));
    };
    let again = Loom::replay(scheduled(&found)?, loom_chooses_and_loses)?;
    if execution == 1 || again.failure.as_ref() != Some(&found) {
        return Err(format!("{again:?} instead of execution {execution}"));
    }
    // An earlier one, which did not fail.
    let earlier = Schedule::Nth {
        choices: "0.1=0/3".to_owned(),
        mischief: String::new(),
        preemptions: Some(2),
        execution: 1,
        operations: 0,
        fingerprint: 0,
    };
    match Loom::replay(&earlier, loom_chooses_and_loses)? {
        Replayed {
            failure: None,
            fits: true,
        } => Ok(format!("{execution} executions")),
        other => Err(format!("{other:?}")),
    }
}

/// Where a model no longer makes the steps of a schedule, the result says so.
fn no_longer_fits() -> Result<String, String> {
    let nothing = || {};
    let lost = found::<Shuttle>(lost_among_many)?;
    let late = Schedule::Nth {
        choices: String::new(),
        mischief: String::new(),
        preemptions: Some(2),
        execution: 9,
        operations: 0,
        fingerprint: 0,
    };
    let outgrown = [
        Shuttle::replay(scheduled(&lost)?, nothing)?,
        Loom::replay(&late, nothing)?,
    ];
    let unfit = Replayed {
        failure: None,
        fits: false,
    };
    match outgrown.iter().find(|answer| **answer != unfit) {
        None => Ok("neither fits".to_owned()),
        Some(fits) => Err(format!("{fits:?}")),
    }
}

/// The `n`-th execution of the outgrown model is another one. It may fail or not, but it does not fit.
fn outgrown(model: fn()) -> Result<String, String> {
    outgrown_from(loom_chooses_and_loses, model)
}

fn outgrown_from(model: fn(), outgrown: fn()) -> Result<String, String> {
    let found = found::<Loom>(model)?;
    match Loom::replay(scheduled(&found)?, outgrown)? {
        Replayed { fits: false, .. } => Ok("it does not fit".to_owned()),
        fits => Err(format!("{fits:?} of {found:?}")),
    }
}

/// A model that makes the same operations and no longer fails still fits.
fn mended_fits() -> Result<String, String> {
    static IS_MENDED: AtomicBool = AtomicBool::new(false);
    let model = || {
        let number = loom::atomic::AtomicUsize::new(0);
        let chosen = loom::choose(3);
        number.store(chosen, Relaxed);
        assert!(chosen < 2 || IS_MENDED.load(Relaxed), "alas");
        number.load(Relaxed);
    };
    let found = found::<Loom>(model)?;
    IS_MENDED.store(true, Relaxed);
    let mended = Loom::replay(scheduled(&found)?, model)?;
    let expected = Replayed {
        failure: None,
        fits: true,
    };
    match mended == expected {
        true => Ok("it holds, and fits".to_owned()),
        false => Err(format!("{mended:?}")),
    }
}

fn of_one_world() -> Result<String, String> {
    let nth = |choices: &str| Schedule::Nth {
        choices: choices.to_owned(),
        mischief: String::new(),
        preemptions: None,
        execution: 1,
        operations: 0,
        fingerprint: 0,
    };
    let refused = [
        Shuttle::replay(&Schedule::Turns, || {}),
        Sim::replay(&nth(""), || {}),
        Loom::replay(&Schedule::Turns, || {}),
        Loom::replay(&nth("soon"), || {}),
        Std::replay(&Schedule::Turns, || {}),
    ];
    match refused.iter().find(|answer| answer.is_ok()) {
        Some(replayed) => Err(format!("{replayed:?}")),
        None => Ok(format!("{refused:?}")),
    }
}

fn survive_a_file() -> Result<String, String> {
    for found in [
        found::<Shuttle>(lost_among_many)?,
        found::<Loom>(loom_chooses_and_loses)?,
    ] {
        let written = serde_json::to_string(&found).map_err(|why| why.to_string())?;
        let read: Failure = serde_json::from_str(&written).map_err(|why| why.to_string())?;
        if read != found {
            return Err(format!("{read:?} instead of {found:?}"));
        }
    }
    Ok("read as written".to_owned())
}
