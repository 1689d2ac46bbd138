//! Lies about an alts of several message types, awaited or not: which clause won, and what its slot holds.

use std::future::Future;

use flowmeter_harness::channel::{
    AltsError, AwaitAlts, Message, MixedAlts, Order, Patience, Winner,
};

use super::super::deadlines::other;
use super::super::future::awaited;
use super::super::told;
use super::super::values::another;
use super::{Lying, Rx, Tx};

impl<C: MixedAlts> MixedAlts for Lying<C> {
    type TakeClause<'a, T: Message> = C::TakeClause<'a, T>;
    type PutClause<'a, T: Message> = C::PutClause<'a, T>;
    type AnyClause<'c> = C::AnyClause<'c>;

    fn take_clause<T: Message>(rx: &Rx<C, T>) -> C::TakeClause<'_, T> {
        C::take_clause(rx.real())
    }
    fn put_clause<T: Message>(tx: &Tx<C, T>, slot: Option<T>) -> C::PutClause<'_, T> {
        C::put_clause(tx.real(), slot)
    }
    fn any_take<'c, T: Message>(clause: &'c mut C::TakeClause<'_, T>) -> C::AnyClause<'c> {
        C::any_take(clause)
    }
    fn any_put<'c, T: Message>(clause: &'c mut C::PutClause<'_, T>) -> C::AnyClause<'c> {
        C::any_put(clause)
    }

    fn taken<T: Message>(clause: &mut C::TakeClause<'_, T>) -> Option<T> {
        let taken = C::taken(clause);
        if told("what a clause took is lost") {
            return None;
        }
        if told("a clause took another value") {
            return taken.map(|value| another(&value).unwrap_or(value));
        }
        taken
    }

    fn slot<'c, T: Message>(clause: &'c mut C::PutClause<'_, T>) -> &'c mut Option<T> {
        let slot = C::slot(clause);
        if told("a loser's slot is empty") {
            *slot = None;
        }
        slot
    }

    fn run_mixed(
        clauses: &mut [C::AnyClause<'_>],
        order: Order,
        patience: Patience,
    ) -> Result<Winner, AltsError> {
        let count = clauses.len();
        if let Some(answer) = unrun(count) {
            return answer;
        }
        let patience = match patience {
            Patience::Until(deadline) => Patience::Until(other(deadline)),
            patience => patience,
        };
        answered(count, C::run_mixed(clauses, reordered(order), patience))
    }
}

impl<C: AwaitAlts> AwaitAlts for Lying<C> {
    fn run_async(
        clauses: &mut [C::AnyClause<'_>],
        order: Order,
        until: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = Result<Winner, AltsError>> + Send {
        let count = clauses.len();
        async move {
            if let Some(answer) = unrun(count) {
                return answer;
            }
            let run = C::run_async(clauses, reordered(order), until);
            answered(count, awaited(run).await)
        }
    }
}

fn reordered(order: Order) -> Order {
    match order {
        Order::Priority if told("a mixed alts draws its order") => Order::Random,
        Order::Random if told("a mixed alts takes its first") => Order::Priority,
        order => order,
    }
}

fn unrun(count: usize) -> Option<Result<Winner, AltsError>> {
    if told("a mixed alts times out and is not run") {
        return Some(Ok(Winner::TimedOut));
    }
    if told("a mixed alts takes its default and is not run") {
        return Some(Ok(Winner::Default));
    }
    (count > 0 && told("a mixed alts is won and not run")).then_some(Ok(Winner::Clause(0)))
}

fn answered(count: usize, answer: Result<Winner, AltsError>) -> Result<Winner, AltsError> {
    match answer {
        Ok(Winner::Clause(clause)) if told("another clause is said to have won") => {
            Ok(Winner::Clause((clause + 1) % count))
        }
        Ok(Winner::Default) if told("a mixed default is called a timeout") => Ok(Winner::TimedOut),
        Ok(Winner::TimedOut) if told("a mixed timeout is called a default") => Ok(Winner::Default),
        Err(_) if told("a mixed alts that is refused is said to be over") => Ok(Winner::TimedOut),
        answer => answer,
    }
}
