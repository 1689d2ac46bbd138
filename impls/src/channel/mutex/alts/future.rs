//! An alts that a task awaits. Dropping it while it is pending leaves every channel. If a take was already handed a
//! value, the value goes back to its channel (C9).

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use flowmeter_harness::channel::{AltsError, Order, Winner};

use crate::sync::Arc;

use super::super::operation::{Notify, Operation};
use super::mixed::AnyClause;
use super::{finish, join, leave, try_all, validate};

/// Commits exactly one clause, or none when `until` is ready first.
pub(in super::super) async fn run(
    clauses: &mut [AnyClause<'_>],
    order: Order,
    until: impl Future<Output = ()> + Send,
) -> Result<Winner, AltsError> {
    // Without clauses it may wait for ever, because `until` may never be ready.
    validate(&*clauses, true)?;
    let mut until = pin!(until);
    let mut pending = Pending {
        indices: (0..clauses.len()).collect(),
        clauses,
        order,
        request: None,
    };
    poll_fn(|context| pending.poll(context, until.as_mut())).await
}

/// An alts that has not committed yet.
struct Pending<'r, 'c> {
    clauses: &'r mut [AnyClause<'c>],
    /// Indices of the clauses in the order of trying.
    indices: Vec<usize>,
    order: Order,
    /// Present while the alts waits in its channels.
    request: Option<Arc<Operation>>,
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
        let committed = match request.committed_or_wake(context.waker()) {
            Some(committed) => Some(committed),
            None if until.poll(context).is_pending() => return Poll::Pending,
            None if request.end() => None,
            // Another thread has committed a clause since the look.
            None => request.committed(),
        };
        let winner = finish(
            self.clauses,
            &self.indices,
            request,
            committed.map(|committed| committed.clause),
        );
        self.request = None;
        Poll::Ready(Ok(winner))
    }

    fn begin(
        &mut self,
        context: &mut Context<'_>,
        until: Pin<&mut impl Future<Output = ()>>,
    ) -> Poll<Result<Winner, AltsError>> {
        if let Some(clause) = try_all(self.clauses, &mut self.indices, self.order) {
            return Poll::Ready(Ok(Winner::Clause(clause)));
        }
        if until.poll(context).is_ready() {
            return Poll::Ready(Ok(Winner::TimedOut));
        }
        let request = Operation::alts(Notify::Task(context.waker().clone()));
        // Stored before it joins. If joining panics, dropping this leaves the channels.
        self.request = Some(Arc::clone(&request));
        match join(self.clauses, &self.indices, &request) {
            None => Poll::Pending,
            Some(over) => {
                self.request = None;
                Poll::Ready(over.map(Winner::Clause))
            }
        }
    }
}

impl Drop for Pending<'_, '_> {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else {
            return;
        };
        let committed = if request.end() {
            None
        } else {
            request.committed()
        };
        leave(self.clauses, &self.indices, &request);
        if let Some(committed) = committed {
            self.clauses[committed.clause].give_back();
        }
    }
}
