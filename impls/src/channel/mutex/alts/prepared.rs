//! Clauses of one message type, prepared once and run often.

use flowmeter_harness::channel::{AltsError, Chosen, Clause, Order, Patience, Winner};

use crate::sync::Arc;

use super::super::family::MutexChannels;
use super::super::hand::Hand;
use super::super::operation::Operation;
use super::{Clauses, Tried, port, run};

/// Clauses ready to be run any number of times.
#[derive(Debug)]
pub struct Prepared<'a, T: Send + 'static> {
    clauses: &'a [Clause<'a, MutexChannels, T>],
    /// Indices of the clauses in the order of trying.
    indices: Vec<usize>,
    order: Order,
}

/// The clauses of one run, with their values.
struct Filled<'r, 'a, T: Send + 'static> {
    clauses: &'a [Clause<'a, MutexChannels, T>],
    slots: &'r mut [Option<T>],
    /// The value of the take that won.
    taken: Option<T>,
    /// One hand for all takes, because only one clause commits. Allocated once a take has had to wait.
    hand: Option<Arc<Hand<T>>>,
}

impl<'a, T: Send + 'static> Prepared<'a, T> {
    pub(in super::super) fn new(clauses: &'a [Clause<'a, MutexChannels, T>], order: Order) -> Self {
        Prepared {
            clauses,
            indices: (0..clauses.len()).collect(),
            order,
        }
    }

    /// Commits exactly one clause, or none when patience ends first.
    ///
    /// # Errors
    /// [`AltsError`]; then the run has had no effect.
    pub fn run(
        &mut self,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        if slots.len() != self.clauses.len() {
            return Err(AltsError::SlotCount {
                slots: slots.len(),
                clauses: self.clauses.len(),
            });
        }
        let mut filled = Filled {
            clauses: self.clauses,
            slots,
            taken: None,
            hand: None,
        };
        let winner = run(&mut filled, &mut self.indices, self.order, patience)?;
        Ok(match winner {
            Winner::Clause(clause) => match self.clauses[clause] {
                Clause::Take(_) => Chosen::Took {
                    clause,
                    value: filled.taken,
                },
                Clause::Put(_) => Chosen::Put {
                    clause,
                    accepted: slots[clause].is_none(),
                },
            },
            Winner::Default => Chosen::Default,
            Winner::TimedOut => Chosen::TimedOut,
        })
    }
}

impl<T: Send + 'static> Clauses for Filled<'_, '_, T> {
    fn count(&self) -> usize {
        self.clauses.len()
    }

    fn missing_value(&self) -> Option<usize> {
        let empty = |(clause, slot): (&Clause<'_, _, T>, &Option<T>)| {
            matches!(clause, Clause::Put(_)) && slot.is_none()
        };
        self.clauses.iter().zip(&*self.slots).position(empty)
    }

    fn attempt(&mut self, clause: usize, request: Option<&Arc<Operation>>) -> Tried {
        match self.clauses[clause] {
            Clause::Take(consumer) => {
                let request = request.map(|request| {
                    let hand = self.hand.get_or_insert_with(|| Arc::new(Hand::new()));
                    (request, &*hand)
                });
                port::try_take(consumer.handle(), clause, request, &mut self.taken)
            }
            Clause::Put(producer) => {
                port::try_put(producer.handle(), clause, request, &mut self.slots[clause])
            }
        }
    }

    fn leave(&mut self, clause: usize, request: &Operation) {
        match self.clauses[clause] {
            Clause::Take(consumer) => port::leave_take(consumer.handle(), clause, request),
            Clause::Put(producer) => {
                port::leave_put(producer.handle(), clause, request, &mut self.slots[clause]);
            }
        }
    }

    fn receive(&mut self, _clause: usize) {
        self.taken = self.hand.as_ref().and_then(|hand| hand.value());
    }
}
