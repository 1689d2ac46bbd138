//! A case that is a family of models: programs generated from the seed of the plan. Each program is explored for a
//! share of the budget. The first that fails is shrunk as long as it still fails for the same reason.

use std::fmt::{Debug, Display};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flowmeter_harness::sync::{Exploration, Explored, Failure, Member};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::{Explorer, Model, begin};

/// A program that is generated, shrunk, printed in a failure, and kept as its key.
pub(crate) trait Generated: Clone + Debug + Display + Serialize + DeserializeOwned {
    /// How many operations it has.
    fn size(&self) -> usize;

    /// Whether it has one thread, and so one schedule.
    fn is_sequential(&self) -> bool {
        false
    }
}

/// The number of executions of each program, and the maximum number of programs.
fn shares(world: &str, executions: u64) -> (u64, u64) {
    match world {
        // The space of a program is exhausted, or nothing is proved about it.
        "loom" => (executions, LOOM_PROGRAMS),
        // There is only one schedule.
        "sim" => (1, executions.div_ceil(4)),
        _ => (
            SCHEDULES.min(executions.max(1)),
            executions.div_ceil(SCHEDULES),
        ),
    }
}

/// Under loom the cost of a program grows with its space.
const LOOM_PROGRAMS: u64 = 20;
/// How many programs with one schedule loom runs at most, and how many real threads run for each execution that the
/// plan has: they start no thread.
const LOOM_SEQUENCES: u64 = 400;
const STD_SEQUENCES: u64 = 8;
const SCHEDULES: u64 = 40;

/// How many smaller programs are tried.
const ATTEMPTS: usize = 300;
/// A program that failed once may fail rarely, so a smaller one is tried this many times as often.
const AGAIN: u64 = 4;

/// Explores programs. Under loom the result is `complete` when the space of each program was exhausted. The programs
/// themselves are a sample in every world.
pub(crate) fn explore<P: Generated>(
    explorer: &Explorer,
    programs: impl Strategy<Value = P>,
    plan: &Exploration,
    model: impl Fn(&Arc<P>) -> Model,
) -> Explored {
    let began = Instant::now();
    let mut runner = runner(plan.seed);
    let mut total = Explored {
        executions: 0,
        complete: true,
        undecided: 0,
        failure: None,
    };
    let (each, most) = shares(explorer.world, plan.executions);
    let explore = |program: &P, executions: u64, seed: u64, time: Duration| {
        // Loom says itself that there is one schedule.
        let executions = match program.is_sequential() && explorer.world != "loom" {
            true => 1,
            false => executions,
        };
        let plan = Exploration {
            executions,
            time,
            seed,
            ..plan.clone()
        };
        let model = model(&Arc::new(program.clone()));
        let beginning = move || {
            begin();
            model();
        };
        explorer.explore(&plan, Arc::new(beginning))
    };
    let sequences = match explorer.world {
        "loom" => LOOM_SEQUENCES.min(plan.executions),
        "std" => plan.executions.saturating_mul(STD_SEQUENCES),
        _ => plan.executions,
    };
    let (mut shared, mut single) = (0, 0);
    for index in 0.. {
        if shared == most || single == sequences {
            break;
        }
        let left = plan.time.saturating_sub(began.elapsed());
        let room = room(plan.executions, total.executions, single);
        if left.is_zero() || room == 0 {
            total.complete = false;
            break;
        }
        let mut tree = programs
            .new_tree(&mut runner)
            .expect("no program is filtered out");
        let seed = plan.seed.wrapping_add(index);
        let program = tree.current();
        match program.is_sequential() {
            true => single += 1,
            false => shared += 1,
        }
        let explored = explore(&program, each.min(room), seed, left);
        total.executions += explored.executions;
        total.complete &= explored.complete;
        if let Some(failure) = explored.failure {
            let found = tree.current();
            let fails = |program: &P| {
                let executions = each.saturating_mul(AGAIN);
                explore(program, executions, seed, plan.shrinking).failure
            };
            let (least, failure) = shrunk(&mut tree, plan.shrinking, failure, fails);
            total.complete = false;
            let told = format!(
                "The program, shrunk from {} operations to {}, was number {index} of seed {}:\n{least}",
                found.size(),
                least.size(),
                plan.seed,
            );
            let key = serde_json::to_string(&least).expect("a program is plain data");
            total.failure = Some(Failure {
                member: Some(Member { key, told }),
                ..failure
            });
            break;
        }
    }
    total
}

