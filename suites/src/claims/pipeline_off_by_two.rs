//! "Clojure's core.async pipeline-async off-by-two error explained": how many tasks a pipeline of n has in flight,
//! why, and how it can be fixed.
//!
//! The text has four designs: the original, the same with two lines swapped, one that delivers in the order of
//! completion, and the fix. Each implementation re-enacts the claims about its own design, which follows from its
//! bound, order and window.

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::World;

use super::ten_tasks::{Run, SECONDS, SLOW_HEAD, SLOWEST_HEAD, chain, run, stops};
use super::{Claim, Enactment, Seed};

const THREE: Claim = Claim::new(
    "(pipeline-async 3 ...), ten tasks of 1 s",
    "\"Elapsed time: 2017.977058 msecs\"",
    &["after 2000 ms"],
);

const ONE: Claim = Claim::new(
    "(pipeline-async 1 ...), ten tasks of 1 s",
    "\"Elapsed time: 4011.54529 msecs\"",
    &["after 4000 ms"],
);

const BATCHES: Claim = Claim::new(
    "the log of (pipeline-async 1 ...): which jobs start together",
    "2 1 0, 3 4 5, 6 7 8, 9",
    &["0 1 2, 3 4 5, 6 7 8, 9"],
)
.note("as sets: which of a batch is first is up to the scheduler");

const LAUNCHED: Claim = Claim::new(
    "with a parallelism of 1",
    "3 tasks were launched",
    &["3 in flight"],
);

const FIVE: Claim = Claim::new(
    "with a parallelism of 3",
    "5 tasks are running simultaneously",
    &["5 in flight"],
);

const IN_ORDER: Claim = Claim::new(
    "(pipeline-async 1 ...), the first task takes 10 s, the others 1 s: what comes out",
    "[1 2 3 4 5 6 7 8 9 10]",
    &["1 2 3 4 5 6 7 8 9 10"],
);

const HEAD: Claim = Claim::new(
    "(pipeline-async 1 ...), the first task takes 10 s, the others nothing: the first result",
    "\"Elapsed time: 10013.587567 msecs\"",
    &["after 10000 ms"],
);

const NO_MORE: Claim = Claim::new(
    "until that one is finished no more tasks will be taken",
    "we've started three jobs",
    &["3 in 10000 ms"],
);

const THIRTEEN: Claim = Claim::new(
    "(pipeline-async 1 ...), the first task takes 10 s, the others 1 s",
    "\"Elapsed time: 13011.037871 msecs\"",
    &["after 13000 ms"],
);

const DECREMENTED: Claim = Claim::new(
    "(pipeline* (dec n) ...), asked for 2",
    "isn't a proper solution by any means",
    &["3 in flight"],
)
.note("one more than was asked for");

const SWAPPED: Claim = Claim::new(
    "jobs after results, with a parallelism of 1",
    "only two tasks will run",
    &["2 in flight"],
);

const SWAPPED_ONE: Claim = Claim::new(
    "jobs after results, n = 1: ten tasks of 1 s",
    "only two tasks will run",
    &["after 5000 ms"],
)
.note("ten over two");

const SWAPPED_THREE: Claim = Claim::new(
    "jobs after results, n = 3: ten tasks of 1 s",
    "doesn't fix the error",
    &["after 3000 ms"],
)
.note("ten over four, rounded up");

const EXACTLY: Claim = Claim::new(
    "(pipeline-async-unordered 3 ...)",
    "exactly 3 tasks running at a time",
    &["3 in flight"],
);

const FOUR: Claim = Claim::new(
    "(pipeline-async-unordered 3 ...), ten tasks of 1 s",
    "\"Elapsed time: 4007.215739 msecs\"",
    &["after 4000 ms"],
);

const AT_ONCE: Claim = Claim::new(
    "(pipeline-async-unordered 3 ...), the first task takes 10 s, the others nothing: the first result",
    "\"Elapsed time: 4.602578 msecs\"",
    &["after 0 ms"],
);

const HEAD_LAST: Claim = Claim::new(
    "(pipeline-async-unordered 3 ...), the first task takes 10 s, the others 1 s: what comes last",
    "[2 3 5 4 6 7 9 8 10 1]",
    &["1"],
);

const TEN: Claim = Claim::new(
    "(pipeline-async-unordered 3 ...), the first task takes 10 s, the others 1 s",
    "\"Elapsed time: 10003.531318 msecs\"",
    &["after 10000 ms"],
);

const LAST_WORKER: Claim = Claim::new(
    "the last worker closes `to`: when, where one has a task of 10 s and the others have ended",
    "it is our responsibility to close!",
    &["after 10000 ms"],
);

const PROPER: Claim = Claim::new(
    "with `finishes`, n = 1, 2, 3",
    "no more than n active jobs",
    &["1, 2, 3 in flight"],
);

const BOUNDED: Claim = Claim::new(
    "ten tasks of 1 s where n is a bound, n = 3 and n = 1",
    "\"shouldn't it be close to four seconds\"; \"around ten seconds\"",
    &["after 4000 ms, after 10000 ms"],
);

