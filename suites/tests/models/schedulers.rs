//! The schedulers of shuttle: each reaches every order, none starves a thread, and each finds what it is for.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowmeter_harness::sync::shuttle::atomic::{AtomicUsize, Ordering};
use flowmeter_harness::sync::shuttle::{Shuttle, spawn, spin_hint};
use flowmeter_harness::sync::{Exploration, Explored, Scheduling, World};
use flowmeter_suites::isolation::Model;

/// The models.
pub fn models() -> Vec<Model> {
    let each = |name: &str, run: fn(Scheduling) -> Result<String, String>| {
        let model = |scheduling: Scheduling| {
            let name = format!("shuttle::{}_{name}", scheduling.name());
            Model::new(name, move || run(scheduling))
        };
        Vec::from(Scheduling::ALL.map(model))
    };
    let mut models = each("reaches_every_order_of_two_threads", |scheduling| {
        // One change of priority gives at most two switches between two threads.
        let orders = if scheduling == Scheduling::Pct2 { 4 } else { 6 };
        reaches(scheduling, 500, orders, || racers(2, 2, 0))
    });
    models.extend(each(
        "has_few_spins_for_each_step_of_the_writer",
        |scheduling| {
            let explored = explore(scheduling, 3_000, spinners);
            match (explored.executions, explored.failure) {
                (3_000, None) => Ok("3,000 executions".to_owned()),
                other => Err(format!("{other:?}")),
            }
        },
    ));
    models.extend([
        Model::new(
            "shuttle::surw_reaches_every_order_behind_other_steps",
            || reaches(Scheduling::Surw, 2_000, 20, || racers(3, 3, 30)),
        ),
        Model::new("shuttle::pos_lets_a_step_wait_for_many_others", || {
            reaches(Scheduling::Pos, 2_000, 2, || racers(1, 1, 60))
        }),
        Model::new("shuttle::feedback_goes_down_a_ladder_of_reads", || {
            fails(Scheduling::Feedback, 5_000, ladder)
        }),
        Model::new("shuttle::random_needs_those_three", || {
            let behind = reaches(Scheduling::Random, 2_000, 20, || racers(3, 3, 30));
            let wait = reaches(Scheduling::Random, 2_000, 2, || racers(1, 1, 60));
            let ladder = fails(Scheduling::Random, 5_000, ladder);
            match (behind, wait, ladder) {
                (Err(_), Err(_), Err(_)) => Ok("it finds none of them".to_owned()),
                found => Err(format!("{found:?}: these models are too easy")),
            }
        }),
    ]);
    models
}

fn explore(
    scheduling: Scheduling,
    executions: u64,
    model: impl Fn() + Send + Sync + 'static,
) -> Explored {
    let plan = Exploration {
        executions,
        time: Duration::from_secs(60),
        mischief: false,
        scheduling,
        ..Exploration::default()
    };
    Shuttle::explore(&plan, model)
}

fn fails(scheduling: Scheduling, executions: u64, model: fn()) -> Result<String, String> {
    let explored = explore(scheduling, executions, model);
    match explored.failure {
        Some(failure) => Ok(format!("{} executions: {failure}", explored.executions)),
        None => Err(format!("nothing in {} executions", explored.executions)),
    }
}

/// Whether that many different results are seen.
fn reaches(
    scheduling: Scheduling,
    executions: u64,
    all: usize,
    model: fn() -> String,
) -> Result<String, String> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let kept = Arc::clone(&seen);
    let explored = explore(scheduling, executions, move || {
        kept.lock().expect("no model panics").insert(model());
    });
    let seen = seen.lock().expect("no model panics");
    let count = format!("{} of {all}: {seen:?}", seen.len());
    match explored.failure {
        None if seen.len() == all => Ok(count),
        failure => Err(format!("{count}, {failure:?}")),
    }
}

/// Two threads that access one object, the first after so many steps on an object of its own; the order in which they
/// did.
fn racers(first: usize, second: usize, before: usize) -> String {
    let shared = Arc::new(AtomicUsize::new(0));
    let order = Arc::new(Mutex::new(String::new()));
    let racer = |name: char, steps: usize, before: usize| {
        let (shared, order) = (Arc::clone(&shared), Arc::clone(&order));
        spawn(move || {
            let own = AtomicUsize::new(0);
            for _ in 0..before {
                own.fetch_add(1, Ordering::SeqCst);
            }
            for _ in 0..steps {
                shared.fetch_add(1, Ordering::SeqCst);
                order.lock().expect("no model panics").push(name);
            }
        })
    };
    let racers = [racer('a', first, before), racer('b', second, 0)];
    for racer in racers {
        racer.join();
    }
    let order = order.lock().expect("no model panics");
    order.clone()
}

/// Three threads spin until a fourth, with many steps, has raised a flag. Fails if they spin often.
fn spinners() {
    let flag = Arc::new(AtomicUsize::new(0));
    let spins = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let spinner = |_| {
        let (flag, spins) = (Arc::clone(&flag), Arc::clone(&spins));
        spawn(move || {
            while flag.load(Ordering::SeqCst) < 20 {
                let spins = spins.fetch_add(1, Ordering::Relaxed);
                assert!(spins < 2_000, "the writer starves");
                spin_hint();
            }
        })
    };
    let spinners = [0, 1, 2].map(spinner);
    for _ in 0..20 {
        flag.fetch_add(1, Ordering::SeqCst);
    }
    for spinner in spinners {
        spinner.join();
    }
}

/// Fails if a thread reads each of eight values between one write of another and the next. Each step is a line of its own.
fn ladder() {
    #[track_caller]
    fn is_at(rung: &AtomicUsize, value: usize) -> bool {
        rung.load(Ordering::SeqCst) == value
    }
    #[track_caller]
    fn raise(rung: &AtomicUsize, value: usize) {
        rung.store(value, Ordering::SeqCst);
    }
    let rung = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&rung);
    let climber = spawn(move || {
        let at_the_top = is_at(&seen, 1)
            && is_at(&seen, 2)
            && is_at(&seen, 3)
            && is_at(&seen, 4)
            && is_at(&seen, 5)
            && is_at(&seen, 6)
            && is_at(&seen, 7)
            && is_at(&seen, 8);
        assert!(!at_the_top, "at the top");
    });
    raise(&rung, 1);
    raise(&rung, 2);
    raise(&rung, 3);
    raise(&rung, 4);
    raise(&rung, 5);
    raise(&rung, 6);
    raise(&rung, 7);
    raise(&rung, 8);
    raise(&rung, 9);
    climber.join();
}
