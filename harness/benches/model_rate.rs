//! Measures what the facade costs a model checker: executions per second of one model, written once against the checker
//! itself and once against the facade. The model is a queue of capacity 1 behind a lock and two condition variables. It
//! has as many threads as the checker can explore. Rounds follow each other at once; the result is the median ratio.
//!
//! ```text
//! cargo bench -p flowmeter-harness --features model-rate --bench model_rate
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flowmeter_harness::sync::{self, Exploration, Scheduling, World};

const ROUNDS: usize = 9;
/// Executions per round under shuttle, with its random scheduler.
const EXECUTIONS: usize = 8_000;

/// The model over these primitives. `$get` turns what their `lock` returns into a guard.
macro_rules! model {
    ($name:ident, $get:ident, $($primitives:item)+) => {
        mod $name {
            use std::collections::VecDeque;

            $($primitives)+

            /// Runs `pairs` producers and `pairs` consumers with `values` values each. The first thread of the model is
            /// one of them.
            pub fn run(pairs: usize, values: usize) {
                let shared =
                    Arc::new((Mutex::new(VecDeque::new()), Condvar::new(), Condvar::new()));
                let put = |shared: &(Mutex<VecDeque<usize>>, Condvar, Condvar), value| {
                    let mut queue = $get!(shared.0.lock());
                    while queue.len() == 1 {
                        queue = $get!(shared.1.wait(queue));
                    }
                    queue.push_back(value);
                    drop(queue);
                    shared.2.notify_one();
                };
                let take = |shared: &(Mutex<VecDeque<usize>>, Condvar, Condvar)| {
                    let mut queue = $get!(shared.0.lock());
                    let value = loop {
                        match queue.pop_front() {
                            Some(value) => break value,
                            None => queue = $get!(shared.2.wait(queue)),
                        }
                    };
                    drop(queue);
                    shared.1.notify_one();
                    value
                };
                let others: Vec<_> = (1..2 * pairs)
                    .map(|thread| {
                        let shared = shared.clone();
                        spawn(move || {
                            for value in 0..values {
                                match thread % 2 {
                                    0 => put(&shared, value),
                                    _ => drop(take(&shared)),
                                }
                            }
                        })
                    })
                    .collect();
                (0..values).for_each(|value| put(&shared, value));
                for other in others {
                    let _ = other.join();
                }
            }
        }
    };
}

macro_rules! unwrapped {
    ($locked:expr) => {
        $locked.expect("no thread panics while it holds the lock")
    };
}
macro_rules! plain {
    ($locked:expr) => {
        $locked
    };
}

model! {
    bare_shuttle,
    unwrapped,
    use shuttle::sync::{Arc, Condvar, Mutex};
    use shuttle::thread::spawn;
}
model! {
    our_shuttle,
    plain,
    use flowmeter_harness::sync::shuttle::{Arc, Condvar, Mutex, spawn};
}
model! {
    bare_loom,
    unwrapped,
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread::spawn;
}
model! {
    our_loom,
    plain,
    use flowmeter_harness::sync::loom::{Arc, Condvar, Mutex, spawn};
}

fn main() {
    println!("executions a second, medians of {ROUNDS} rounds; ratio of ours to the checker's own");
    compare("shuttle, 4 threads", bare_shuttle_rate, || {
        let plan = Exploration {
            executions: EXECUTIONS as u64,
            scheduling: Scheduling::Random,
            time: Duration::MAX,
            mischief: false,
            ..Exploration::default()
        };
        explored::<sync::shuttle::Shuttle>(plan, || our_shuttle::run(2, 3))
    });
    compare("loom, 2 threads", bare_loom_rate, || {
        let plan = Exploration {
            executions: u64::MAX,
            time: Duration::MAX,
            mischief: false,
            ..Exploration::default()
        };
        explored::<sync::loom::Loom>(plan, || our_loom::run(1, 3))
    });
}

fn compare(name: &str, bare: fn() -> f64, ours: impl Fn() -> f64) {
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (bare(), ours())).collect();
    let median = |rounds: &mut Vec<(f64, f64)>, of: fn(&(f64, f64)) -> f64| {
        rounds.sort_by(|a, b| of(a).total_cmp(&of(b)));
        (
            of(&rounds[0]),
            of(&rounds[ROUNDS / 2]),
            of(&rounds[ROUNDS - 1]),
        )
    };
    let (_, bare, _) = median(&mut rounds, |(bare, _)| *bare);
    let (_, ours, _) = median(&mut rounds, |(_, ours)| *ours);
    let (least, ratio, most) = median(&mut rounds, |(bare, ours)| ours / bare);
    println!(
        "{name:20} bare {bare:>8.0}  ours {ours:>8.0}  ratio {ratio:.2} ({least:.2} to {most:.2})"
    );
}

fn explored<W: World>(plan: Exploration, model: impl Fn() + Send + Sync + 'static) -> f64 {
    let began = Instant::now();
    let explored = W::explore(&plan, model);
    assert_eq!(explored.failure, None);
    explored.executions as f64 / began.elapsed().as_secs_f64()
}

fn bare_shuttle_rate() -> f64 {
    let mut config = shuttle::Config::new();
    config.stack_size = 256 * 1024;
    config.silence_warnings = true;
    let scheduler = shuttle::scheduler::RandomScheduler::new_from_seed(1, EXECUTIONS);
    let began = Instant::now();
    shuttle::Runner::new(scheduler, config).run(|| bare_shuttle::run(2, 3));
    EXECUTIONS as f64 / began.elapsed().as_secs_f64()
}

fn bare_loom_rate() -> f64 {
    static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
    EXECUTIONS.store(0, Ordering::Relaxed);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    let began = Instant::now();
    builder.check(|| {
        EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        bare_loom::run(1, 3);
    });
    EXECUTIONS.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64()
}
