//! G3: a go block written as a state machine is answered what one written as a future is, and holds up no thread.

use std::future::{Future, pending, ready};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::Arc;

use flowmeter_harness::channel::{
    AwaitAlts, Buffer, Callback, Channels, Message, Offered, Order, Polled, PutError, TakeError,
    Winner,
};
use flowmeter_harness::executor::{Executors, Frame, GoBlocks, Port, Selected, Spawn, Step};
use flowmeter_harness::sync::World;

use super::{Case, ONE, Property, Reliance};
use crate::polls::Polls;

pub(in super::super) const PROPERTY: Property = Property {
    name: "g3-state-machines",
    statement: "A go block written as a state machine is answered as a future is, goes on at once where it can, and else \
                frees its thread.",
    relied_on_by: Reliance::Everybody,
};

pub(in super::super) fn cases<G, C, E, W>() -> Vec<Case>
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let mut cases = vec![
        Case::new("the three states of the text", three_states::<G, C, E, W>),
        Case::new("a loop", a_loop::<G, C, E, W>),
        Case::new("an if", an_if::<G, C, E, W>),
        Case::new("answers that are there", || {
            at_once::<G, C, E, W>(3);
        }),
        Case::new("closed channels", refused::<G, C, E, W>),
        Case::new("an alts of what is there", alts_at_once::<G, C, E, W>),
        Case::new("an alts that waits", alts_waits::<G, C, E, W>),
        Case::new("an alts with a default", alts_default::<G, C, E, W>),
        Case::new("an alts that puts", alts_puts::<G, C, E, W>),
        Case::new("three wait on one thread", || {
            parked::<G, C, E, W>(3);
        }),
        Case::new("a block that outlives its executor", shut_down::<G, C, E>),
    ];
    if W::name() == "std" {
        cases.push(Case::new(
            "a hundred thousand answers that are there",
            || {
                at_once::<G, C, E, W>(100_000);
            },
        ));
        cases.push(Case::new("ten thousand wait on one thread", || {
            parked::<G, C, E, W>(10_000);
        }));
        // Panics are the checkers' own language in the other worlds.
        cases.push(Case::new("a panic", panicking::<G, C, E, W>));
    }
    cases
}

/// What the states of these blocks carry.
enum State<C: Channels> {
    Begin,
    Took(Result<u32, TakeError>),
    Put(Result<(), PutError<u32>>),
    Selected(Selected<C, u32>),
}

fn open<C: Channels, T: Message>(room: usize) -> (C::Tx<T>, C::Rx<T>) {
    C::open(Buffer::fixed(room)).expect("a family with alts has a buffer")
}

/// A channel with these values, which stays open as long as its first half is kept.
fn source<C: Channels>(values: &[u32]) -> (C::Tx<u32>, C::Rx<u32>) {
    let (mut tx, rx) = open::<C, u32>(values.len().max(1));
    for value in values {
        assert_eq!(C::offer(&mut tx, *value), Offered::Done, "there is room");
    }
    (tx, rx)
}

/// Has an executor of one thread while that goes on: it is gone before anything is judged.
fn with_executor<E: Executors, R>(act: impl FnOnce(&E::Spawner) -> R) -> R {
    let executor = E::with_threads(ONE);
    let seen = act(&executor.spawner());
    drop(executor);
    seen
}

/// Everything that a channel gives until it closes.
fn all<C: AwaitAlts, T: Message, W: World>(mut rx: C::Rx<T>) -> Vec<T> {
    std::iter::from_fn(|| W::block_on(C::take_async(&mut rx)).ok()).collect()
}

fn put<C: AwaitAlts, W: World>(tx: &mut C::Tx<u32>, value: u32) {
    let put = W::block_on(C::put_async(tx, value));
    assert_eq!(put, Ok(()), "it is open");
}

/// It waits for a channel that closes, puts, and has no result.
fn three_states<G, C, E, W>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let (timeout, closes) = open::<C, u32>(1);
    let (c, found) = open::<C, u32>(1);
    let (found, results) = with_executor::<E, _>(|go| {
        let results = G::go::<_, u32>(go, State::<C>::Begin, move |frame, state| match state {
            State::Begin => frame.take(&closes, State::Took),
            State::Took(Err(TakeError::Closed)) => frame.put(&c, 7, State::Put),
            _ => Step::Return(None),
        });
        C::close(&timeout);
        let results = all::<C, _, W>(results);
        (all::<C, _, W>(found), results)
    });
    let seen = (found, results);
    let expected = (vec![7], vec![]);
    holds_eq!(seen, expected, "G3: not what the block puts and answers");
}