const CHAIN: Claim = Claim::new(
    "(process 10 ...), then (process-async 10 ...), ten values, 1 s in each",
    "\"Elapsed time: 2011.683893 msecs\"",
    &["after 2000 ms"],
)
.note("process-async asks for n - 2; process is made of the same here");

const LEFT_OPEN: Claim = Claim::new(
    "`to` closes when `from` does",
    "can be determined by the close? parameter",
    &["closed, or left open"],
);

const STOPS: Claim = Claim::new(
    "`to` is closed: ten tasks of 1 s, n = 1",
    "Will stop consuming the from channel",
    &["it stops"],
)
.note("closed before the first task has ended, and not all are taken");

pub(super) struct PipelineOffByTwo;

impl Seed for PipelineOffByTwo {
    const FILE: &'static str = "004_ebf855893e4a364d.txt";
    const TITLE: &'static str = "Clojure's core.async pipeline-async off-by-two error explained";
    const CLAIMS: &'static [&'static Claim] = &[
        &THREE,
        &ONE,
        &BATCHES,
        &LAUNCHED,
        &FIVE,
        &SWAPPED,
        &SWAPPED_ONE,
        &SWAPPED_THREE,
        &EXACTLY,
        &FOUR,
        &LAST_WORKER,
        &HEAD,
        &NO_MORE,
        &AT_ONCE,
        &IN_ORDER,
        &THIRTEEN,
        &TEN,
        &HEAD_LAST,
        &DECREMENTED,
        &PROPER,
        &BOUNDED,
        &CHAIN,
        &LEFT_OPEN,
        &STOPS,
    ];

    fn pipeline<P, C, E, W>(implementation: &Registered) -> Vec<Enactment>
    where
        P: Pipelines<C, E> + Default,
        C: Async,
        E: Executors,
        W: World,
    {
        let of_its_design = match implementation.capabilities.bound_over_n {
            _ if !P::ORDERED => unordered::<P, C, E>(),
            Some(2) => original::<P, C, E>(),
            Some(1) => swapped::<P, C, E>(),
            _ => fixed::<P, C, E>(),
        };
        let mut all = of_its_design;
        all.push(LEFT_OPEN.seen_in(|| {
            let ends = [AtEnd::Close, AtEnd::LeaveOpen];
            match ends.map(|end| Run::of::<P, C, E>(3, SECONDS, end).closed.is_some()) {
                [true, false] => "closed, or left open".to_owned(),
                seen => format!("closed: {seen:?}"),
            }
        }));
        all.push(STOPS.seen_in(stops::<P, C, E>));
        all
    }
}

fn original<P, C, E>() -> Vec<Enactment>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    vec![
        THREE.seen_in(|| run::<P, C, E>(3, SECONDS).ends()),
        ONE.seen_in(|| run::<P, C, E>(1, SECONDS).ends()),
        BATCHES.seen_in(|| run::<P, C, E>(1, SECONDS).batches()),
        LAUNCHED.seen_in(|| run::<P, C, E>(1, SECONDS).most()),
        FIVE.seen_in(|| run::<P, C, E>(3, SECONDS).most()),
        HEAD.seen_in(|| run::<P, C, E>(1, SLOW_HEAD).begins()),
        NO_MORE.seen_in(|| run::<P, C, E>(1, SLOW_HEAD).started_before_the_head_ended()),
        IN_ORDER.seen_in(|| run::<P, C, E>(1, SLOWEST_HEAD).values()),
        THIRTEEN.seen_in(|| run::<P, C, E>(1, SLOWEST_HEAD).ends()),
        DECREMENTED.seen_in(|| run::<P, C, E>(2 - 1, SECONDS).most()),
        CHAIN.seen_in(chain::<P, C, E>),
    ]
}

fn swapped<P, C, E>() -> Vec<Enactment>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    vec![
        SWAPPED.seen_in(|| run::<P, C, E>(1, SECONDS).most()),
        SWAPPED_ONE.seen_in(|| run::<P, C, E>(1, SECONDS).ends()),
        SWAPPED_THREE.seen_in(|| run::<P, C, E>(3, SECONDS).ends()),
    ]
}

fn unordered<P, C, E>() -> Vec<Enactment>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    vec![
        EXACTLY.seen_in(|| run::<P, C, E>(3, SECONDS).most()),
        FOUR.seen_in(|| run::<P, C, E>(3, SECONDS).ends()),
        LAST_WORKER.seen_in(|| run::<P, C, E>(3, SLOW_HEAD).closes()),
        AT_ONCE.seen_in(|| run::<P, C, E>(3, SLOW_HEAD).begins()),
        TEN.seen_in(|| run::<P, C, E>(3, SLOWEST_HEAD).ends()),
        HEAD_LAST.seen_in(|| run::<P, C, E>(3, SLOWEST_HEAD).last()),
    ]
}

fn fixed<P, C, E>() -> Vec<Enactment>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
{
    vec![
        PROPER.seen_in(|| {
            let most = [1, 2, 3].map(|n| run::<P, C, E>(n, SECONDS).most.to_string());
            format!("{} in flight", most.join(", "))
        }),
        BOUNDED.seen_in(|| [3, 1].map(|n| run::<P, C, E>(n, SECONDS).ends()).join(", ")),
    ]
}
