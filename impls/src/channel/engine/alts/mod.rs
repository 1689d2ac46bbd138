//! Alts: clauses tried under the locks of all their channels, so that their states are seen at one moment.

mod future;
mod locking;
mod mixed;
mod port;
mod prepared;

use flowmeter_harness::channel::{AltsError, Order, Patience, Winner};
use flowmeter_harness::sync::Deadline;

use crate::channel::front::Quick;
use crate::sync::{Arc, Parker, choose, clock};

use super::line::Request;
use super::waiter::{Notify, Waiter, wait_for};

pub(in super::super) use future::run as run_async;
pub(in super::super) use mixed::run_mixed;
pub use mixed::{AnyClause, PutClause, TakeClause};
pub use prepared::Prepared;

/// The clauses of a run, with their values.
trait Clauses {
    /// The locks of all their channels, each once (A7). Dropping it releases them.
    type Held;

    fn count(&self) -> usize;

    /// The first put that has no value.
    fn missing_value(&self) -> Option<usize>;

    /// Locks the channels in the order of their keys.
    fn lock(&mut self) -> Self::Held;

    /// Releases the locks, and keeps the allocation for the next run.
    fn unlock(&mut self, held: Self::Held);

    /// Whether a clause may be able, by a look at the ends of its queue. The answer is not certain.
    fn seems_able(&self, clause: usize) -> bool;

    /// Tries a clause without any lock. "Unable" is certain only with `sure`.
    fn glance(&mut self, clause: usize, sure: bool) -> Quick<(), ()>;

    /// Commits a clause if it is able. What is left to be done outside the locks is kept for [`Clauses::settle`].
    fn attempt(&mut self, held: &mut Self::Held, clause: usize) -> bool;

    /// Does what the commit of that clause has left to be done. Call it outside every lock.
    fn settle(&mut self, clause: usize);

    /// Makes a clause wait; `false` if the limit of waiting requests is reached (C7).
    fn join(&mut self, held: &mut Self::Held, clause: usize, request: &Arc<Request>) -> bool;

    /// Removes a waiting clause. A losing put has its value back.
    fn leave(&mut self, held: &mut Self::Held, clause: usize, request: &Request);

    /// Fetches the answer that another thread's commit of that clause has left.
    fn receive(&mut self, clause: usize);
}

/// Commits exactly one clause, or none when patience ends first. `indices` are the indices of all clauses.
#[inline]
fn run<C: Clauses>(
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
    let is_answer = matches!(patience, Patience::Now);
    let drawn = match glance_all(clauses, indices, order, is_answer) {
        Glance::Committed(clause) => return Ok(Winner::Clause(clause)),
        Glance::Unable => match patience {
            Patience::Now => return Ok(Winner::Default),
            _ => 0,
        },
        Glance::Ask { drawn } => drawn,
    };
    run_locked(drawn, clauses, indices, order, patience)
}

/// The same under the locks. The first `drawn` clauses already have their places in the order. Not inlined, so that an
/// alts that needs no lock needs no stack for it.
#[inline(never)]
fn run_locked<C: Clauses>(
    drawn: usize,
    clauses: &mut C,
    indices: &mut [usize],
    order: Order,
    patience: Patience,
) -> Result<Winner, AltsError> {
    let mut held = clauses.lock();
    if let Some(clause) = try_from(drawn, clauses, &mut held, indices, order) {
        return Ok(committed(clauses, held, clause));
    }
    let deadline = match patience {
        Patience::Now => {
            clauses.unlock(held);
            return Ok(Winner::Default);
        }
        Patience::Until(deadline) if clock::has_passed(deadline) => {
            clauses.unlock(held);
            return Ok(Winner::TimedOut);
        }
        Patience::Until(deadline) => deadline,
        Patience::Forever => Deadline::NEVER,
    };
    let parker = Parker::new();
    let request = Waiter::new(Notify::thread(&parker));
    let joined = join_all(clauses, &mut held, &request);
    clauses.unlock(held);
    joined?;
    let won = wait_for(|| request.fetch(), &parker, deadline);
    Ok(finish(clauses, &request, won))
}

fn validate<C: Clauses>(clauses: &C, for_ever: bool) -> Result<(), AltsError> {
    if for_ever && clauses.count() == 0 {
        return Err(AltsError::NoClauses);
    }
    match clauses.missing_value() {
        Some(clause) => Err(AltsError::MissingValue { clause }),
        None => Ok(()),
    }
}

/// Tries every clause, and returns the one that has committed.
fn try_all<C: Clauses>(
    clauses: &mut C,
    held: &mut C::Held,
    indices: &mut [usize],
    order: Order,
) -> Option<usize> {
    try_from(0, clauses, held, indices, order)
}

/// [`try_all`], where the first `drawn` clauses already have their places in the order.
fn try_from<C: Clauses>(
    drawn: usize,
    clauses: &mut C,
    held: &mut C::Held,
    indices: &mut [usize],
    order: Order,
) -> Option<usize> {
    for position in 0..indices.len() {
        if position >= drawn {
            draw(indices, position, order);
        }
        let clause = indices[position];
        if clauses.attempt(held, clause) {
            return Some(clause);
        }
    }
    None
}

/// Decides which clause is tried at `position`.
#[inline]
fn draw(indices: &mut [usize], position: usize, order: Order) {
    // One step of a shuffle, made only if it is needed. The first able clause of a random order is uniform over the
    // able clauses (A5).
    let rest = indices.len() - position;
    if order == Order::Random && rest > 1 {
        indices.swap(position, position + choose(rest));
    }
}