/// It adds up what comes while it waits, or did before.
fn a_loop<G, C, E, W>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let (mut tx, rx) = open::<C, u32>(1);
    let results = with_executor::<E, _>(|go| {
        let mut sum = 0;
        let results = G::go(go, State::<C>::Begin, move |frame, state| match state {
            State::Took(Err(_)) => Step::Return(Some(sum)),
            State::Took(Ok(value)) => {
                sum += value;
                Step::Recur(State::Begin)
            }
            _ => frame.take(&rx, State::Took),
        });
        put::<C, W>(&mut tx, 3);
        put::<C, W>(&mut tx, 4);
        C::close(&tx);
        all::<C, _, W>(results)
    });
    holds_eq!(results, [7], "G3: a loop has lost a value");
}

/// Odd values go one way, even ones another.
fn an_if<G, C, E, W>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let (from, values) = source::<C>(&[1, 2]);
    C::close(&from);
    let (odd, odds) = open::<C, u32>(1);
    let (even, evens) = open::<C, u32>(1);
    let seen = with_executor::<E, _>(|go| {
        let results = G::go::<_, u32>(go, State::<C>::Begin, move |frame, state| match state {
            State::Took(Ok(value)) if value % 2 == 1 => frame.put(&odd, value, State::Put),
            State::Took(Ok(value)) => frame.put(&even, value, State::Put),
            State::Took(Err(_)) => Step::Return(None),
            _ => frame.take(&values, State::Took),
        });
        let ended = all::<C, _, W>(results);
        (all::<C, _, W>(odds), all::<C, _, W>(evens), ended)
    });
    holds_eq!(seen, (vec![1], vec![2], vec![]), "G3: not the branch");
}

/// It moves so many values from one channel to another that has room, without giving up the thread, nor growing its stack.
fn at_once<G, C, E, W>(count: u32)
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let values: Vec<u32> = (0..count).collect();
    let (from, rx) = source::<C>(&values);
    C::close(&from);
    let (to, moved) = open::<C, u32>(values.len());
    let polls = Polls::default();
    let counted = polls.clone();
    let (moved, results) = with_executor::<E, _>(|go| {
        let go = counted.of(go);
        let results = G::go(&go, State::<C>::Begin, move |frame, state| match state {
            State::Took(Ok(value)) => frame.put(&to, value, State::Put),
            State::Took(Err(_)) => Step::Return(Some(count)),
            _ => frame.take(&rx, State::Took),
        });
        let results = all::<C, _, W>(results);
        (all::<C, _, W>(moved), results)
    });
    holds_eq!(
        results,
        [count],
        "G3: a block has not ended with its result"
    );
    holds_eq!(moved, values, "G3: a block has lost a value");
    holds_eq!(
        polls.count(),
        1,
        "G3: a block gave up its thread with an answer there"
    );
}

/// The answers of closed channels, and a put's value with them.
fn refused<G, C, E, W>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let (to, _rx) = open::<C, u32>(1);
    C::close(&to);
    let results = with_executor::<E, _>(|go| {
        let results = G::go(go, State::<C>::Begin, move |frame, state| match state {
            State::Begin => frame.put(&to, 7, State::Put),
            State::Put(answer) => Step::Return(Some(answer)),
            _ => Step::Return(None),
        });
        all::<C, _, W>(results)
    });
    let closed = Err(PutError::Closed(Some(7)));
    holds_eq!(results, [closed], "G3: not the answer of a closed channel");
}

/// What an alts of a block ended with: winner, value, and what its ports have.
type Seen = (Option<Winner>, Option<u32>, Vec<Option<u32>>);

/// A block of one alts.
fn selecting<G, C>(
    go: &impl Spawn,
    ports: Vec<Port<C, u32>>,
    until: impl Future<Output = ()> + Send + 'static,
) -> C::Rx<Seen>
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
{
    let mut begin = Some((ports, until));
    G::go(go, State::<C>::Begin, move |frame, state| {
        let State::Selected(selected) = state else {
            let (ports, until) = begin.take().expect("it begins once");
            return frame.alts(ports, Order::Priority, until, State::Selected);
        };
        let slots = selected.ports.into_iter().map(|port| match port {
            Port::Take(_) => None,
            Port::Put(_, slot) => slot,
        });
        Step::Return(Some((
            selected.winner.ok(),
            selected.taken,
            slots.collect(),
        )))
    })
}

/// The first that is able wins, and a put that loses has its value again.
fn alts_at_once<G, C, E, W>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let (_open, empty) = open::<C, u32>(1);
    let (_also_open, ready) = source::<C>(&[7]);
    let (to, mut unused) = open::<C, u32>(1);
    let ports = vec![Port::Take(empty), Port::Take(ready), Port::Put(to, Some(9))];
    let seen = with_executor::<E, _>(|go| all::<C, _, W>(selecting::<G, C>(go, ports, pending())));
    let expected = (Some(Winner::Clause(1)), Some(7), vec![None, None, Some(9)]);
    let seen = (seen, C::poll(&mut unused));
    let expected = (vec![expected], Polled::Closed);
    holds_eq!(seen, expected, "G3: not the alts of a future");
}

