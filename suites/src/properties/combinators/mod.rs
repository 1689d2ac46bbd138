//! What is checked on combinators: a file for each property. Every model has an executor of one thread, and the channels
//! that the registry names.
//!
//! A go block that waits for ever is a deadlock where schedules are explored; under std only what may panic is waited for
//! with a limit, since a panic can be tried nowhere else.

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

use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;

use flowmeter_harness::channel::{
    Async, AwaitAlts, Buffer, Channels, Message, Offered, Polled, TakeError,
};
use flowmeter_harness::combinator::Combinators;
use flowmeter_harness::executor::{Executors, Spawn, give_way};
use flowmeter_harness::sync::World;

use super::gate::{panics_of, settle};
use super::{Case, Owed, Property, Reliance};

/// No value at all.
const NOTHING: [u32; 0] = [];

/// How many threads a model's executor has.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// How long to wait, in the std world, for what has to happen: only a failure takes as long.
const PATIENCE: u64 = 5_000_000_000;

/// What a family of combinators owes.
pub(super) fn owed<F, C, E, W>() -> Owed
where
    F: Combinators<C>,
    C: AwaitAlts,
    E: Executors,
    W: World,
{
    owed_on::<On<F, C, E, W>>()
}

fn owed_on<S: Stage>() -> Owed {
    vec![
        (&m1_pipe::PROPERTY, m1_pipe::cases::<S>()),
        (&m2_split::PROPERTY, m2_split::cases::<S>()),
        (&m3_merge::PROPERTY, m3_merge::cases::<S>()),
        (&m4_mult::PROPERTY, m4_mult::cases::<S>()),
        (&m5_mix::PROPERTY, m5_mix::cases::<S>()),
        (&m6_publish::PROPERTY, m6_publish::cases::<S>()),
        (&m7_onto_chan::PROPERTY, m7_onto_chan::cases::<S>()),
        (&m8_to_chan::PROPERTY, m8_to_chan::cases::<S>()),
        (&m9_into::PROPERTY, m9_into::cases::<S>()),
        (&m10_reduce::PROPERTY, m10_reduce::cases::<S>()),
        (&m11_transduce::PROPERTY, m11_transduce::cases::<S>()),
        (&m12_map::PROPERTY, m12_map::cases::<S>()),
        (&m13_take::PROPERTY, m13_take::cases::<S>()),
        (&m14_unique::PROPERTY, m14_unique::cases::<S>()),
        (&m15_partition::PROPERTY, m15_partition::cases::<S>()),
    ]
}

/// What a model runs on: four types that always go together.
trait Stage: Send + Sync + 'static {
    type F: Combinators<Self::C>;
    type C: AwaitAlts;
    type E: Executors;
    type W: World;

    /// Whether panics can be tried: elsewhere they are the checkers' own language.
    fn has_panics() -> bool {
        Self::W::name() == "std"
    }

    /// Whether models may be of more than a few steps.
    fn is_roomy() -> bool {
        Self::W::name() != "loom"
    }
}

struct On<F, C, E, W>(PhantomData<(F, C, E, W)>);

impl<F, C, E, W> Stage for On<F, C, E, W>
where
    F: Combinators<C>,
    C: AwaitAlts,
    E: Executors,
    W: World,
{
    type F = F;
    type C = C;
    type E = E;
    type W = W;
}

type Tx<S, T> = <<S as Stage>::C as Channels>::Tx<T>;
type Rx<S, T> = <<S as Stage>::C as Channels>::Rx<T>;
type Spawner<S> = <<S as Stage>::E as Executors>::Spawner;

/// Has an executor while that goes on. It is gone, with its threads, before anything is judged.
fn with_executor<S: Stage, R>(act: impl FnOnce(&Spawner<S>) -> R) -> R {
    let executor = S::E::with_threads(ONE);
    let seen = act(&executor.spawner());
    drop(executor);
    seen
}

/// As [`with_executor`], and waits until one task has panicked; answers how many have.
fn with_a_panic<S: Stage, R>(act: impl FnOnce(&Spawner<S>) -> R) -> (R, u64) {
    let executor = S::E::with_threads(ONE);
    let seen = act(&executor.spawner());
    let panics = panics_of::<S::E, S::W>(&executor, 1, PATIENCE);
    drop(executor);
    (seen, panics)
}

/// A user's function at fault.
fn fault() -> ! {
    resume_unwind(Box::new("a user's own fault"))
}

fn room(places: usize) -> Buffer {
    Buffer::fixed(places)
}

fn open<S: Stage, T: Message>(buffer: Buffer) -> (Tx<S, T>, Rx<S, T>) {
    S::C::open(buffer).expect("a family with alts has such a buffer")
}

