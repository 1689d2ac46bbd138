//! G3: a go block written as a state machine gets the answers that a future gets, and blocks no thread.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! block: take a, then put c      other thread
//! waits for a
//!                                closes a
//! is never polled again          a future would get the answer closed
//!
//! block: a loop of takes         a holds three values
//! yields after each take         an answer that is there must not give up the thread
//! ```

use std::future::{Future, pending, ready};
use std::panic::resume_unwind;
use std::sync::Arc;

use flowmeter_harness::channel::{Offered, Order, Polled, PutError, TakeError, Winner};
use flowmeter_harness::executor::{Port, Spawn, Step};
use flowmeter_harness::sync::world;

use super::super::gate::panics;
use super::{Case, Cases, Design, ONE, Property, Reliance, What};
use crate::design::channels::Erased;
use crate::design::executors::{GoBlocks, Spawner, State};
use crate::design::{Rx, Tx};
use crate::patience::{end, until};
use crate::polls::Polls;

pub(in super::super) const PROPERTY: Property = Property {
    name: "g3-state-machines",
    statement: "A go block written as a state machine is answered as a future is, goes on at once where it can, and else \
                frees its thread.",
    relied_on_by: Reliance::All,
    cases: Cases::Executors(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::GoBlocks(blocks) = design.what else {
        return Vec::new();
    };
    let mut cases = vec![
        Case::new("the three states of the text", move || three_states(blocks)),
        Case::new("a loop", move || a_loop(blocks)),
        Case::new("an if", move || an_if(blocks)),
        Case::new("answers that are there", move || {
            at_once(blocks, 3);
        }),
        Case::new("closed channels", move || refused(blocks)),
        Case::new("an alts of what is there", move || alts_at_once(blocks)),
        Case::new("an alts that waits", move || alts_waits(blocks)),
        Case::new("an alts with a default", move || alts_default(blocks)),
        Case::new("an alts that puts", move || alts_puts(blocks)),
        Case::new("an alts of several puts", move || each_put_wins(blocks)),
        Case::new("a put that finds room or a close", move || {
            put_or_refused(blocks)
        }),
        Case::new("an alts whose put finds room or a close", move || {
            alts_or_refused(blocks);
        }),
        Case::new("three wait on one thread", move || {
            parked(blocks, 3);
        }),
        Case::new("a block that outlives its executor", move || {
            shut_down(blocks)
        }),
    ];
    if world::name() == "std" {
        cases.push(Case::new(
            "a hundred thousand answers that are there",
            move || {
                at_once(blocks, 100_000);
            },
        ));
        cases.push(Case::new("ten thousand wait on one thread", move || {
            parked(blocks, 10_000);
        }));
        // In the other worlds the checkers use panics themselves.
        cases.push(Case::new("a panic", move || panicking(blocks)));
    }
    cases
}

/// A channel with these values, which stays open as long as its first half is kept.
fn source(blocks: GoBlocks, values: &[u32]) -> (Tx<u32>, Rx<u32>) {
    let (mut tx, rx) = blocks.on.open(values.len().max(1));
    for value in values {
        assert_eq!(tx.offer(*value), Offered::Done, "there is room");
    }
    (tx, rx)
}

/// Runs `act` with an executor of one thread, which is dropped before the results are judged.
fn with_executor<R>(blocks: GoBlocks, act: impl FnOnce(&Spawner) -> R) -> R {
    let executor = blocks.on.executors.with_threads(ONE);
    let seen = act(&executor.spawner());
    drop(executor);
    seen
}

/// All values of a channel until it closes.
fn all<T: Send + 'static>(mut rx: Rx<T>) -> Vec<T> {
    std::iter::from_fn(|| world::block_on(rx.take_async()).ok()).collect()
}

fn put(tx: &mut Tx<u32>, value: u32) {
    let put = world::block_on(tx.put_async(value));
    assert_eq!(put, Ok(()), "it is open");
}