/// It waits, or is about to, when one of its ports has something.
fn alts_waits<G, C, E, W>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let (mut tx, rx) = open::<C, u32>(1);
    let (_open, empty) = open::<C, u32>(1);
    let seen = with_executor::<E, _>(|go| {
        let ports = vec![Port::Take(empty), Port::Take(rx)];
        let results = selecting::<G, C>(go, ports, pending());
        put::<C, W>(&mut tx, 7);
        all::<C, _, W>(results)
    });
    let expected = (Some(Winner::Clause(1)), Some(7), vec![None, None]);
    holds_eq!(seen, [expected], "G3: not the alts of a future");
}

fn alts_default<G, C, E, W>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let (_open, empty) = open::<C, u32>(1);
    let seen = with_executor::<E, _>(|go| {
        let ports = vec![Port::Take(empty)];
        all::<C, _, W>(selecting::<G, C>(go, ports, ready(())))
    });
    let expected = (Some(Winner::TimedOut), None, vec![None]);
    holds_eq!(seen, [expected], "G3: not the alts of a future");
}

fn alts_puts<G, C, E, W>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let (to, moved) = open::<C, u32>(1);
    let (seen, moved) = with_executor::<E, _>(|go| {
        let ports = vec![Port::Put(to, Some(9))];
        let seen = all::<C, _, W>(selecting::<G, C>(go, ports, pending()));
        (seen, all::<C, _, W>(moved))
    });
    let expected = vec![(Some(Winner::Clause(0)), None, vec![None])];
    let seen = (seen, moved);
    holds_eq!(seen, (expected, vec![9]), "G3: not the alts of a future");
}

/// Each waits on a channel of its own; the last is served first.
fn parked<G, C, E, W>(blocks: u32)
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    let answers = with_executor::<E, _>(|go| {
        let mut waiting = Vec::new();
        for _ in 0..blocks {
            let (tx, rx) = open::<C, u32>(1);
            let results = G::go(go, State::<C>::Begin, move |frame, state| match state {
                State::Took(taken) => Step::Return(taken.ok()),
                _ => frame.take(&rx, State::Took),
            });
            waiting.push((tx, results));
        }
        let mut answers = Vec::new();
        for (number, (mut tx, results)) in (0..blocks).zip(waiting).rev() {
            put::<C, W>(&mut tx, number);
            answers.push(all::<C, _, W>(results) == [number]);
        }
        answers
    });
    let wrong = answers.iter().filter(|served| !**served).count();
    holds_eq!(wrong, 0, "G3: a block did not go on");
}

/// It waits when its executor ends; what is put afterwards wakes nobody.
fn shut_down<G, C, E>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
{
    let (mut tx, rx) = open::<C, u32>(1);
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let mut results = with_executor::<E, _>(|go| {
        G::go(go, State::<C>::Begin, move |frame, state| {
            let _held = &held;
            match state {
                State::Took(taken) => Step::Return(taken.ok()),
                _ => frame.take(&rx, State::Took),
            }
        })
    });
    let before = C::poll(&mut results);
    let _ = C::offer(&mut tx, 7);
    let left = (before, C::poll(&mut results), Arc::strong_count(&alive));
    let gone = (Polled::Closed, Polled::Closed, 1);
    holds_eq!(left, gone, "G1: a block outlived its executor");
}

/// In the state after an operation; its executor goes on.
fn panicking<G, C, E, W>()
where
    G: GoBlocks<C>,
    C: Callback + AwaitAlts,
    E: Executors,
    W: World,
{
    /// In nanoseconds; only a failure takes as long.
    const PATIENCE: u64 = 5_000_000_000;
    let executor = E::with_threads(NonZeroUsize::MIN);
    let (mut tx, rx) = open::<C, u32>(1);
    let mut results = G::go::<_, u32>(
        &executor.spawner(),
        State::<C>::Begin,
        move |frame, state| match state {
            State::Begin => frame.take(&rx, State::Took),
            _ => resume_unwind(Box::new("a block's own fault")),
        },
    );
    put::<C, W>(&mut tx, 7);
    let end = W::now_nanos().saturating_add(PATIENCE);
    let mut answer = C::poll(&mut results);
    // Counted once the task has ended, which its channel tells a moment before.
    while (answer == Polled::WouldWait || executor.panics() < 1) && W::now_nanos() < end {
        W::yield_now();
        answer = C::poll(&mut results);
    }
    let panics = executor.panics();
    drop(executor);
    let seen = (answer, panics);
    let expected = (Polled::Closed, 1);
    holds_eq!(seen, expected, "G1: not closed, or the panic not counted");
}
