//! "Clojure: managing throughput with virtual threads": an unordered map that returns results as they complete, a
//! semaphore with permits that come back after a second, and both together.
//!
//! The text has three maps: without a limit; with one, which returns nothing before all inputs were submitted; and
//! the same with the submission in a thread of its own. Claims about the third are put to lazy maps, claims about the
//! second to the others. The semaphore is the first semaphore of ours that serves in order of arrival.

use std::cmp::Reverse;
use std::future::{Future, poll_fn};
use std::num::{NonZeroU32, NonZeroUsize};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::caps::Claim as Promise;
use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::limiter::{AsyncLimit, Quota};
use flowmeter_harness::parallel_map::{Outcomes, ParallelMaps, Throttle};
use flowmeter_harness::registry::Registered;
use flowmeter_harness::sync::World;

use super::{Claim, Enactment, Seed};
use crate::properties::Clock;
use crate::properties::design::Channels;

const UNLIMITED: Claim = Claim::new(
    "each task has a thread of its own: 1,000 tasks of 1 s",
    "\"unlimited\" threads",
    &["after 1000 ms"],
);

const AS_THEY_COMPLETE: Claim = Claim::new(
    "the completion service: tasks of 3 s, 1 s and 2 s",
    "tasks as they complete rather than the order they are submitted in",
    &["2 after 1000 ms, 3 after 2000 ms, 1 after 3000 ms"],
);

const MORE_THAN_THERE_ARE: Claim = Claim::new(
    "we take more tasks than there are",
    "this code will block indefinitely",
    &["it waits for ever"],
);

const EAGERLY: Claim = Claim::new(
    "(upmap inc [1 2 3 4 5 6]): inputs taken before the first task",
    "it requires all of it's inputs before it will execute",
    &["6 inputs"],
)
.note("one task at a time here, where the text begins all at once");

const SIX: Claim = Claim::new(
    "(upmap inc [1 2 3 4 5 6])",
    "(2 3 4 5 6 7)",
    &["2 3 4 5 6 7"],
)
.note("as a set: it is unordered");

const LAZILY: Claim = Claim::new(
    "a task of 10 s and one of 1 s: the first result",
    "process them as they are completed rather than waiting for all tasks",
    &["after 1000 ms"],
);

const IN_ORDER: Claim = Claim::new(
    "a fair semaphore: the order of permits, where six ask one after the other",
    "in the order in which their invocation of those methods was processed",
    &["1 2 3 4 5 6"],
);

const STARVES_NO_TASK: Claim = Claim::new(
    "a fair semaphore whose permit is back: one waits for it, another comes",
    "no thread is starved out; this will have a throughput cost",
    &["the waiter is served, the newcomer waits"],
)
.note(
    "the cost is that wait: a permit is here, and no task runs with it before the other has woken",
);

const NON_FAIR: Claim = Claim::new(
    "an unfair semaphore whose permit is back: one waits for it, another comes",
    "the throughput advantages of non-fair ordering",
    &["the newcomer is served, the waiter waits"],
);

const BURST: Claim = Claim::new(
    "two permits, 2 req/s: the first three requests",
    "X req/s with burst of X",
    &["2 after 0 ms, 1 after 1000 ms"],
);

const SLEEP: Claim = Claim::new(
    "(Thread/sleep 1000), then a permit is back: the second request where there is one permit",
    "only been off by a few milliseconds",
    &["after 1000 ms"],
)
.note("in virtual time no sleeper is late; the system's own sleep is measured as os-sleep");

const RATE: Claim = Claim::new(
    "two permits, 2 req/s: requests in any second",
    "a rate limit of 2 req/s",
    &["2 at most"],
);

const NINE: Claim = Claim::new(
    "(upmap sem inc [1 2 3 4 5 6 8 9 10]): how many results",
    "nine tasks; \"3 4 5 10 11 7 6 9\"",
    &["9 results", "8 results"],
)
.note("the print has no 2, which is (inc 1)");

const IN_ONE_GO: Claim = Claim::new(
    "the submission blocks: when results come",
    "all the results in one go",
    &["9 after 4000 ms"],
);