/// A channel that holds these values, and is open as long as its first half is kept.
fn source<S: Stage>(values: &[u32]) -> (Tx<S, u32>, Rx<S, u32>) {
    let (mut tx, rx) = open::<S, u32>(room(values.len().max(1)));
    for value in values {
        assert_eq!(S::C::offer(&mut tx, *value), Offered::Done, "there is room");
    }
    (tx, rx)
}

/// As [`source`], closed already.
fn ended_source<S: Stage>(values: &[u32]) -> Rx<S, u32> {
    let (tx, rx) = source::<S>(values);
    S::C::close(&tx);
    rx
}

/// Another consumer of a source.
fn another<S: Stage>(rx: &Rx<S, u32>) -> Rx<S, u32> {
    S::C::another_rx(rx).expect("a family with alts has several consumers")
}

/// A channel that refuses everything.
fn refusing<S: Stage>() -> Tx<S, u32> {
    let (tx, rx) = open::<S, u32>(room(1));
    S::C::close(&tx);
    drop(rx);
    tx
}

/// Puts; whether it was accepted.
fn put<S: Stage>(tx: &mut Tx<S, u32>, value: u32) -> bool {
    S::W::block_on(S::C::put_async(tx, value)).is_ok()
}

fn take<S: Stage, T: Message>(rx: &mut Rx<S, T>) -> Result<T, TakeError> {
    S::W::block_on(S::C::take_async(rx))
}

/// Everything that comes until the channel closes.
fn all<S: Stage, T: Message>(mut rx: Rx<S, T>) -> Vec<T> {
    std::iter::from_fn(|| take::<S, T>(&mut rx).ok()).collect()
}

/// What lies in the channel now, and how it goes on after that.
fn lying<S: Stage>(rx: &mut Rx<S, u32>) -> (Vec<u32>, Polled<u32>) {
    let mut values = Vec::new();
    loop {
        match S::C::poll(rx) {
            Polled::Done(value) => values.push(value),
            rest => return (values, rest),
        }
    }
}

/// Which of three values it takes whose output is closed before the first of them comes.
fn goes_on<S: Stage, U: Message>(
    make: impl FnOnce(&Spawner<S>, Rx<S, u32>) -> Rx<S, U>,
) -> [bool; 3] {
    with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(Buffer::Rendezvous);
        let mut unwanted = make(go, from);
        S::C::close_rx(&mut unwanted);
        drop(unwanted);
        [0, 1, 2].map(|value| put::<S>(&mut tx, value))
    })
}

/// How many of four values it takes while nobody takes what it makes of them.
fn taken_ahead<S: Stage, U: Message>(
    make: impl FnOnce(&Spawner<S>, Rx<S, u32>) -> Rx<S, U>,
) -> usize {
    const VALUES: [u32; 4] = [1, 2, 3, 4];
    with_executor::<S, _>(|go| {
        let (_open, from) = source::<S>(&VALUES);
        let mut left = another::<S>(&from);
        let _untaken = make(go, from);
        come_to_rest::<S>(go);
        VALUES.len() - lying::<S>(&mut left).0.len()
    })
}

/// Whether it took so many ahead; in the std world, where nobody knows that it has come to rest, no more than that.
fn took_ahead<S: Stage>(taken: usize, expected: usize) -> bool {
    taken == expected || S::W::name() == "std" && taken < expected
}

/// What comes first, when one value was put and no other follows.
fn first_of_one<S: Stage, U: Message>(
    make: impl FnOnce(&Spawner<S>, Rx<S, u32>) -> Rx<S, U>,
) -> Result<U, TakeError> {
    with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let mut results = make(go, from);
        put::<S>(&mut tx, 7);
        take::<S, U>(&mut results)
    })
}

/// Waits until no task can go on. In the std world nobody can know that moment: there a task gives way so often that
/// others have come far.
fn come_to_rest<S: Stage>(go: &Spawner<S>) {
    const TURNS: usize = 200;
    if S::W::name() != "std" {
        return settle::<S::C, S::W>(PATIENCE, || false);
    }
    let (mut over, mut rest) = open::<S, ()>(room(1));
    go.spawn(async move {
        for _ in 0..TURNS {
            give_way().await;
        }
        let _ = S::C::put_async(&mut over, ()).await;
    });
    assert_eq!(take::<S, ()>(&mut rest), Ok(()));
}

/// As [`all`] where nobody may hang: nothing where the channel is not closed in time.
fn all_in_time<S: Stage, T: Message>(mut rx: Rx<S, T>) -> Option<Vec<T>> {
    let end = S::W::now_nanos().saturating_add(PATIENCE);
    let mut values = Vec::new();
    while S::W::now_nanos() < end {
        match S::C::poll(&mut rx) {
            Polled::Done(value) => values.push(value),
            Polled::Closed => return Some(values),
            Polled::WouldWait => S::W::yield_now(),
        }
    }
    None
}
