//! Alts on one thread: the cost of choosing among ports without contention.
//!
//! After each alts the thread puts back the value it took, or takes the value it put, so that the next one finds the
//! same state. That operation is part of the turn. So is the choice of the port that has the value, where one port
//! has it: if it were the same port each time, the branch predictor would learn it.

use std::hint::black_box;
use std::marker::PhantomData;

use flowmeter_harness::channel::{Alts, Chosen, Clause, Order, Patience};
use flowmeter_measure::StageError;
use flowmeter_records::{Axes, Measure};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use super::ledger::miscounted;
use super::solo::{Solo, nothing};
use super::stream;
use super::{open, refused};
use crate::scenario::{Capacity, Facts, Form, Room, Within};

/// Clauses of an alts.
pub type Width = Within<1, 128>;

/// What the alts finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One port has a value, drawn anew each time.
    OneHot,
    /// Every port has a value.
    AllReady,
    /// No port has a value, and there is a default.
    NoneReady,
    /// The first half of the clauses (rounded up) can take, the others can put.
    Mixed,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::OneHot => "one-hot",
            Kind::AllReady => "all-ready",
            Kind::NoneReady => "none-ready",
            Kind::Mixed => "mixed",
        }
    }
}

/// How many clauses, and what they find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What the alts finds.
    pub kind: Kind,
    /// Clauses, each with a channel of its own.
    pub width: Width,
    /// Room in each channel.
    pub capacity: Capacity,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Blocking,
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: format!("alts/{}", self.kind.name()),
                capacity: Some(self.capacity.count()),
                message_bytes: Some(8),
                width: Some(self.width.count()),
                ..Axes::default()
            },
        }
    }
}

/// Channels of which one thread has both halves.
pub struct AloneAtPorts<C: Alts> {
    params: Params,
    txs: Vec<C::Tx<u64>>,
    rxs: Vec<C::Rx<u64>>,
    /// The value of the next put.
    next: u64,
    /// Draws the port it goes to.
    random: Pcg64Mcg,
    family: PhantomData<fn(C)>,
}

impl<C: Alts> AloneAtPorts<C> {
    /// New channels, in the state that the alts should find.
    ///
    /// # Errors
    /// Where the family has no fixed buffer, or refuses a put.
    pub fn new(params: Params) -> Result<Self, StageError> {
        let open = |_| open::<C, u64>(params.capacity.buffer());
        let halves: Result<Vec<_>, _> = (0..params.width.count()).map(open).collect();
        let (mut txs, rxs): (Vec<_>, Vec<_>) = halves?.into_iter().unzip();
        let filled = match params.kind {
            Kind::OneHot | Kind::NoneReady => 0,
            Kind::AllReady => txs.len(),
            Kind::Mixed => txs.len().div_ceil(2),
        };
        for (port, tx) in (0_u64..).zip(&mut txs[..filled]) {
            C::put(tx, port).map_err(|_| closed())?;
        }
        Ok(AloneAtPorts {
            params,
            txs,
            rxs,
            next: filled as u64,
            random: Pcg64Mcg::seed_from_u64(1),
            family: PhantomData,
        })
    }

    /// One value at a time, at a port that is drawn each time.
    fn one_hot(&mut self, turns: u64) -> Result<(), StageError> {
        let clauses: Vec<_> = self.rxs.iter().map(Clause::Take).collect();
        let mut slots = vec![None; clauses.len()];
        let mut alts = C::prepare(&clauses, Order::Random);
        for _ in 0..turns {
            let hot = self.random.random_range(0..self.txs.len());
            C::put(&mut self.txs[hot], self.next).map_err(|_| closed())?;
            let expected = Chosen::Took {
                clause: hot,
                value: Some(self.next),
            };
            match C::run(&mut alts, &mut slots, Patience::Forever) {
                Ok(chosen) if chosen == expected => self.next += 1,
                other => return Err(unexpected(&other)),
            }
        }
        Ok(())
    }