const FOUR_SECONDS: Claim = Claim::new(
    "the submission blocks: how long nine tasks take",
    "\"Elapsed time: 4019.565335 msecs\"",
    &["after 4000 ms"],
);

const ON_ITS_OWN_THREAD: Claim = Claim::new(
    "the submission in a thread of its own: when results come",
    "as they complete, whilst still respecting the rate limit",
    &["2 after 0 ms, 2 after 1000 ms, 2 after 2000 ms, 2 after 3000 ms, 1 after 4000 ms"],
);

const STILL_FOUR_SECONDS: Claim = Claim::new(
    "the submission in a thread of its own: how long nine tasks take",
    "\"Elapsed time: 4019.565335 msecs\"",
    &["after 4000 ms"],
);

pub(super) struct ManagingThroughput;

impl Seed for ManagingThroughput {
    const FILE: &'static str = "002_db2788e82060fecc.txt";
    const TITLE: &'static str = "Clojure: managing throughput with virtual threads";
    const CLAIMS: &'static [&'static Claim] = &[
        &UNLIMITED,
        &AS_THEY_COMPLETE,
        &MORE_THAN_THERE_ARE,
        &EAGERLY,
        &SIX,
        &LAZILY,
        &IN_ORDER,
        &STARVES_NO_TASK,
        &NON_FAIR,
        &BURST,
        &SLEEP,
        &RATE,
        &NINE,
        &FOUR_SECONDS,
        &IN_ONE_GO,
        &ON_ITS_OWN_THREAD,
        &STILL_FOUR_SECONDS,
    ];

    fn async_limit<L: AsyncLimit, W: World>(implementation: &Registered) -> Vec<Enactment> {
        let claims = &implementation.capabilities.claims;
        if !claims.contains(&Promise::WindowBound) {
            return Vec::new();
        }
        let mut all = if claims.contains(&Promise::WaiterFifo) {
            vec![
                IN_ORDER.seen_in(in_order::<L, W>),
                STARVES_NO_TASK.seen_in(served_first::<L, W>),
            ]
        } else {
            vec![NON_FAIR.seen_in(served_first::<L, W>)]
        };
        all.extend([
            BURST.seen_in(|| together(&requests::<L, W>(2, 3))),
            SLEEP.seen_in(|| format!("after {} ms", requests::<L, W>(1, 2)[1])),
            RATE.seen_in(|| {
                let granted = requests::<L, W>(2, 9);
                let in_a_second = |from: u64| {
                    granted
                        .iter()
                        .filter(move |at| (from..from + SECOND).contains(at))
                };
                let most = granted.iter().map(|from| in_a_second(*from).count()).max();
                format!("{} at most", most.unwrap_or_default())
            }),
        ]);
        all
    }

    fn parallel_map<M, C, E, W>(_: &Registered) -> Vec<Enactment>
    where
        M: ParallelMaps<C, E> + Default,
        C: Async,
        E: Executors,
        W: World,
    {
        const WHY: &str = "P7: more than there was ends";
        let eagerly = EAGERLY.seen_in(taken_beforehand::<M, C, E, W>);
        vec![
            UNLIMITED.seen_in(|| last(&timed::<M, C, E>(&[SECOND; 1_000]))),
            AS_THEY_COMPLETE.seen_in(|| {
                let came = timed::<M, C, E>(&[3 * SECOND, SECOND, 2 * SECOND]);
                let each = came
                    .iter()
                    .map(|(at, input)| format!("{} after {at} ms", input + 1));
                each.collect::<Vec<_>>().join(", ")
            }),
            MORE_THAN_THERE_ARE
                .seen_in(one_more_than_there_are::<M, C, E, W>)
                .differing(WHY),
            if M::LAZY {
                eagerly.differing("P7: lazily")
            } else {
                eagerly
            },
            SIX.seen_in(|| {
                let came = incremented::<M, C, E, W>((), 1..=6);
                let mut numbers: Vec<_> = came.map(|(_, number)| number).collect();
                numbers.sort_unstable();
                words(numbers)
            }),
            LAZILY.seen_in(|| {
                let came = timed::<M, C, E>(&[10 * SECOND, SECOND]);
                format!("after {} ms", came[0].0)
            }),
        ]
    }

    fn limited_map<M, L, C, E, W>() -> Vec<Enactment>
    where
        M: ParallelMaps<C, E> + Default,
        L: AsyncLimit,
        C: Async,
        E: Executors,
        W: World,
    {
        let (when, how_long) = if M::LAZY {
            (&ON_ITS_OWN_THREAD, &STILL_FOUR_SECONDS)
        } else {
            (&IN_ONE_GO, &FOUR_SECONDS)
        };
        vec![
            NINE.seen_in(|| format!("{} results", nine::<M, L, C, E, W>().len())),
            when.seen_in(|| together(&moments(&nine::<M, L, C, E, W>()))),
            how_long.seen_in(|| last(&nine::<M, L, C, E, W>())),
        ]
    }
}

