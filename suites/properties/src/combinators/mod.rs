//! The properties of combinators, a file for each. Every model has an executor of one thread, and the channels that
//! the registry names.
//!
//! A go block that waits for ever is a deadlock where schedules are explored. Under std only cases of panics have a
//! time limit, since panics can be tried only there.

pub(super) mod crowd;
pub(super) mod m10_reduce;
pub(super) mod m11_transduce;
pub(super) mod m12_map;
pub(super) mod m13_take;
pub(super) mod m14_unique;
pub(super) mod m15_partition;
pub(super) mod m1_pipe;
pub(super) mod m2_split;
pub(super) mod m3_merge;
pub(super) mod m4_mult;
pub(super) mod m5_mix;
pub(super) mod m6_publish;
pub(super) mod m7_onto_chan;
pub(super) mod m8_to_chan;
pub(super) mod m9_into;

use std::num::NonZeroUsize;
use std::panic::resume_unwind;

use flowmeter_harness::channel::{Buffer, Message, Offered, Polled, TakeError};
use flowmeter_harness::executor::{Spawn, give_way};
use flowmeter_harness::sync::world;

use super::gate::panics;
use super::{Case, Cases, Property, Reliance};
use crate::design::combinators::{Combinators, Design, Part};
use crate::design::executors::Spawner;
use crate::design::{Rx, Tx};
use crate::moving::Moving;
use crate::patience::{end, until};

/// No values.
const NOTHING: [u32; 0] = [];

/// The number of threads of a model's executor.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// Whether panics can be tried: in the other worlds the checkers use panics themselves.
fn has_panics() -> bool {
    world::name() == "std"
}

/// Whether models may have more than a few steps.
fn is_roomy() -> bool {
    world::name() != "loom"
}

/// Whether a choice among ready channels is by chance. In the other worlds every choice is explored, also that of always
/// the same.
fn chooses_by_chance() -> bool {
    world::name() == "std"
}

/// Two sources that have ended: one with many values, and behind it one with a single value.
fn busy_and_other(f: Combinators) -> Vec<Rx<u32>> {
    vec![ended_source(f, &[BUSY; 64]), ended_source(f, &[OTHER])]
}

const BUSY: u32 = 1;
const OTHER: u32 = 2;

/// Whether the single value came before the last of the many. By chance it comes last once in 2^64 runs.
fn other_had_its_turn(seen: &[u32]) -> bool {
    seen.contains(&OTHER) && seen.last() == Some(&BUSY)
}

/// Runs `act` with an executor. It is dropped, with its threads, before the results are judged.
fn with_executor<R>(f: Combinators, act: impl FnOnce(&Spawner) -> R) -> R {
    let executor = f.executors.with_threads(ONE);
    let spawner = executor.spawner();
    // Every other time its tasks move from one waker to another. That would double the space of loom.
    match is_roomy() && world::choose(2) == 1 {
        true => act(&Spawner::of(Moving(spawner))),
        false => act(&spawner),
    }
}

/// As [`with_executor`], and waits until one task has panicked. Returns how many have.
fn with_a_panic<R>(f: Combinators, act: impl FnOnce(&Spawner) -> R) -> (R, u64) {
    let executor = f.executors.with_threads(ONE);
    let seen = act(&executor.spawner());
    (seen, panics(&executor, 1))
}

/// A user's function that panics.
fn fault() -> ! {
    resume_unwind(Box::new("a user's own fault"))
}

fn room(places: usize) -> Buffer {
    Buffer::fixed(places)
}

fn open<T: Message + Clone + PartialEq>(f: Combinators, buffer: Buffer) -> (Tx<T>, Rx<T>) {
    f.channels
        .open_copied(buffer)
        .expect("a family with alts has such a buffer")
}

/// A channel that holds these values, and is open as long as its first half is kept.
fn source(f: Combinators, values: &[u32]) -> (Tx<u32>, Rx<u32>) {
    let (mut tx, rx) = open::<u32>(f, room(values.len().max(1)));
    for value in values {
        assert_eq!(tx.offer(*value), Offered::Done, "there is room");
    }
    (tx, rx)
}