/// A block that waits for a channel to close, then puts, and has no result.
fn three_states(blocks: GoBlocks) {
    let (timeout, closes) = blocks.on.open::<u32>(1);
    let (c, found) = blocks.on.open::<u32>(1);
    let (found, results) = with_executor(blocks, |go| {
        let results = blocks.go::<u32>(go, move |frame, state| match state {
            State::Begin => frame.take(&closes),
            State::Took(Err(TakeError::Closed)) => frame.put(&c, 7),
            _ => Step::Return(None),
        });
        timeout.close();
        let results = all(results);
        (all(found), results)
    });
    let seen = (found, results);
    let expected = (vec![7], vec![]);
    holds_eq!(seen, expected, "G3: not what the block puts and answers");
}

/// A block that adds up values, which arrive while it waits or before.
fn a_loop(blocks: GoBlocks) {
    let (mut tx, rx) = blocks.on.open::<u32>(1);
    let results = with_executor(blocks, |go| {
        let mut sum = 0;
        let results = blocks.go(go, move |frame, state| match state {
            State::Took(Err(_)) => Step::Return(Some(sum)),
            State::Took(Ok(value)) => {
                sum += value;
                Step::Recur(State::Begin)
            }
            _ => frame.take(&rx),
        });
        put(&mut tx, 3);
        put(&mut tx, 4);
        tx.close();
        all(results)
    });
    holds_eq!(results, [7], "G3: a loop has lost a value");
}

/// Odd values go to one channel, even ones to another.
fn an_if(blocks: GoBlocks) {
    let (from, values) = source(blocks, &[1, 2]);
    from.close();
    let (odd, odds) = blocks.on.open::<u32>(1);
    let (even, evens) = blocks.on.open::<u32>(1);
    let seen = with_executor(blocks, |go| {
        let results = blocks.go::<u32>(go, move |frame, state| match state {
            State::Took(Ok(value)) if value % 2 == 1 => frame.put(&odd, value),
            State::Took(Ok(value)) => frame.put(&even, value),
            State::Took(Err(_)) => Step::Return(None),
            _ => frame.take(&values),
        });
        let ended = all(results);
        (all(odds), all(evens), ended)
    });
    holds_eq!(seen, (vec![1], vec![2], vec![]), "G3: not the branch");
}

