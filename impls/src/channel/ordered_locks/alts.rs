//! Alts: clauses tried under the locks of all their channels, so that they are seen at one moment.

use std::fmt;

use flowmeter_harness::channel::{AltsError, Chosen, Clause, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::Deadline;

use crate::sync::{Arc, Mutex, MutexGuard, Parker, choose, clock};

use super::Channel;
use super::effects::Effects;
use super::family::OrderedLocks;
use super::line::{Party, Request, Slot};
use super::state::{Handed, State, Taken};
use super::waiter::{Notify, Waiter};

/// Clauses ready to be run any number of times.
pub struct Prepared<'a, T: Send + 'static> {
    ports: Vec<Port>,
    /// Indices of the clauses in the order of trying.
    indices: Vec<usize>,
    order: Order,
    /// The channels in the order of locking, each once (A7).
    channels: Vec<&'a Channel<T>>,
    /// Their locks while they are held; empty between runs.
    held: Vec<MutexGuard<'a, State<T>>>,
}

/// A clause.
#[derive(Clone, Copy)]
struct Port {
    /// Index of its channel.
    channel: usize,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Put,
    Take,
}

/// All channels of an alts, locked.
struct Locked<'p, 'a, T: Send + 'static> {
    ports: &'p [Port],
    held: &'p mut Vec<MutexGuard<'a, State<T>>>,
}

impl<T: Send + 'static> Drop for Locked<'_, '_, T> {
    fn drop(&mut self) {
        self.held.clear();
    }
}

impl<'a, T: Send + 'static> Prepared<'a, T> {
    pub(super) fn new(clauses: &'a [Clause<'a, OrderedLocks, T>], order: Order) -> Self {
        let port = |clause: &Clause<'a, OrderedLocks, T>| match *clause {
            Clause::Take(channel) => (channel, Side::Take),
            Clause::Put(channel) => (channel, Side::Put),
        };
        let mut channels: Vec<&Channel<T>> = clauses.iter().map(|clause| port(clause).0).collect();
        channels.sort_by_key(|channel| channel.0.key);
        channels.dedup();
        let index = |key: u64| channels.binary_search_by_key(&key, |channel| channel.0.key);
        let ports = clauses
            .iter()
            .map(port)
            .map(|(channel, side)| Port {
                channel: index(channel.0.key).expect("it was put there"),
                side,
            })
            .collect();
        Prepared {
            ports,
            indices: (0..clauses.len()).collect(),
            order,
            held: Vec::with_capacity(channels.len()),
            channels,
        }
    }

    fn validate(&self, slots: &[Option<T>], patience: Patience) -> Result<(), AltsError> {
        if self.ports.is_empty()
            && matches!(
                patience,
                Patience::Forever | Patience::Until(Deadline::NEVER)
            )
        {
            return Err(AltsError::NoClauses);
        }
        if slots.len() != self.ports.len() {
            return Err(AltsError::SlotCount {
                slots: slots.len(),
                clauses: self.ports.len(),
            });
        }
        let empty = |(port, slot): (&Port, &Option<T>)| port.side == Side::Put && slot.is_none();
        match self.ports.iter().zip(slots).position(empty) {
            Some(clause) => Err(AltsError::MissingValue { clause }),
            None => Ok(()),
        }
    }

    fn lock(&mut self) -> (Locked<'_, 'a, T>, &mut [usize]) {
        let locked = Locked {
            ports: &self.ports,
            held: &mut self.held,
        };
        for channel in &self.channels {
            locked.held.push(channel.lock());
        }
        (locked, &mut self.indices)
    }

    /// Commits exactly one clause, or none when patience ends first.
    ///
    /// # Errors
    /// [`AltsError`]; nothing has had an effect then.
    pub fn run(
        &mut self,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        self.validate(slots, patience)?;
        let order = self.order;
        let mut effects = Effects::new();
        let (mut locked, indices) = self.lock();
        for position in 0..indices.len() {
            // One step of a shuffle, made only if it is needed: the first able clause of a random
            // order is uniform over whichever clauses are able (A5).
            if order == Order::Random {
                let rest = indices.len() - position;
                indices.swap(position, position + choose(rest));
            }
            let clause = indices[position];
            if let Some(chosen) = locked.attempt(clause, &mut slots[clause], &mut effects) {
                drop(locked);
                effects.run();
                return Ok(chosen);
            }
        }
        let deadline = match patience {
            Patience::Now => return Ok(Chosen::Default),
            Patience::Until(deadline) if clock::has_passed(deadline) => {
                return Ok(Chosen::TimedOut);
            }
            Patience::Until(deadline) => deadline,
            Patience::Forever => Deadline::NEVER,
        };
        let parker = Parker::new();
        let request: Arc<Request> = Waiter::new(Notify::Thread(parker.unparker()));
        let taken: Slot<Taken<T>> = Arc::new(Mutex::new(None));
        locked.join(&request, &taken, slots)?;
        drop(locked);

        let answer = request.wait(&parker, deadline);
        let (mut locked, _) = self.lock();
        // Under all these locks nobody can win it any more.
        let answer = answer.or_else(|| request.fetch());
        locked.leave(&request, slots);
        let Some(clause) = answer else {
            return Ok(Chosen::TimedOut);
        };
        Ok(match locked.ports[clause].side {
            Side::Put => Chosen::Put {
                clause,
                accepted: true,
            },
            Side::Take => {
                let taken = taken.lock().take().expect("a take that won was answered");
                Chosen::Took {
                    clause,
                    value: taken.map(|Handed { value, .. }| value),
                }
            }
        })
    }
}