/// As [`source`], already closed.
fn ended_source(f: Combinators, values: &[u32]) -> Rx<u32> {
    let (tx, rx) = source(f, values);
    tx.close();
    rx
}

/// Another consumer of a source.
fn another(rx: &Rx<u32>) -> Rx<u32> {
    rx.another()
        .expect("a family with alts has several consumers")
}

/// A channel that refuses every value.
fn refusing(f: Combinators) -> Tx<u32> {
    let (tx, rx) = open::<u32>(f, room(1));
    tx.close();
    drop(rx);
    tx
}

/// Puts; returns whether it was accepted.
fn put(tx: &mut Tx<u32>, value: u32) -> bool {
    world::block_on(tx.put_async(value)).is_ok()
}

fn take<T: Message>(rx: &mut Rx<T>) -> Result<T, TakeError> {
    world::block_on(rx.take_async())
}

/// All values until the channel closes.
fn all<T: Message>(mut rx: Rx<T>) -> Vec<T> {
    std::iter::from_fn(|| take(&mut rx).ok()).collect()
}

/// The values in the channel now, and its state after them.
fn lying(rx: &mut Rx<u32>) -> (Vec<u32>, Polled<u32>) {
    let mut values = Vec::new();
    loop {
        match rx.poll() {
            Polled::Done(value) => values.push(value),
            rest => return (values, rest),
        }
    }
}

/// Which of three values the combinator takes when its output was closed before the first.
fn goes_on<U: Message>(f: Combinators, make: impl FnOnce(&Spawner, Rx<u32>) -> Rx<U>) -> [bool; 3] {
    with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, Buffer::Rendezvous);
        let mut unwanted = make(go, from);
        unwanted.close();
        drop(unwanted);
        [0, 1, 2].map(|value| put(&mut tx, value))
    })
}

/// How many of four values the combinator takes while no result is taken.
fn taken_ahead<U: Message>(f: Combinators, make: impl FnOnce(&Spawner, Rx<u32>) -> Rx<U>) -> usize {
    const VALUES: [u32; 4] = [1, 2, 3, 4];
    with_executor(f, |go| {
        let (_open, from) = source(f, &VALUES);
        let mut left = another(&from);
        let _untaken = make(go, from);
        come_to_rest(f, go);
        VALUES.len() - lying(&mut left).0.len()
    })
}

/// Whether it took `expected` values ahead. In the std world, which does not know when it is at rest, it may have
/// taken fewer.
fn took_ahead(taken: usize, expected: usize) -> bool {
    taken == expected || world::name() == "std" && taken < expected
}

/// The first result, when one value was put and no other follows.
fn first_of_one<U: Message>(
    f: Combinators,
    make: impl FnOnce(&Spawner, Rx<u32>) -> Rx<U>,
) -> Result<U, TakeError> {
    with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let mut results = make(go, from);
        put(&mut tx, 7);
        take(&mut results)
    })
}

/// Waits until no task can go on. The std world cannot know that moment: there a task yields so often that others
/// have made much progress.
fn come_to_rest(f: Combinators, go: &Spawner) {
    const TURNS: usize = 200;
    let (mut over, mut rest) = open(f, room(1));
    if world::name() == "std" {
        go.spawn(async move {
            for _ in 0..TURNS {
                give_way().await;
            }
            let _ = over.put_async(()).await;
        });
    } else {
        // A channel of the family itself: the checker must see an order between this thread and the one that rescues
        // it.
        let rescue = move || assert_eq!(over.offer(()), Offered::Done);
        assert!(world::on_quiescence(rescue), "the world is explored");
    }
    assert_eq!(take(&mut rest), Ok(()));
}

/// As [`all`] with a time limit: `None` where the channel is not closed in time.
fn all_in_time<T: Message>(rx: Rx<T>) -> Option<Vec<T>> {
    all_until(end(), rx)
}

/// As [`all_in_time`]: several channels share the limit.
fn all_until<T: Message>(end: u64, mut rx: Rx<T>) -> Option<Vec<T>> {
    let mut values = Vec::new();
    let closed = until(end, || {
        match rx.poll() {
            Polled::Done(value) => values.push(value),
            Polled::Closed => return Some(()),
            Polled::WouldWait => {}
        }
        None
    });
    closed.map(|()| values)
}