/// Looking at up to this many clauses takes less time than drawing one.
const FEW: usize = 2;

/// The result of trying without locks.
enum Glance {
    /// This clause has committed.
    Committed(usize),
    /// Each clause seemed unable. If a certain answer was asked for, each was unable at some moment.
    Unable,
    /// The answer of the last drawn clause is only known under its lock. Those before it seemed unable. All drawn
    /// clauses keep their places, and drawing under the locks goes on after them. Drawing anew would favour ready
    /// clauses that need no lock (A5).
    Ask { drawn: usize },
}

/// Tries clauses without a lock, until one commits or the answer of one is only known under its lock. `is_answer`: "all
/// are unable" is an answer to the caller.
#[inline]
fn glance_all<C: Clauses>(
    clauses: &mut C,
    indices: &mut [usize],
    order: Order,
    is_answer: bool,
) -> Glance {
    // With priority, "the earlier clauses were unable" is part of the answer and has to be certain. Otherwise the
    // answer only says that the committed clause was able, and nothing about the others.
    let sure = is_answer || order == Order::Priority;
    let all = indices.len();
    if sure {
        return glance_at(all, clauses, indices, order, sure);
    }
    // If many clauses are ready, the first one drawn will most likely do. If few are, draw among those that seem able:
    // seeing that a clause is unable takes less than drawing and trying it.
    if all > FEW {
        match glance_at(1, clauses, indices, order, sure) {
            Glance::Unable => {}
            told => return told,
        }
    }
    for drawn in 0..all {
        let Some(clause) = promising(clauses, &indices[..drawn]) else {
            break;
        };
        match clauses.glance(clause, sure) {
            Quick::Done(()) => return Glance::Committed(clause),
            Quick::Unable(()) => move_to(drawn, clause, indices),
            Quick::Ask(()) => {
                move_to(drawn, clause, indices);
                return Glance::Ask { drawn: drawn + 1 };
            }
        }
    }
    Glance::Unable
}

/// Moves a clause to `place` in the order.
#[cold]
fn move_to(place: usize, clause: usize, indices: &mut [usize]) {
    let found = indices.iter().position(|other| *other == clause);
    indices.swap(place, found.expect("every clause has its place"));
}

/// Draws and tries `tries` clauses, until one commits or the answer of one is only known under its lock.
#[inline]
fn glance_at<C: Clauses>(
    tries: usize,
    clauses: &mut C,
    indices: &mut [usize],
    order: Order,
    sure: bool,
) -> Glance {
    for position in 0..tries {
        draw(indices, position, order);
        let clause = indices[position];
        match clauses.glance(clause, sure) {
            Quick::Done(()) => return Glance::Committed(clause),
            Quick::Unable(()) => {}
            Quick::Ask(()) => {
                return Glance::Ask {
                    drawn: position + 1,
                };
            }
        }
    }
    Glance::Unable
}

/// Draws one of the clauses that seem able and were not tried. Clauses are looked at in groups of 64, without a branch
/// for each. The processor could predict such branches only while the same clauses stay ready.
#[inline]
fn promising<C: Clauses>(clauses: &C, tried: &[usize]) -> Option<usize> {
    const TOGETHER: usize = u64::BITS as usize;
    let (mut drawn, mut seen) = (None, 0);
    for first in (0..clauses.count()).step_by(TOGETHER) {
        let together = first..clauses.count().min(first + TOGETHER);
        let mut able = 0_u64;
        for clause in together.clone() {
            able |= u64::from(clauses.seems_able(clause)) << (clause - first);
        }
        for clause in tried.iter().filter(|clause| together.contains(clause)) {
            able &= !(1 << (clause - first));
        }
        let here = able.count_ones() as usize;
        seen += here;
        // Reservoir sampling: the one drawn of all clauses seen so far lies in this group with probability here / seen.
        let place = if seen > 1 { choose(seen) } else { 0 };
        if place < here {
            for _ in 0..place {
                able &= able - 1;
            }
            drawn = Some(first + able.trailing_zeros() as usize);
        }
    }
    drawn
}

/// Ends an alts that has committed a clause without waiting.
fn committed<C: Clauses>(clauses: &mut C, held: C::Held, clause: usize) -> Winner {
    clauses.unlock(held);
    clauses.settle(clause);
    Winner::Clause(clause)
}

/// Makes all clauses wait, or none if one may not. They join in the order in which they are written, so of two on one
/// channel the earlier one is served (A5).
fn join_all<C: Clauses>(
    clauses: &mut C,
    held: &mut C::Held,
    request: &Arc<Request>,
) -> Result<(), AltsError> {
    for clause in 0..clauses.count() {
        if !clauses.join(held, clause, request) {
            leave_all(clauses, held, request);
            return Err(AltsError::TooManyWaiters { clause });
        }
    }
    Ok(())
}

fn leave_all<C: Clauses>(clauses: &mut C, held: &mut C::Held, request: &Request) {
    for clause in 0..clauses.count() {
        clauses.leave(held, clause, request);
    }
}

/// Ends an alts that waited. `won` is the clause that won, as far as the alts knows; if it is `None`, a clause may have
/// won meanwhile.
fn finish<C: Clauses>(clauses: &mut C, request: &Request, won: Option<usize>) -> Winner {
    let mut held = clauses.lock();
    // Under all these locks no other thread can win it any more.
    let won = won.or_else(|| request.fetch());
    leave_all(clauses, &mut held, request);
    if let Some(clause) = won {
        clauses.receive(clause);
    }
    clauses.unlock(held);
    won.map_or(Winner::TimedOut, Winner::Clause)
}