const SECOND: u64 = 1_000;
const WHOLE: &str = "no thread panics while it holds the lock";

/// The text has no bound on the number of tasks at once.
const MANY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// Milliseconds since that moment.
fn since<W: World>(began: u64) -> u64 {
    let nanos = W::now_nanos().saturating_sub(began);
    assert_eq!(nanos % 1_000_000, 0, "the text's moments are whole ones");
    nanos / 1_000_000
}

/// So many permits, each of which is back after a second.
fn semaphore<L: AsyncLimit>(permits: u32) -> L {
    let permits = NonZeroU32::new(permits).expect("the text's semaphores have some");
    let quota = Quota {
        permits,
        period: Duration::from_millis(SECOND),
        burst: permits,
    };
    L::with_quota(quota).expect("a semaphore has such a quota")
}

/// When so many requests in turn are granted.
fn requests<L: AsyncLimit, W: World>(permits: u32, requests: usize) -> Vec<u64> {
    let semaphore = semaphore::<L>(permits);
    let began = W::now_nanos();
    let granted = (0..requests).map(|_| {
        W::block_on(semaphore.acquire_async());
        since::<W>(began)
    });
    granted.collect()
}

/// Six requests in turn wait together for one permit: the order in which they are granted.
fn in_order<L: AsyncLimit, W: World>() -> String {
    let semaphore = semaphore::<L>(1);
    let mut asking: Vec<_> = (1..=6)
        .map(|implementation| (implementation, Box::pin(semaphore.acquire_async())))
        .collect();
    let mut served = Vec::new();
    // They are polled in the opposite order of their requests.
    let all = poll_fn(|context| {
        asking.retain_mut(|(implementation, permit)| {
            let waits = permit.as_mut().poll(context).is_pending();
            if !waits {
                served.push(*implementation);
            }
            waits
        });
        asking.sort_by_key(|(implementation, _)| Reverse(*implementation));
        if asking.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    W::block_on(all);
    words(served)
}

/// One request waits for a permit, and is not polled although it is back; another request arrives.
fn served_first<L: AsyncLimit, W: World>() -> String {
    let semaphore = semaphore::<L>(1);
    let mut context = Context::from_waker(Waker::noop());
    W::block_on(semaphore.acquire_async());
    let mut waits = pin!(semaphore.acquire_async());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    // A second passes.
    requests::<L, W>(1, 2);
    let mut comes = pin!(semaphore.acquire_async());
    let served = [
        comes.as_mut().poll(&mut context).is_ready(),
        waits.as_mut().poll(&mut context).is_ready(),
    ];
    match served {
        [false, true] => "the waiter is served, the newcomer waits".to_owned(),
        [true, false] => "the newcomer is served, the waiter waits".to_owned(),
        both => format!("served: {both:?}"),
    }
}

/// The results of a map by input, with their times, where tasks take so long; in milliseconds.
fn timed<M, C, E>(takes: &[u64]) -> Vec<(u64, usize)>
where
    M: ParallelMaps<C, E> + Default,
    C: Async,
    E: Executors,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let clock = Clock::default();
    let (sleeps, takes) = (clock.clone(), takes.to_vec());
    let inputs = 0..takes.len();
    let task = move |input: usize| {
        let slept = sleeps.sleep(takes[input]);
        async move {
            slept.await;
            input
        }
    };
    let mut outcomes = M::default().start(executor.spawner(), MANY, (), inputs, task);
    let came = Arc::new(Mutex::new(Vec::new()));
    let (notes, tells) = (Arc::clone(&came), clock.clone());
    executor.spawn(async move {
        while let Some(Ok(input)) = outcomes.completed().await {
            notes.lock().expect(WHOLE).push((tells.now(), input));
        }
    });
    clock.run(Channels::of_tasks::<C>());
    drop(executor);
    let mut came = came.lock().expect(WHOLE);
    std::mem::take(&mut *came)
}

/// The incremented numbers, and when each arrived in milliseconds.
fn incremented<M, C, E, W>(
    throttle: impl Throttle + Sync,
    numbers: impl IntoIterator<Item = u32, IntoIter: Send + 'static>,
) -> impl Iterator<Item = (u64, u32)>
where
    M: ParallelMaps<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let began = W::now_nanos();
    let inc = |number: u32| async move { number + 1 };
    let mut outcomes = M::default().start(executor.spawner(), MANY, throttle, numbers, inc);
    std::iter::from_fn(move || {
        let _running = &executor;
        let number = W::block_on(outcomes.completed())?.expect("(inc x) does not panic");
        Some((since::<W>(began), number))
    })
}

