//! Alts: one request that waits in several channels.
//!
//! First every clause is tried in order, visible to nobody; if none is able the request joins the
//! channels one by one, trying each again under its lock, for something may have come in between.
//! From the first joining on another thread may commit a clause, so every further attempt is a claim.

use flowmeter_harness::channel::{AltsError, Chosen, Clause, Order, Patience};
use flowmeter_harness::sync::Deadline;

use crate::sync::{Arc, Parker, choose, clock};

use super::family::MutexChannels;
use super::hand::Hand;
use super::operation::{Committed, Notify, Operation};
use super::state::{Attempt, Effects};
use super::{Channel, wait};

/// Clauses ready to be run any number of times.
#[derive(Debug)]
pub struct Prepared<'a, T: Send + 'static> {
    clauses: &'a [Clause<'a, MutexChannels, T>],
    /// Indices of the clauses in the order of trying.
    indices: Vec<usize>,
    order: Order,
}

enum Port<'a, T> {
    Take(&'a Channel<T>),
    Put(&'a Channel<T>),
}

/// What trying one clause came to.
enum Tried<T> {
    Committed(Chosen<T>),
    NotAble,
    /// Another thread has committed another clause.
    Lost,
    TooManyWaiters,
}

impl<'a, T: Send + 'static> Prepared<'a, T> {
    pub(super) fn new(clauses: &'a [Clause<'a, MutexChannels, T>], order: Order) -> Self {
        Prepared {
            clauses,
            indices: (0..clauses.len()).collect(),
            order,
        }
    }

    fn port(&self, clause: usize) -> Port<'a, T> {
        match self.clauses[clause] {
            Clause::Take(consumer) => Port::Take(consumer.handle()),
            Clause::Put(producer) => Port::Put(producer.handle()),
        }
    }

    fn validate(&self, slots: &[Option<T>], patience: Patience) -> Result<(), AltsError> {
        if self.clauses.is_empty()
            && matches!(
                patience,
                Patience::Forever | Patience::Until(Deadline::NEVER)
            )
        {
            return Err(AltsError::NoClauses);
        }
        if slots.len() != self.clauses.len() {
            return Err(AltsError::SlotCount {
                slots: slots.len(),
                clauses: self.clauses.len(),
            });
        }
        let empty = |(clause, slot): (&Clause<'_, _, T>, &Option<T>)| {
            matches!(clause, Clause::Put(_)) && slot.is_none()
        };
        match self.clauses.iter().zip(slots).position(empty) {
            Some(clause) => Err(AltsError::MissingValue { clause }),
            None => Ok(()),
        }
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
        for position in 0..self.indices.len() {
            // One step of a shuffle, made only if it is needed: the first able clause of a random
            // order is uniform over whichever clauses are able (A5).
            if self.order == Order::Random {
                let rest = self.indices.len() - position;
                self.indices.swap(position, position + choose(rest));
            }
            let clause = self.indices[position];
            if let Tried::Committed(chosen) = self.attempt(clause, &mut slots[clause], None) {
                return Ok(chosen);
            }
        }
        match patience {
            Patience::Now => Ok(Chosen::Default),
            Patience::Forever => self.wait(slots, Deadline::NEVER),
            Patience::Until(deadline) if clock::has_passed(deadline) => Ok(Chosen::TimedOut),
            Patience::Until(deadline) => self.wait(slots, deadline),
        }
    }

    fn wait(&self, slots: &mut [Option<T>], deadline: Deadline) -> Result<Chosen<T>, AltsError> {
        let parker = Parker::new();
        let request = Operation::alts(Notify::Thread(parker.unparker()));
        // One for all takes, for one clause commits.
        let hand = Arc::new(Hand::new());
        for (joined, &clause) in self.indices.iter().enumerate() {
            match self.attempt(clause, &mut slots[clause], Some((&request, &hand))) {
                Tried::NotAble => {}
                Tried::Committed(chosen) => {
                    self.leave(&request, &self.indices[..joined], slots);
                    return Ok(chosen);
                }
                Tried::TooManyWaiters if request.end() => {
                    self.leave(&request, &self.indices[..joined], slots);
                    return Err(AltsError::TooManyWaiters { clause });
                }
                Tried::TooManyWaiters | Tried::Lost => break,
            }
        }
        let committed = wait(&parker, &request, deadline);
        self.leave(&request, &self.indices, slots);
        Ok(match committed {
            Some(committed) => self.committed(committed, &hand),
            None => Chosen::TimedOut,
        })
    }

    /// Tries one clause; where it is not able, `request` joins its channel.
    fn attempt(
        &self,
        clause: usize,
        slot: &mut Option<T>,
        request: Option<(&Arc<Operation>, &Arc<Hand<T>>)>,
    ) -> Tried<T> {
        let mut effects = Effects::new();
        let me = request.map(|(request, _)| &**request);
        let tried = match self.port(clause) {
            Port::Take(channel) => {
                let mut state = channel.0.lock();
                match state.take_now(me, &mut effects) {
                    Attempt::Done(value) => Tried::Committed(Chosen::Took { clause, value }),
                    Attempt::Lost(()) => Tried::Lost,
                    Attempt::NotAble(()) => match request {
                        Some((request, hand)) if !state.wait_to_take(request, clause, hand) => {
                            Tried::TooManyWaiters
                        }
                        _ => Tried::NotAble,
                    },
                }
            }
            Port::Put(channel) => {
                let value = slot.take().expect("validated: a put clause has its value");
                let mut state = channel.0.lock();
                match state.put_now(value, me, &mut effects) {
                    Attempt::Done(done) => {
                        let accepted = done.is_ok();
                        *slot = done.err();
                        Tried::Committed(Chosen::Put { clause, accepted })
                    }
                    Attempt::Lost(value) => {
                        *slot = Some(value);
                        Tried::Lost
                    }
                    Attempt::NotAble(value) => match request {
                        None => {
                            *slot = Some(value);
                            Tried::NotAble
                        }
                        Some((request, _)) => match state.wait_to_put(request, clause, value) {
                            Ok(()) => Tried::NotAble,
                            Err(value) => {
                                *slot = Some(value);
                                Tried::TooManyWaiters
                            }
                        },
                    },
                }
            }
        };
        effects.run();
        tried
    }

    /// Leaves the channels that the request had joined; the values of losing puts go back to their slots.
    fn leave(&self, request: &Operation, joined: &[usize], slots: &mut [Option<T>]) {
        for &clause in joined {
            match self.port(clause) {
                Port::Take(channel) => channel.0.lock().withdraw_take(request, clause),
                Port::Put(channel) => {
                    if let Some(value) = channel.0.lock().withdraw_put(request, clause) {
                        slots[clause] = Some(value);
                    }
                }
            }
        }
    }

    /// What another thread's commit of that clause comes to.
    fn committed(&self, Committed { clause, refused }: Committed, hand: &Hand<T>) -> Chosen<T> {
        match self.port(clause) {
            Port::Take(_) => Chosen::Took {
                clause,
                value: hand.value(),
            },
            // A close leaves the puts that wait (C6); they are refused only when nobody can take any more (C14), and the
            // value is back in its slot.
            Port::Put(_) => Chosen::Put {
                clause,
                accepted: !refused,
            },
        }
    }
}