    /// A taken value is put back into its channel.
    fn all_ready(&mut self, turns: u64) -> Result<(), StageError> {
        let clauses: Vec<_> = self.rxs.iter().map(Clause::Take).collect();
        let mut slots = vec![None; clauses.len()];
        let mut alts = C::prepare(&clauses, Order::Random);
        for _ in 0..turns {
            match C::run(&mut alts, &mut slots, Patience::Forever) {
                // A value is the number of its port.
                Ok(Chosen::Took {
                    clause,
                    value: Some(port),
                }) if port == clause as u64 => {
                    C::put(&mut self.txs[clause], port).map_err(|_| closed())?;
                }
                other => return Err(unexpected(&other)),
            }
        }
        Ok(())
    }

    fn none_ready(&mut self, turns: u64) -> Result<(), StageError> {
        let clauses: Vec<_> = self.rxs.iter().map(Clause::Take).collect();
        let mut slots = vec![None; clauses.len()];
        let mut alts = C::prepare(&clauses, Order::Random);
        for _ in 0..turns {
            match C::run(&mut alts, &mut slots, Patience::Now) {
                Ok(Chosen::Default) => {}
                other => return Err(unexpected(&other)),
            }
        }
        Ok(())
    }

    /// A taken value is put back; a value that was put is taken again.
    fn mixed(&mut self, turns: u64) -> Result<(), StageError> {
        let takes = self.txs.len().div_ceil(2);
        let (refill, put_into) = self.txs.split_at_mut(takes);
        let (take_from, emptied) = self.rxs.split_at_mut(takes);
        let ports = take_from.iter().map(Clause::Take);
        let clauses: Vec<_> = ports.chain(put_into.iter().map(Clause::Put)).collect();
        let mut slots: Vec<Option<u64>> = (0_u64..)
            .zip(&clauses)
            .map(|(port, clause)| matches!(clause, Clause::Put(_)).then_some(port))
            .collect();
        let mut alts = C::prepare(&clauses, Order::Random);
        for _ in 0..turns {
            match C::run(&mut alts, &mut slots, Patience::Forever) {
                Ok(Chosen::Took {
                    clause,
                    value: Some(port),
                }) if port == clause as u64 && clause < takes => {
                    C::put(&mut refill[clause], port).map_err(|_| closed())?;
                }
                Ok(Chosen::Put {
                    clause,
                    accepted: true,
                }) if clause >= takes && slots[clause].is_none() => {
                    let came = C::take(&mut emptied[clause - takes]).map_err(|_| closed())?;
                    if came != clause as u64 {
                        return Err(miscounted(format!("{clause} was put and {came} was taken")));
                    }
                    slots[clause] = Some(came);
                }
                other => return Err(unexpected(&other)),
            }
        }
        Ok(())
    }
}

fn closed() -> StageError {
    refused("an operation on an open channel")
}

#[cold]
fn unexpected(outcome: &impl std::fmt::Debug) -> StageError {
    miscounted(format!("an alts answered {outcome:?}"))
}

impl<C: Alts> Solo for AloneAtPorts<C> {
    fn bare(&mut self, turns: u64) {
        match self.params.kind {
            Kind::OneHot => {
                for _ in 0..turns {
                    black_box(self.random.random_range(0..self.txs.len()));
                }
            }
            Kind::AllReady | Kind::NoneReady | Kind::Mixed => nothing(turns),
        }
    }

    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        match self.params.kind {
            Kind::OneHot => self.one_hot(turns),
            Kind::AllReady => self.all_ready(turns),
            Kind::NoneReady => self.none_ready(turns),
            Kind::Mixed => self.mixed(turns),
        }
    }

    fn prove(&mut self) -> Result<(), StageError> {
        stream::prove_pair::<C>(Room::Fixed(self.params.capacity))
    }
}
