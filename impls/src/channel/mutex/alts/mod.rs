//! Alts: one request that waits in several channels.
//!
//! First every clause is tried in order, visible to nobody; if none is able the request joins the
//! channels one by one, trying each again under its lock, for something may have come in between.
//! From the first joining on another thread may commit a clause, so every further attempt is a claim.
//!
//! The steps are the same whether clauses are of one message type (`prepared`) or of several (`mixed`), and whether
//! a thread waits or a task (`future`).

mod future;
mod mixed;
mod port;
mod prepared;

use flowmeter_harness::channel::{AltsError, Order, Patience, Winner};
use flowmeter_harness::sync::Deadline;

use crate::sync::{Arc, Parker, choose, clock};

use super::operation::{Notify, Operation};
use super::wait;

pub(super) use future::run as run_async;
pub(super) use mixed::run_mixed;
pub use mixed::{AnyClause, PutClause, TakeClause};
pub use prepared::Prepared;

/// The clauses of one alts. They keep their own values, and what comes of them.
trait Clauses {
    fn count(&self) -> usize;

    /// The first put that has no value.
    fn missing_value(&self) -> Option<usize>;

    /// Tries one clause; where it is not able, `request` joins its channel.
    fn attempt(&mut self, clause: usize, request: Option<&Arc<Operation>>) -> Tried;

    /// Leaves the channel of that clause, if the request is still there; a losing put has its value back.
    fn leave(&mut self, clause: usize, request: &Operation);

    /// Fetches what another thread's commit of that clause has brought.
    fn receive(&mut self, clause: usize);
}

/// What trying one clause came to.
enum Tried {
    Committed,
    NotAble,
    /// Another thread has committed another clause.
    Lost,
    TooManyWaiters,
}

/// Commits exactly one clause, or none when patience ends first. `indices` are those of all clauses.
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

/// Tries every clause without waiting, and says which one has committed.
fn try_all<C: Clauses + ?Sized>(
    clauses: &mut C,
    indices: &mut [usize],
    order: Order,
) -> Option<usize> {
    for position in 0..indices.len() {
        // One step of a shuffle, made only if it is needed: the first able clause of a random
        // order is uniform over whichever clauses are able (A5).
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

/// Holds up the thread until a clause is committed or the deadline has passed.
fn block<C: Clauses + ?Sized>(
    clauses: &mut C,
    indices: &[usize],
    deadline: Deadline,
) -> Result<Winner, AltsError> {
    let parker = Parker::new();
    let request = Operation::alts(Notify::Thread(parker.unparker()));
    if let Some(over) = join(clauses, indices, &request) {
        return over.map(Winner::Clause);
    }
    let committed = wait(&parker, &request, deadline).map(|committed| committed.clause);
    Ok(finish(clauses, indices, &request, committed))
}

/// Has the request wait in the channels of all clauses. Where one commits meanwhile, or is refused, it waits nowhere
/// afterwards, and the answer is that.
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

/// Ends an alts that waited: with the clause that another thread committed, or with none.
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