impl<T: Send + 'static> Locked<'_, '_, T> {
    /// Commits a clause if it is able.
    fn attempt(
        &mut self,
        clause: usize,
        slot: &mut Option<T>,
        effects: &mut Effects<T>,
    ) -> Option<Chosen<T>> {
        let Port { channel, side } = self.ports[clause];
        let state = &mut *self.held[channel];
        match side {
            Side::Take => match state.poll(effects) {
                Polled::Done(value) => Some(Chosen::Took {
                    clause,
                    value: Some(value),
                }),
                Polled::Closed => Some(Chosen::Took {
                    clause,
                    value: None,
                }),
                Polled::WouldWait => None,
            },
            Side::Put => {
                let value = slot.take().expect("validated: a put clause has its value");
                match state.offer(value, effects) {
                    Offered::Done => Some(Chosen::Put {
                        clause,
                        accepted: true,
                    }),
                    Offered::Closed(value) => {
                        *slot = Some(value);
                        Some(Chosen::Put {
                            clause,
                            accepted: false,
                        })
                    }
                    Offered::WouldWait(value) => {
                        *slot = Some(value);
                        None
                    }
                }
            }
        }
    }

    /// Has all clauses wait, or none where one may not (C7).
    fn join(
        &mut self,
        request: &Arc<Request>,
        taken: &Slot<Taken<T>>,
        slots: &mut [Option<T>],
    ) -> Result<(), AltsError> {
        for (clause, port) in self.ports.iter().enumerate() {
            let state = &mut *self.held[port.channel];
            let is_full = match port.side {
                Side::Put => state.puts.is_full(),
                Side::Take => state.takes.is_full(),
            };
            if is_full {
                self.leave(request, slots);
                return Err(AltsError::TooManyWaiters { clause });
            }
            match port.side {
                Side::Put => {
                    let value = slots[clause].take();
                    let value = value.expect("validated: a put clause has its value");
                    let party = Party::Clause {
                        request: Arc::clone(request),
                        clause,
                        slot: None,
                    };
                    state.puts.join(party, value);
                }
                Side::Take => {
                    let party = Party::Clause {
                        request: Arc::clone(request),
                        clause,
                        slot: Some(Arc::clone(taken)),
                    };
                    state.takes.join(party, ());
                }
            }
        }
        Ok(())
    }

    /// Has no clause wait any more; the values of losing puts go back to their slots.
    fn leave(&mut self, request: &Request, slots: &mut [Option<T>]) {
        for (clause, port) in self.ports.iter().enumerate() {
            let state = &mut *self.held[port.channel];
            match port.side {
                Side::Take => {
                    state.takes.leave_clause(request, clause);
                }
                Side::Put => {
                    if let Some(value) = state.puts.leave_clause(request, clause) {
                        slots[clause] = Some(value);
                    }
                }
            }
        }
    }
}

impl<T: Send + 'static> fmt::Debug for Prepared<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prepared")
    }
}
