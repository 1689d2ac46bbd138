//! Faults injected into an alts of several message types, awaited or not: the winner, and the contents of its slot.

use flowmeter_harness::channel::{Order, Patience, Winner};

use super::super::deadlines::other;
use super::super::future::awaited;
use super::super::told;
use super::super::values::another;
use super::alts::real;
use super::{HAD, Lying};
use crate::design::Parcel;
use crate::design::channels::operations::{Mixes, Mixture, Pending, Port, Slots, Won};

impl Mixes for Lying {
    fn clauses<'a>(&self, ports: &[Port<'a>], slots: &mut Slots) -> Box<dyn Mixture + 'a> {
        let table = self.0.awaits_mixes.or(self.0.mixes).expect(HAD);
        let puts = ports.iter().map(|port| matches!(port, Port::Put(_)));
        Box::new(Clauses {
            puts: puts.collect(),
            real: table.clauses(&real(ports), slots),
        })
    }
}

/// Clauses that may have faults.
struct Clauses<'a> {
    /// Which of them put.
    puts: Vec<bool>,
    real: Box<dyn Mixture + 'a>,
}

impl Mixture for Clauses<'_> {
    fn run(&mut self, order: Order, patience: Patience) -> Won {
        let count = self.puts.len();
        if let Some(answer) = unrun(count) {
            return answer;
        }
        let patience = match patience {
            Patience::Until(deadline) => Patience::Until(other(deadline)),
            patience => patience,
        };
        answered(count, self.real.run(reordered(order), patience))
    }

    fn run_async<'c>(&'c mut self, order: Order, until: Pending<'c, ()>) -> Pending<'c, Won> {
        let count = self.puts.len();
        Box::pin(async move {
            if let Some(answer) = unrun(count) {
                return answer;
            }
            let run = self.real.run_async(reordered(order), until);
            answered(count, awaited(run).await)
        })
    }

    fn taken(&mut self, clause: usize) -> Option<Option<Parcel>> {
        let taken = self.real.taken(clause)?;
        if told("what a clause took is lost") {
            return Some(None);
        }
        if told("a clause took another value") {
            return Some(taken.map(another));
        }
        Some(taken)
    }

    fn left(&mut self, clause: usize) -> Option<Parcel> {
        let left = self.real.left(clause);
        let lost = self.puts[clause] && told("a loser's slot is empty");
        left.filter(|_| !lost)
    }
}

fn reordered(order: Order) -> Order {
    match order {
        Order::Priority if told("a mixed alts draws its order") => Order::Random,
        Order::Random if told("a mixed alts takes its first") => Order::Priority,
        order => order,
    }
}

fn unrun(count: usize) -> Option<Won> {
    if told("a mixed alts times out and is not run") {
        return Some(Ok(Winner::TimedOut));
    }
    if told("a mixed alts takes its default and is not run") {
        return Some(Ok(Winner::Default));
    }
    (count > 0 && told("a mixed alts is won and not run")).then_some(Ok(Winner::Clause(0)))
}

fn answered(count: usize, answer: Won) -> Won {
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