/// A block that moves so many values to a channel with room, without giving up its thread or growing its stack.
fn at_once(blocks: GoBlocks, count: u32) {
    let values: Vec<u32> = (0..count).collect();
    let (from, rx) = source(blocks, &values);
    from.close();
    let (to, moved) = blocks.on.open(values.len());
    let polls = Polls::default();
    let counted = polls.clone();
    let (moved, results) = with_executor(blocks, |go| {
        let go = counted.of(go);
        let results = blocks.go(&go, move |frame, state| match state {
            State::Took(Ok(value)) => frame.put(&to, value),
            State::Took(Err(_)) => Step::Return(Some(count)),
            _ => frame.take(&rx),
        });
        let results = all(results);
        (all(moved), results)
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

/// The answers of closed channels; a put's answer includes its value.
fn refused(blocks: GoBlocks) {
    let (to, _rx) = blocks.on.open::<u32>(1);
    to.close();
    let results = with_executor(blocks, |go| {
        let results = blocks.go(go, move |frame, state| match state {
            State::Begin => frame.put(&to, 7),
            State::Put(answer) => Step::Return(Some(answer)),
            _ => Step::Return(None),
        });
        all(results)
    });
    let closed = Err(PutError::Closed(Some(7)));
    holds_eq!(results, [closed], "G3: not the answer of a closed channel");
}

/// The outcome of a block's alts: winner, value, and what its ports hold.
type Seen = (Option<Winner>, Option<u32>, Vec<Option<u32>>);

/// A block of one alts.
fn selecting(
    blocks: GoBlocks,
    go: &impl Spawn,
    ports: Vec<Port<Erased, u32>>,
    until: impl Future<Output = ()> + Send + 'static,
) -> Rx<Seen> {
    let mut begin = Some((ports, until));
    blocks.go(go, move |frame, state| {
        let State::Selected(selected) = state else {
            let (ports, until) = begin.take().expect("it begins once");
            return frame.alts(ports, Order::Priority, until);
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

/// The first ready clause wins, and a losing put gets its value back.
fn alts_at_once(blocks: GoBlocks) {
    let (_open, empty) = blocks.on.open::<u32>(1);
    let (_also_open, ready) = source(blocks, &[7]);
    let (to, mut unused) = blocks.on.open::<u32>(1);
    let ports = vec![Port::Take(empty), Port::Take(ready), Port::Put(to, Some(9))];
    let seen = with_executor(blocks, |go| all(selecting(blocks, go, ports, pending())));
    let expected = (Some(Winner::Clause(1)), Some(7), vec![None, None, Some(9)]);
    let seen = (seen, unused.poll());
    let expected = (vec![expected], Polled::Closed);
    holds_eq!(seen, expected, "G3: not the alts of a future");
}

/// A port becomes ready while the alts waits or is about to.
fn alts_waits(blocks: GoBlocks) {
    let (mut tx, rx) = blocks.on.open::<u32>(1);
    let (_open, empty) = blocks.on.open::<u32>(1);
    let seen = with_executor(blocks, |go| {
        let ports = vec![Port::Take(empty), Port::Take(rx)];
        let results = selecting(blocks, go, ports, pending());
        put(&mut tx, 7);
        all(results)
    });
    let expected = (Some(Winner::Clause(1)), Some(7), vec![None, None]);
    holds_eq!(seen, [expected], "G3: not the alts of a future");
}

fn alts_default(blocks: GoBlocks) {
    let (_open, empty) = blocks.on.open::<u32>(1);
    let seen = with_executor(blocks, |go| {
        let ports = vec![Port::Take(empty)];
        all(selecting(blocks, go, ports, ready(())))
    });
    let expected = (Some(Winner::TimedOut), None, vec![None]);
    holds_eq!(seen, [expected], "G3: not the alts of a future");
}

fn alts_puts(blocks: GoBlocks) {
    let (to, moved) = blocks.on.open::<u32>(1);
    let (seen, moved) = with_executor(blocks, |go| {
        let ports = vec![Port::Put(to, Some(9))];
        let seen = all(selecting(blocks, go, ports, pending()));
        (seen, all(moved))
    });
    let expected = vec![(Some(Winner::Clause(0)), None, vec![None])];
    let seen = (seen, moved);
    holds_eq!(seen, (expected, vec![9]), "G3: not the alts of a future");
}

/// Each of three puts wins in turn, where it has room or comes to have it. The others get their own values back.
fn each_put_wins(blocks: GoBlocks) {
    const VALUES: [u32; 3] = [7, 8, 9];
    for wins in 0..VALUES.len() {
        let channels = VALUES.map(|_| source(blocks, &[5]));
        let (txs, mut rxs): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
        let values = txs.into_iter().zip(VALUES);
        let ports = values.map(|(to, value)| Port::Put(to, Some(value)));
        let seen = with_executor(blocks, |go| {
            let results = selecting(blocks, go, ports.collect(), pending());
            world::perturb();
            let taken = rxs[wins].poll();
            assert_eq!(taken, Polled::Done(5), "it is full");
            all(results)
        });
        let mut left = VALUES.map(Some);
        left[wins] = None;
        let answer = (Some(Winner::Clause(wins)), None, left.to_vec());
        holds_eq!(seen, [answer], "G3: not the values of an alts of a future");
    }
}

/// The channel is full. A consumer takes what is in it, or closes it, whatever the block does by then.
fn full_and_emptied(blocks: GoBlocks, act: impl FnOnce(&Spawner, Tx<u32>)) -> Vec<u32> {
    let (mut to, mut rx) = blocks.on.open::<u32>(1);
    put(&mut to, 6);
    let closes = to.another().expect("there are several producers");
    with_executor(blocks, |go| {
        let other = world::spawn(move || {
            world::perturb();
            if world::choose(2) == 0 {
                closes.close();
            }
            let first = rx.poll();
            world::perturb();
            closes.close();
            assert_eq!(first, Polled::Done(6), "it is full");
            all(rx)
        });
        act(go, to);
        world::join(other)
    })
}

/// A put of a block is accepted, or comes back with its value.
fn put_or_refused(blocks: GoBlocks) {
    let mut answers = Vec::new();
    let moved = full_and_emptied(blocks, |go, to| {
        let results = blocks.go(go, move |frame, state| match state {
            State::Begin => frame.put(&to, 9),
            State::Put(answer) => Step::Return(Some(answer)),
            _ => Step::Return(None),
        });
        answers = all(results);
    });
    let expected = match moved.is_empty() {
        true => (vec![Err(PutError::Closed(Some(9)))], vec![]),
        false => (vec![Ok(())], vec![9]),
    };
    let seen = (answers, moved);
    holds_eq!(seen, expected, "G3: not the answer that a future gets");
}

/// A put that wins because its channel is closed comes back with its value, as the one that loses does.
fn alts_or_refused(blocks: GoBlocks) {
    let mut seen = Vec::new();
    let moved = full_and_emptied(blocks, |go, to| {
        let (_stays, empty) = blocks.on.open::<u32>(1);
        let (unused, _stays_full) = source(blocks, &[5]);
        let ports = vec![
            Port::Take(empty),
            Port::Put(unused, Some(8)),
            Port::Put(to, Some(9)),
        ];
        seen = all(selecting(blocks, go, ports, pending()));
    });
    let (left, expected) = match moved.is_empty() {
        true => (Some(9), vec![]),
        false => (None, vec![9]),
    };
    let answer = (Some(Winner::Clause(2)), None, vec![None, Some(8), left]);
    let (seen, expected) = ((seen, moved), (vec![answer], expected));
    holds_eq!(seen, expected, "G3: not the alts of a future");
}

/// Each waits on a channel of its own; the last is served first.
fn parked(blocks: GoBlocks, count: u32) {
    let answers = with_executor(blocks, |go| {
        let mut waiting = Vec::new();
        for _ in 0..count {
            let (tx, rx) = blocks.on.open::<u32>(1);
            let results = blocks.go(go, move |frame, state| match state {
                State::Took(taken) => Step::Return(taken.ok()),
                _ => frame.take(&rx),
            });
            waiting.push((tx, results));
        }
        let mut answers = Vec::new();
        for (number, (mut tx, results)) in (0..count).zip(waiting).rev() {
            put(&mut tx, number);
            answers.push(all(results) == [number]);
        }
        answers
    });
    let wrong = answers.iter().filter(|served| !**served).count();
    holds_eq!(wrong, 0, "G3: a block did not go on");
}

/// A block that waits when its executor is dropped. A later put wakes no task.
fn shut_down(blocks: GoBlocks) {
    let (mut tx, rx) = blocks.on.open::<u32>(1);
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let mut results = with_executor(blocks, |go| {
        blocks.go(go, move |frame, state| {
            let _held = &held;
            match state {
                State::Took(taken) => Step::Return(taken.ok()),
                _ => frame.take(&rx),
            }
        })
    });
    let before = results.poll();
    let _ = tx.offer(7);
    let left = (before, results.poll(), Arc::strong_count(&alive));
    let gone = (Polled::Closed, Polled::Closed, 1);
    holds_eq!(left, gone, "G1: a block outlived its executor");
}

/// A block that panics in the state after an operation; its executor stays usable.
fn panicking(blocks: GoBlocks) {
    let executor = blocks.on.executors.with_threads(ONE);
    let (mut tx, rx) = blocks.on.open::<u32>(1);
    let mut results = blocks.go::<u32>(&executor.spawner(), move |frame, state| match state {
        State::Begin => frame.take(&rx),
        _ => resume_unwind(Box::new("a block's own fault")),
    });
    put(&mut tx, 7);
    let answer = until(end(), || match results.poll() {
        Polled::WouldWait => None,
        answer => Some(answer),
    });
    let panics = panics(&executor, 1);
    drop(executor);
    let seen = (answer, panics);
    let expected = (Some(Polled::Closed), 1);
    holds_eq!(seen, expected, "G1: not closed, or the panic not counted");
}