/// The nine tasks of the text, two a second.
fn nine<M, L, C, E, W>() -> Vec<(u64, u32)>
where
    M: ParallelMaps<C, E> + Default,
    L: AsyncLimit,
    C: Async,
    E: Executors,
    W: World,
{
    let semaphore = Arc::new(semaphore::<L>(2));
    incremented::<M, C, E, W>(semaphore, [1, 2, 3, 4, 5, 6, 8, 9, 10]).collect()
}

fn one_more_than_there_are<M, C, E, W>() -> String
where
    M: ParallelMaps<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let mut came = incremented::<M, C, E, W>((), 1..=5);
    let five = came.by_ref().take(5).count();
    assert_eq!(five, 5, "there are five");
    match came.next() {
        None => "it ends".to_owned(),
        Some((_, sixth)) => format!("a sixth: {sixth}"),
    }
}

fn taken_beforehand<M, C, E, W>() -> String
where
    M: ParallelMaps<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(NonZeroUsize::MIN);
    let taken = Arc::new(Mutex::new(0));
    let takes = Arc::clone(&taken);
    let inputs = (1..=6).inspect(move |_| *takes.lock().expect(WHOLE) += 1);
    let task = move |_: u32| {
        let taken = *taken.lock().expect(WHOLE);
        async move { taken }
    };
    let mut outcomes = M::default().start(executor.spawner(), NonZeroUsize::MIN, (), inputs, task);
    let mut first = u32::MAX;
    while let Some(Ok(taken)) = W::block_on(outcomes.completed()) {
        first = first.min(taken);
    }
    match first {
        1 => "1 input".to_owned(),
        taken => format!("{taken} inputs"),
    }
}

fn moments<T>(came: &[(u64, T)]) -> Vec<u64> {
    came.iter().map(|(at, _)| *at).collect()
}

fn last<T>(came: &[(u64, T)]) -> String {
    came.last()
        .map_or_else(|| "never".to_owned(), |(at, _)| format!("after {at} ms"))
}

fn words(numbers: Vec<u32>) -> String {
    let words: Vec<_> = numbers.iter().map(u32::to_string).collect();
    words.join(" ")
}

/// How many there are at each moment, as text.
fn together(moments: &[u64]) -> String {
    let groups = moments.chunk_by(|one, other| one == other);
    let words = groups.map(|group| format!("{} after {} ms", group.len(), group[0]));
    words.collect::<Vec<_>>().join(", ")
}