/// How many executions are left for programs that have more than one: a sequence uses none up. One for which no time was
/// left had no execution.
fn room(most: u64, executions: u64, sequences: u64) -> u64 {
    most.saturating_sub(executions.saturating_sub(sequences))
}

/// The model of the program with that key.
pub(crate) fn member<P: Generated>(key: &str, model: impl Fn(&Arc<P>) -> Model) -> Option<Model> {
    let program: P = serde_json::from_str(key).ok()?;
    Some(model(&Arc::new(program)))
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// The smallest program found that fails for the same reason, and its failure.
fn shrunk<P: Generated>(
    tree: &mut impl ValueTree<Value = P>,
    patience: Duration,
    failure: Failure,
    fails: impl Fn(&P) -> Option<Failure>,
) -> (P, Failure) {
    let began = Instant::now();
    let mut least = (tree.current(), failure);
    let mut more = tree.simplify();
    for _ in 0..ATTEMPTS {
        if !more || began.elapsed() >= patience {
            break;
        }
        let program = tree.current();
        more = match fails(&program) {
            Some(failure) if failure.violated() == least.1.violated() => {
                least = (program, failure);
                tree.simplify()
            }
            _ => tree.complicate(),
        };
    }
    least
}

#[cfg(test)]
mod tests {
    use flowmeter_harness::channel::Buffer;
    use flowmeter_harness::sync::std::Std;

    use super::super::generate::{Menu, Waits};
    use super::super::program::Operation;
    use super::*;

    /// Every program fails that closes the second channel.
    fn found(seed: u64) -> String {
        let menu = Menu {
            buffers: vec![Buffer::Rendezvous, Buffer::fixed(1)],
            channels: 2,
            threads: 4,
            operations: 4,
            clauses: 2,
            puts: Waits::default(),
            takes: Waits::default(),
            closes: true,
            one_consumer: false,
        };
        let plan = Exploration {
            seed,
            ..Exploration::default()
        };
        let explored = explore(&Explorer::of::<Std>(), menu.programs(), &plan, |program| {
            let program = Arc::clone(program);
            Arc::new(move || {
                let mut operations = program.threads.iter().flatten();
                let fails = operations.any(|operation| *operation == Operation::Close(1));
                assert!(!fails, "C6: it is closed");
            })
        });
        let failure = explored.failure.expect("some program closes it");
        failure.to_string()
    }

    #[test]
    fn what_fails_is_shrunk_to_what_makes_it_fail() {
        let failure = found(1);
        assert!(
            failure.starts_with("C6: it is closed\nThe program, shrunk"),
            "{failure}"
        );
        let threads: Vec<&str> = failure
            .lines()
            .filter(|line| line.contains("thread"))
            .collect();
        // Two threads of one operation each: there are no smaller programs.
        assert_eq!(threads.len(), 2, "{failure}");
        assert!(
            threads.iter().any(|line| line.ends_with(": close(b)")),
            "{failure}"
        );
        assert!(!failure.contains(';'), "{failure}");
    }

    #[test]
    fn sequences_use_up_no_room_even_without_time() {
        assert_eq!(room(10, 7, 3), 6);
        assert_eq!(room(10, 2, 3), 10);
        assert_eq!(room(10, 99, 3), 0);
    }

    #[test]
    fn programs_are_the_seeds() {
        assert_eq!(found(2), found(2));
        assert_ne!(found(2), found(3));
    }
}
