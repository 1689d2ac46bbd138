//! Alts: one request that waits in several channels.
//!
//! First every clause is tried in order, while no other thread can see the request. If none is able, the request joins
//! the channels one by one. Each clause is tried again under its channel's lock, because the channel may have changed
//! since. After the first join another thread may commit a clause, so every further attempt is a claim.
//!
//! The steps are the same for clauses of one message type (`prepared`) and of several (`mixed`), and for a waiting
//! thread and a waiting task (`future`).

mod future;
mod mixed;
mod port;
mod prepared;

use std::mem;

use flowmeter_harness::channel::{AltsError, Order, Patience, Winner};
use flowmeter_harness::sync::Deadline;

use crate::sync::{Arc, Parker, choose, clock};

use super::operation::{Notify, Operation};
use super::wait;

pub(super) use future::run as run_async;
pub(super) use mixed::run_mixed;
pub use mixed::{AnyClause, PutClause, TakeClause};
pub use prepared::Prepared;

/// The clauses of one alts. They keep their own values, and the values that they took.
trait Clauses {
    fn count(&self) -> usize;

    /// The first put that has no value.
    fn missing_value(&self) -> Option<usize>;

    /// Tries one clause; where it is not able, `request` joins its channel.
    fn attempt(&mut self, clause: usize, request: Option<&Arc<Operation>>) -> Tried;

    /// Leaves the channel of that clause, if the request is still there. A losing put has its value back.
    fn leave(&mut self, clause: usize, request: &Operation);

    /// Fetches the value that another thread's commit of that clause has left.
    fn receive(&mut self, clause: usize);
}

/// The result of trying one clause.
enum Tried {
    Committed,
    NotAble,
    /// Another thread has committed another clause.
    Lost,
    TooManyWaiters,
}

/// Commits exactly one clause, or none when patience ends first. `indices` are the indices of all clauses.
fn run<C: Clauses + ?Sized>(
    clauses: &mut C,
    indices: &mut [usize],
    order: Order,
    patience: Patience,
) -> Result<Winner, AltsError> {
    let for_ever = matches!(
        patience,
        Patience::Forever | Patience::Until(Deadline::NEVER)
    );
    validate(clauses, for_ever)?;
    if let Some(clause) = try_all(clauses, indices, order) {
        return Ok(Winner::Clause(clause));
    }
    match patience {
        Patience::Now => Ok(Winner::Default),
        Patience::Forever => block(clauses, indices, Deadline::NEVER),
        Patience::Until(deadline) if clock::has_passed(deadline) => Ok(Winner::TimedOut),
        Patience::Until(deadline) => block(clauses, indices, deadline),
    }
}

fn validate<C: Clauses + ?Sized>(clauses: &C, for_ever: bool) -> Result<(), AltsError> {
    if for_ever && clauses.count() == 0 {
        return Err(AltsError::NoClauses);
    }
    match clauses.missing_value() {
        Some(clause) => Err(AltsError::MissingValue { clause }),
        None => Ok(()),
    }
}

/// Tries every clause without waiting, and returns the one that has committed.
fn try_all<C: Clauses + ?Sized>(
    clauses: &mut C,
    indices: &mut [usize],
    order: Order,
) -> Option<usize> {
    for position in 0..indices.len() {
        // One step of a shuffle, made only if it is needed. The first able clause of a random order is uniform over the
        // able clauses (A5).
        if order == Order::Random {
            let rest = indices.len() - position;
            indices.swap(position, position + choose(rest));
        }
        let clause = indices[position];
        if let Tried::Committed = clauses.attempt(clause, None) {
            return Some(clause);
        }
    }
    None
}

/// Blocks the thread until a clause is committed or the deadline has passed.
fn block<C: Clauses + ?Sized>(
    clauses: &mut C,
    indices: &[usize],
    deadline: Deadline,
) -> Result<Winner, AltsError> {
    let parker = Parker::new();
    let request = Operation::alts(Notify::thread(&parker));
    let joining = Joining {
        clauses,
        indices,
        request: &request,
    };
    let over = join(joining.clauses, indices, &request);
    mem::forget(joining);
    if let Some(over) = over {
        return over.map(Winner::Clause);
    }
    let committed = wait(&parker, &request, deadline).map(|committed| committed.clause);
    Ok(finish(clauses, indices, &request, committed))
}

/// A request that joins its channels. If that panics, as the clone of a promise's value may, it leaves them.
struct Joining<'j, C: Clauses + ?Sized> {
    clauses: &'j mut C,
    indices: &'j [usize],
    request: &'j Operation,
}

impl<C: Clauses + ?Sized> Drop for Joining<'_, C> {
    fn drop(&mut self) {
        self.request.end();
        leave(self.clauses, self.indices, self.request);
    }
}

/// Makes the request wait in the channels of all clauses. If a clause commits on the way, or is refused, the request
/// leaves all channels, and that is the answer.
fn join<C: Clauses + ?Sized>(
    clauses: &mut C,
    indices: &[usize],
    request: &Arc<Operation>,
) -> Option<Result<usize, AltsError>> {
    for (joined, &clause) in indices.iter().enumerate() {
        match clauses.attempt(clause, Some(request)) {
            Tried::NotAble => {}
            Tried::Committed => {
                leave(clauses, &indices[..joined], request);
                return Some(Ok(clause));
            }
            Tried::TooManyWaiters if request.end() => {
                leave(clauses, &indices[..joined], request);
                return Some(Err(AltsError::TooManyWaiters { clause }));
            }
            Tried::TooManyWaiters | Tried::Lost => break,
        }
    }
    None
}

/// Leaves the channels that the request had joined, once it is over.
fn leave<C: Clauses + ?Sized>(clauses: &mut C, joined: &[usize], request: &Operation) {
    for &clause in joined {
        clauses.leave(clause, request);
    }
}

/// Ends an alts that waited, with the clause that another thread committed, or with none.
fn finish<C: Clauses + ?Sized>(
    clauses: &mut C,
    indices: &[usize],
    request: &Operation,
    committed: Option<usize>,
) -> Winner {
    leave(clauses, indices, request);
    match committed {
        Some(clause) => {
            clauses.receive(clause);
            Winner::Clause(clause)
        }
        None => Winner::TimedOut,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Two clauses that are not able. The second one panics when it joins.
    #[derive(Default)]
    struct Two {
        left: Vec<usize>,
        ended: bool,
    }

    impl Clauses for Two {
        fn count(&self) -> usize {
            2
        }

        fn missing_value(&self) -> Option<usize> {
            None
        }

        fn attempt(&mut self, clause: usize, request: Option<&Arc<Operation>>) -> Tried {
            assert!(clause == 0 || request.is_none(), "no copy today");
            Tried::NotAble
        }

        fn leave(&mut self, clause: usize, request: &Operation) {
            self.left.push(clause);
            self.ended = !request.is_waiting();
        }

        fn receive(&mut self, _clause: usize) {}
    }

    #[test]
    fn an_alts_that_panics_as_it_joins_leaves_its_channels() {
        let mut two = Two::default();
        let ran = catch_unwind(AssertUnwindSafe(|| {
            run(&mut two, &mut [0, 1], Order::Priority, Patience::Forever)
        }));
        assert!(ran.is_err(), "the second clause panics");
        assert_eq!((two.left, two.ended), (vec![0, 1], true));
    }
}
