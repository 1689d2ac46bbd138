//! An alts that a task awaits. Dropping it while it is pending leaves every channel. If a take was already handed a
//! value, the value goes back to its channel (C9).

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use flowmeter_harness::channel::{AltsError, Order, Winner};

use crate::sync::{Arc, contain};

use super::super::line::Request;
use super::super::waiter::{Notify, Waiter};
use super::mixed::{AnyClause, Mixed};
use super::{
    Clauses, Glance, committed, finish, glance_all, join_all, leave_all, try_all, try_from,
    validate,
};

/// Commits exactly one clause, or none when `until` is ready first.
pub(in crate::channel) async fn run(
    clauses: &mut [AnyClause<'_>],
    order: Order,
    until: impl Future<Output = ()> + Send,
) -> Result<Winner, AltsError> {
    let mut until = pin!(until);
    let mut pending = Pending {
        indices: (0..clauses.len()).collect(),
        clauses: Mixed::new(clauses),
        order,
        request: None,
    };
    // Without clauses it may wait for ever, because `until` may never be ready.
    validate(&pending.clauses, true)?;
    poll_fn(|context| pending.poll(context, until.as_mut())).await
}

/// An alts that has not committed yet.
struct Pending<'r, 'c> {
    clauses: Mixed<'r, 'c>,
    /// Indices of the clauses in the order of trying.
    indices: Vec<usize>,
    order: Order,
    /// Present while the alts waits in its channels.
    request: Option<Arc<Request>>,
}

impl Pending<'_, '_> {
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        until: Pin<&mut impl Future<Output = ()>>,
    ) -> Poll<Result<Winner, AltsError>> {
        let Some(request) = &self.request else {
            return self.begin(context, until);
        };
        let won = request.fetch_or_wake(context.waker());
        if won.is_none() && until.poll(context).is_pending() {
            return Poll::Pending;
        }
        let winner = finish(&mut self.clauses, request, won);
        self.request = None;
        Poll::Ready(Ok(winner))
    }

    fn begin(
        &mut self,
        context: &mut Context<'_>,
        until: Pin<&mut impl Future<Output = ()>>,
    ) -> Poll<Result<Winner, AltsError>> {
        let clauses = &mut self.clauses;
        let drawn = match glance_all(clauses, &mut self.indices, self.order, false) {
            Glance::Committed(clause) => return Poll::Ready(Ok(Winner::Clause(clause))),
            Glance::Unable => 0,
            Glance::Ask { drawn } => drawn,
        };
        let mut held = clauses.lock();
        if let Some(clause) = try_from(drawn, clauses, &mut held, &mut self.indices, self.order) {
            return Poll::Ready(Ok(committed(clauses, held, clause)));
        }
        // Polling and cloning run code of the executor, so the locks are released first and all clauses are tried again
        // afterwards.
        clauses.unlock(held);
        if until.poll(context).is_ready() {
            return Poll::Ready(Ok(Winner::TimedOut));
        }
        let request = Waiter::new(Notify::Task(context.waker().clone()));
        let mut held = clauses.lock();
        // It has a waker. If the drop of that panics, the alts has its result all the same.
        let drop_unused = |request| contain(|| drop(request));
        if let Some(clause) = try_all(clauses, &mut held, &mut self.indices, self.order) {
            let winner = committed(clauses, held, clause);
            drop_unused(request);
            return Poll::Ready(Ok(winner));
        }
        let joined = join_all(clauses, &mut held, &request);
        clauses.unlock(held);
        if let Err(refused) = joined {
            drop_unused(request);
            return Poll::Ready(Err(refused));
        }
        self.request = Some(request);
        Poll::Pending
    }
}

impl Drop for Pending<'_, '_> {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else {
            return;
        };
        let mut held = self.clauses.lock();
        leave_all(&mut self.clauses, &mut held, &request);
        let won = request.fetch();
        if let Some(clause) = won {
            self.clauses.give_back(&mut held, clause);
        }
        self.clauses.unlock(held);
        if let Some(clause) = won {
            self.clauses.settle(clause);
        }
    }
}
