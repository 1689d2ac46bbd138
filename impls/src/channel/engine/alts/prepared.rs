//! Clauses of one message type, prepared once and run often.

use flowmeter_harness::channel::{AltsError, Chosen, Clause, Message, Order, Patience, Winner};

use crate::sync::Arc;

use super::super::buffer::Buffer;
use super::super::effects::Effects;
use super::super::line::Request;
use super::super::state::{Handed, Put, Taken};
use super::super::store::{OfFamily, Store};
use super::super::{ChannelOver, Guard};
use super::locking::Locking;
use super::port::{self, Answers};
use super::{Clauses, run};
use crate::channel::by_name::debug_by_name;
use crate::channel::design::Deferred;
use crate::channel::front::{Front, Quick};

/// Clauses ready to be run any number of times.
pub struct Prepared<'a, T: Message, S: OfFamily<T> = Buffer<T>> {
    clauses: &'a [Clause<'a, S::Family, T>],
    /// Indices of the clauses that put.
    puts: Vec<usize>,
    /// Indices of the clauses in the order of trying.
    indices: Vec<usize>,
    order: Order,
    behind: Behind<'a, T, S>,
}

/// What a run needs only if it does not commit without locks. Kept between runs, so that it is made once.
struct Behind<'a, T: Message, S: Store<T>> {
    locking: Locking,
    /// Storage for the locks. Empty between runs, as are all fields below, with one exception: if `T::clone` panicked,
    /// the effects hold the value and its copies until the next run.
    room: Vec<Guard<'a, T, S>>,
    takes: Answers<Taken<T>>,
    puts: Answers<Put<T>>,
    effects: Effects<T>,
}

/// The clauses of one run, with their values.
struct Filled<'r, 'a, T: Message, S: OfFamily<T>> {
    clauses: &'a [Clause<'a, S::Family, T>],
    putting: &'r [usize],
    behind: &'r mut Behind<'a, T, S>,
    slots: &'r mut [Option<T>],
    /// The value of the take that won.
    taken: Option<T>,
}

impl<'a, T: Message, S: OfFamily<T>> Prepared<'a, T, S> {
    pub(in crate::channel) fn new(clauses: &'a [Clause<'a, S::Family, T>], order: Order) -> Self {
        let keys: Vec<u64> = clauses
            .iter()
            .map(|clause| channel::<T, S>(clause).key())
            .collect();
        let locking = Locking::new(&keys);
        let puts = |&clause: &usize| matches!(clauses[clause], Clause::Put(_));
        Prepared {
            clauses,
            puts: (0..clauses.len()).filter(puts).collect(),
            indices: (0..clauses.len()).collect(),
            order,
            behind: Behind {
                room: Vec::with_capacity(locking.clauses.len()),
                locking,
                takes: Answers::new(),
                puts: Answers::new(),
                effects: Effects::new(),
            },
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
            putting: &self.puts,
            behind: &mut self.behind,
            slots,
            taken: None,
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

fn channel<'a, T: Message, S: OfFamily<T>>(
    clause: &Clause<'a, S::Family, T>,
) -> &'a ChannelOver<T, S> {
    match clause {
        Clause::Take(consumer) => consumer.handle(),
        Clause::Put(producer) => producer.handle(),
    }
}

impl<'a, T: Message, S: OfFamily<T>> Clauses for Filled<'_, 'a, T, S> {
    type Held = Vec<Guard<'a, T, S>>;

    fn count(&self) -> usize {
        self.clauses.len()
    }

    fn missing_value(&self) -> Option<usize> {
        let is_empty = |clause: &usize| self.slots[*clause].is_none();
        self.putting.iter().copied().find(is_empty)
    }

    fn lock(&mut self) -> Self::Held {
        let mut held = std::mem::take(&mut self.behind.room);
        for &clause in &self.behind.locking.clauses {
            held.push(channel::<T, S>(&self.clauses[clause]).lock());
        }
        held
    }

    fn unlock(&mut self, mut held: Self::Held) {
        held.clear();
        self.behind.room = held;
    }

    #[inline]
    fn seems_able(&self, clause: usize) -> bool {
        match self.clauses[clause] {
            Clause::Take(consumer) => !consumer.handle().front.seems_empty(),
            Clause::Put(producer) => !producer.handle().front.seems_full(),
        }
    }

    #[inline]
    fn glance(&mut self, clause: usize, sure: bool) -> Quick<(), ()> {
        match self.clauses[clause] {
            Clause::Take(consumer) => port::glance_take(consumer.handle(), &mut self.taken, sure),
            Clause::Put(producer) => {
                port::glance_put(producer.handle(), &mut self.slots[clause], sure)
            }
        }
    }

    fn attempt(&mut self, held: &mut Self::Held, clause: usize) -> bool {
        let state = &mut *held[self.behind.locking.places[clause]];
        match self.clauses[clause] {
            Clause::Take(_) => port::try_take(state, &mut self.taken, &mut self.behind.effects),
            Clause::Put(_) => {
                port::try_put(state, &mut self.slots[clause], &mut self.behind.effects)
            }
        }
    }

    fn settle(&mut self, _clause: usize) {
        self.behind.effects.take().run();
    }

    fn join(&mut self, held: &mut Self::Held, clause: usize, request: &Arc<Request>) -> bool {
        let state = &mut *held[self.behind.locking.places[clause]];
        match self.clauses[clause] {
            Clause::Take(_) => port::join_take(state, clause, request, &mut self.behind.takes),
            Clause::Put(_) => {
                let slot = &mut self.slots[clause];
                port::join_put(state, clause, request, &mut self.behind.puts, slot)
            }
        }
    }

    fn leave(&mut self, held: &mut Self::Held, clause: usize, request: &Request) {
        let state = &mut *held[self.behind.locking.places[clause]];
        match self.clauses[clause] {
            Clause::Take(_) => {
                state.takes.leave_clause(request, clause);
            }
            Clause::Put(_) => {
                if let Some(value) = state.puts.leave_clause(request, clause) {
                    self.slots[clause] = value;
                }
            }
        }
    }

    fn receive(&mut self, clause: usize) {
        match self.clauses[clause] {
            Clause::Take(_) => {
                let taken = self
                    .behind
                    .takes
                    .fetch()
                    .expect("a take that won was answered");
                self.taken = taken.map(|Handed { value, .. }| value);
            }
            Clause::Put(_) => {
                let put = self
                    .behind
                    .puts
                    .fetch()
                    .expect("a put that won was answered");
                self.slots[clause] = put.err().flatten();
            }
        }
    }
}

debug_by_name!([T: Message, S: OfFamily<T>] Prepared<'_, T, S>;);
