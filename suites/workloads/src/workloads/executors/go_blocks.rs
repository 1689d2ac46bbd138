//! Go blocks: written as a future, which the compiler turns into a state machine, and written as an explicit state
//! machine.
//!
//! A block takes two values, each from a channel of its own, adds them, and yields the sum on a third channel. A task
//! counts the sums. For the first half of the blocks both values are there when the block begins, so it runs through.
//! The others wait for each value. The value is the time per block.

use std::marker::PhantomData;

use flowmeter_harness::channel::{Async, AwaitAlts, Buffer, Callback, Offered, TakeError};
use flowmeter_harness::executor::{Executors, Frame, GoBlocks, Spawn, Step, go};
use flowmeter_measure::StageError;
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use crate::scenario::{Facts, Form, Threads, Within};
use crate::workloads::ledger::miscounted;
use crate::workloads::pending::Pending;
use crate::workloads::solo::Solo;
use crate::workloads::{crew, open, refused};

/// The number of threads and blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Threads of the executor.
    pub threads: Threads,
    /// Blocks between two waits.
    pub blocks: Within<2, 100_000>,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Async,
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: "go-blocks".to_owned(),
                consumers: Some(self.threads.count()),
                waiting: Some(self.blocks.count()),
                ..Axes::default()
            },
        }
    }
}

/// A way to write a block, as a type.
pub trait Writing<C: Async>: 'static {
    /// Takes one value from each channel, and yields their sum.
    fn sum(spawner: &impl Spawn, of: C::Rx<u64>, and: C::Rx<u64>) -> C::Rx<u64>;
}

/// As a future.
pub struct AsFuture;

/// As a state machine of that design.
pub struct AsStates<G>(PhantomData<fn(G)>);

impl<C: Async> Writing<C> for AsFuture {
    fn sum(spawner: &impl Spawn, mut of: C::Rx<u64>, mut and: C::Rx<u64>) -> C::Rx<u64> {
        go::<C, u64>(spawner, async move {
            let one = C::take_async(&mut of).await.ok()?;
            let other = C::take_async(&mut and).await.ok()?;
            Some(one + other)
        })
    }
}

/// The state of the block; `One` and `Other` hold the first value.
enum State {
    Begin,
    One(Result<u64, TakeError>),
    Other(u64, Result<u64, TakeError>),
}

impl<G: GoBlocks<C>, C: Callback + AwaitAlts> Writing<C> for AsStates<G> {
    fn sum(spawner: &impl Spawn, of: C::Rx<u64>, and: C::Rx<u64>) -> C::Rx<u64> {
        G::go(spawner, State::Begin, move |frame, state| match state {
            State::Begin => frame.take(&of, State::One),
            State::One(Ok(one)) => frame.take(&and, move |other| State::Other(one, other)),
            State::Other(one, Ok(other)) => Step::Return(Some(one + other)),
            State::One(Err(_)) | State::Other(_, Err(_)) => Step::Return(None),
        })
    }
}

/// Blocks on an executor.
pub struct Blocks<B, C, E> {
    executor: E,
    blocks: u64,
    over: PhantomData<fn(B, C)>,
}

impl<B: Writing<C>, C: Async, E: Executors> Blocks<B, C, E> {
    /// With a new executor.
    ///
    /// # Errors
    /// Where its threads should have a core each, and cannot be pinned.
    pub fn new(params: Params) -> Result<Self, StageError> {
        Ok(Blocks {
            executor: crew::executor(params.threads.non_zero())?,
            blocks: params.blocks.get(),
            over: PhantomData,
        })
    }
}

/// Puts into a channel that has room.
fn put<C: Async>(tx: &mut C::Tx<u64>, value: u64) -> Result<(), StageError> {
    match C::offer(tx, value) {
        Offered::Done => Ok(()),
        Offered::WouldWait(_) | Offered::Closed(_) => Err(refused("a value for an empty buffer")),
    }
}

impl<B: Writing<C>, C: Async, E: Executors> Solo for Blocks<B, C, E> {
    fn operations(&self) -> u64 {
        self.blocks
    }

    fn bare(&mut self, turns: u64) {
        for _ in 0..turns {
            let pending = Pending::new(self.blocks);
            for _ in 0..self.blocks {
                pending.clone().one_less();
            }
        }
    }

    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        let spawner = self.executor.spawner();
        for _ in 0..turns {
            let pending = Pending::new(self.blocks);
            let mut late = Vec::new();
            for number in 0..self.blocks {
                let (mut one, of) = open::<C, u64>(Buffer::fixed(1))?;
                let (mut other, and) = open::<C, u64>(Buffer::fixed(1))?;
                let waits = number >= self.blocks / 2;
                if !waits {
                    put::<C>(&mut one, number)?;
                    put::<C>(&mut other, 1)?;
                }
                let mut sum = B::sum(&spawner, of, and);
                let pending = pending.clone();
                spawner.spawn(async move {
                    if C::take_async(&mut sum).await == Ok(number + 1) {
                        pending.one_less();
                    }
                });
                late.push((number, waits, one, other));
            }
            for (number, _, one, other) in late.iter_mut().filter(|(_, waits, ..)| *waits) {
                put::<C>(one, *number)?;
                put::<C>(other, 1)?;
            }
            let ended = pending.wait();
            ended.map_err(|_| miscounted(format!("{} sums did not come", pending.left())))?;
        }
        Ok(())
    }
}
