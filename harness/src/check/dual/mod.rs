//! Tier three: exact judgement of whole histories against the [specification](crate::spec), of up to about 40
//! operations including alts.
//!
//! [`judge`] searches for an order of steps that explains every answer. If there is none, the history is illegal, and a
//! [`Counterexample`] names the first answer that no order explains. If the budget ends first, the result is
//! [`Verdict::Inconclusive`], which is not a pass.

mod explain;
pub mod generate;
mod precedence;
mod search;
mod show;
#[cfg(test)]
mod tests;

use super::Violation;
use crate::channel::Order;
use crate::history::{Answer, Call, History};
use crate::spec::{Rules, Step};
use search::{Found, Search};

/// The result of judging a history.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Some order of steps explains every answer.
    Legal,
    /// No order of steps does.
    Illegal(Box<Counterexample>),
    /// Undecided, for this reason.
    Inconclusive(String),
}

/// An illegal history.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The history.
    pub history: History,
    /// The violation. An answer can be wrong in more than one way; the id is the most likely one.
    pub violation: Violation,
    /// The operation with the first unexplained answer, by the order of returns. `None` if every answer is explained,
    /// but not that the pending operations wait forever.
    pub culprit: Option<usize>,
    /// The steps that explain everything before that answer.
    pub prefix: Vec<Step>,
}

/// Judges a history under these rules, visiting at most `budget` states (some millions per minute).
pub fn judge(history: &History, rules: Rules, budget: u64) -> Verdict {
    match decide(history, rules, budget) {
        Err(why) => Verdict::Inconclusive(why),
        Ok(true) => Verdict::Legal,
        Ok(false) => Verdict::Illegal(Box::new(counterexample(history, rules, budget))),
    }
}

/// Whether a history is legal, without the search for the first unexplained answer. Faster than [`judge`].
///
/// # Errors
/// The reason, when it is undecided.
pub fn decide(history: &History, rules: Rules, budget: u64) -> Result<bool, String> {
    let clauses = history.operations.iter().map(|o| o.call.clauses().len());
    if history.operations.len() > 64 || clauses.max().unwrap_or(0) > 64 {
        return Err("it has more than 64 operations, or clauses of one".into());
    }
    if let Some(fault) = history.fault() {
        return Err(fault);
    }
    match Search::new(history, rules, budget).run() {
        Found::Explained => Ok(true),
        Found::Exhausted => Err(format!("{budget} states did not suffice")),
        Found::Nothing => Ok(false),
    }
}

/// Finds the first return with which the history stops being legal, by bisection: prefixes of legal histories are
/// legal. A prefix on which the budget ends counts as legal.
fn counterexample(history: &History, rules: Rules, budget: u64) -> Counterexample {
    let mut returns: Vec<(u64, usize)> = (history.operations.iter().enumerate())
        .filter(|(_, o)| o.answer != Answer::Pending)
        .map(|(op, o)| (o.returned, op))
        .collect();
    returns.sort_unstable();
    let prefix = |length: usize| -> (bool, Vec<Step>, Vec<usize>) {
        let stamp = returns[..length].last().map_or(0, |(stamp, _)| *stamp);
        let cut = until(history, stamp);
        let mut search = Search::new(&cut, rules, budget);
        let legal = search.run() != Found::Nothing;
        let kept = (0..history.operations.len())
            .filter(|&op| history.operations[op].invoked <= stamp)
            .collect();
        (legal, search.longest().to_vec(), kept)
    };
    // Legal at `low`, illegal at `high`.
    let (mut low, mut high) = (0, returns.len() + 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if prefix(middle).0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let culprit = returns.get(low).map(|(_, op)| *op);
    let (_, steps, kept) = prefix(low);
    let without_priority = || {
        let mut history = history.clone();
        if let Some(Call::Alts { order, .. }) = culprit.map(|op| &mut history.operations[op].call) {
            *order = Order::Random;
        }
        let stamp = culprit.map_or(u64::MAX, |op| history.operations[op].returned);
        Search::new(&until(&history, stamp), rules, budget).run() == Found::Explained
    };
    Counterexample {
        violation: explain::explain(history, culprit, without_priority),
        history: history.clone(),
        culprit,
        prefix: steps.into_iter().map(|step| renamed(step, &kept)).collect(),
    }
}

/// What was known at that stamp, and the operations that will be cancelled. These may hold a value or room, which other
/// operations have seen.
fn until(history: &History, stamp: u64) -> History {
    let mut cut = history.until(stamp);
    let known = history.operations.iter().filter(|o| o.invoked <= stamp);
    for (operation, whole) in cut.operations.iter_mut().zip(known) {
        if whole.answer == Answer::Cancelled {
            operation.answer = Answer::Cancelled;
        }
    }
    cut
}

/// The step with the operations' indices in the whole history.
fn renamed(step: Step, kept: &[usize]) -> Step {
    let port = |(op, clause): (usize, usize)| (kept[op], clause);
    match step {
        Step::Request(p) => Step::Request(port(p)),
        Step::Look(p) => Step::Look(port(p)),
        Step::Store(p) => Step::Store(port(p)),
        Step::Reserve(p) => Step::Reserve(port(p)),
        Step::Receive(p) => Step::Receive(port(p)),
        Step::Meet { put, take } => Step::Meet {
            put: port(put),
            take: port(take),
        },
        Step::Refuse(p) => Step::Refuse(port(p)),
        Step::End(p) => Step::End(port(p)),
        Step::GiveUp(op) => Step::GiveUp(kept[op]),
        Step::Cancel(op) => Step::Cancel(kept[op]),
        Step::Close(op) => Step::Close(kept[op]),
    }
}
