//! Tier one: every value is taken exactly once, neither lost nor duplicated. Linear in the number of operations.

use super::{Mint, watch};
use crate::spec::Violation;

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    offered: u32,
    /// Puts answered `true`.
    accepted: u32,
    /// Puts that gave the value back, or swallowed it with an error.
    refused: u32,
    /// Takes that answered this value.
    taken: u32,
}

/// The calls and answers of each token.
#[derive(Clone, Debug)]
pub struct Ledger {
    accounts: Vec<Account>,
}

impl Ledger {
    /// An empty ledger for `count` tokens.
    pub fn new(count: usize) -> Ledger {
        Ledger {
            accounts: vec![Account::default(); count],
        }
    }

    /// A put of that token was called.
    pub fn offered(&mut self, id: usize) {
        self.accounts[id].offered += 1;
    }

    /// A put of that token was answered `true`.
    pub fn accepted(&mut self, id: usize) {
        self.offered(id);
        self.accounts[id].accepted += 1;
    }

    /// A put of that token was answered `false`, timed out, or lost an alts.
    pub fn refused(&mut self, id: usize) {
        self.offered(id);
        self.accounts[id].refused += 1;
    }

    /// A take answered that token.
    pub fn taken(&mut self, id: usize) {
        self.accounts[id].taken += 1;
    }

    /// Adds the ledger of another thread.
    pub fn merge(&mut self, other: &Ledger) {
        for (mine, theirs) in self.accounts.iter_mut().zip(&other.accounts) {
            mine.offered += theirs.offered;
            mine.accepted += theirs.accepted;
            mine.refused += theirs.refused;
            mine.taken += theirs.taken;
        }
    }

    /// How many takes answered a value.
    pub fn takes(&self) -> u64 {
        self.accounts.iter().map(|a| u64::from(a.taken)).sum()
    }

    /// How many puts were answered `true`.
    pub fn accepted_puts(&self) -> u64 {
        self.accounts.iter().map(|a| u64::from(a.accepted)).sum()
    }

    /// Checks a channel that keeps everything, after it was drained.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn judge_drained(&self) -> Result<(), Violation> {
        self.judge_takes()?;
        for (id, account) in self.accounts.iter().enumerate() {
            if account.accepted > account.taken && breaks("lost") {
                let text =
                    format!("the put of token {id} was answered true, and no take ever had it");
                return Err(Violation { id: "C1", text });
            }
        }
        Ok(())
    }

    /// Checks the rules that hold for every buffer except a promise, drained or not.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn judge_takes(&self) -> Result<(), Violation> {
        for (id, account) in self.accounts.iter().enumerate() {
            let broken = if account.taken > 0 && account.offered == 0 && breaks("never-put") {
                Some((
                    "C2",
                    format!("a take answered token {id}, which was never put"),
                ))
            } else if account.taken > 1 && breaks("taken-twice") {
                Some((
                    "C2",
                    format!("token {id} was taken {} times", account.taken),
                ))
            } else if account.taken > 0 && account.refused > 0 && breaks("given-back-and-taken") {
                Some((
                    "A1",
                    format!("token {id} was given back to its sender, and taken as well"),
                ))
            } else {
                None
            };
            if let Some((id, text)) = broken {
                return Err(Violation { id, text });
            }
        }
        Ok(())
    }

    /// Checks that every token was dropped exactly once. Call it when all handles and values are gone.
    ///
    /// # Errors
    /// The first token that was not.
    pub fn judge_drops(&self, mint: &Mint) -> Result<(), Violation> {
        for (id, account) in self.accounts.iter().enumerate() {
            let drops = mint.drops(id);
            let rule = if drops == 0 {
                "leaked"
            } else {
                "dropped-twice"
            };
            if account.offered > 0 && drops != 1 && breaks(rule) {
                let text = format!("token {id} was dropped {drops} times instead of once");
                return Err(Violation { id: "C10", text });
            }
        }
        Ok(())
    }

    /// Checks a channel that keeps everything, after it was drained and all handles and values are gone.
    ///
    /// # Panics
    /// With the first broken rule, and with `around` as its context.
    #[track_caller]
    pub fn close(&self, mint: &Mint, around: &str) {
        Ledger::conclude([self.judge_drained(), self.judge_drops(mint)], around);
    }

    /// As [`Ledger::close`], where values may be dropped without being taken.
    ///
    /// # Panics
    /// As [`Ledger::close`].
    #[track_caller]
    pub fn close_lossy(&self, mint: &Mint, around: &str) {
        Ledger::conclude([self.judge_takes(), self.judge_drops(mint)], around);
    }

    /// As [`Ledger::close`] of a channel that `keeps` everything, and else as [`Ledger::close_lossy`].
    ///
    /// # Panics
    /// As [`Ledger::close`].
    #[track_caller]
    pub fn close_keeping(&self, keeps: bool, mint: &Mint, around: &str) {
        match keeps {
            true => self.close(mint, around),
            false => self.close_lossy(mint, around),
        }
    }

    #[track_caller]
    fn conclude(judged: [Result<(), Violation>; 2], around: &str) {
        if let Some(violation) = judged.into_iter().find_map(Result::err) {
            watch::found(format_args!("{violation}, {around}"));
        }
    }
}

/// Reports that the rule is broken; returns whether it is switched on.
fn breaks(rule: &str) -> bool {
    watch::speaks(format!("ledger: {rule}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(result: Result<(), Violation>) -> Option<&'static str> {
        result.err().map(|violation| violation.id)
    }

    #[test]
    fn a_put_and_its_take_balance() {
        let mut ledger = Ledger::new(1);
        ledger.accepted(0);
        ledger.taken(0);
        assert_eq!(ids(ledger.judge_drained()), None);
    }

    #[test]
    fn a_value_that_vanished_is_c1() {
        let mut ledger = Ledger::new(1);
        ledger.accepted(0);
        assert_eq!(ids(ledger.judge_takes()), None);
        assert_eq!(ids(ledger.judge_drained()), Some("C1"));
    }

    #[test]
    fn a_value_taken_twice_or_from_nowhere_is_c2() {
        let mut ledger = Ledger::new(2);
        ledger.taken(1);
        assert_eq!(ids(ledger.judge_takes()), Some("C2"));
        let mut ledger = Ledger::new(1);
        ledger.accepted(0);
        ledger.taken(0);
        ledger.taken(0);
        assert_eq!(ids(ledger.judge_takes()), Some("C2"));
    }

    #[test]
    fn a_value_given_back_and_taken_is_a1() {
        let mut ledger = Ledger::new(1);
        ledger.refused(0);
        ledger.taken(0);
        assert_eq!(ids(ledger.judge_takes()), Some("A1"));
    }

    #[test]
    fn drops_are_counted_one_by_one() {
        let mint = Mint::new(2);
        let mut ledger = Ledger::new(2);
        ledger.accepted(0);
        assert_eq!(ids(ledger.judge_drops(&mint)), Some("C10"));
        drop(mint.token(0));
        assert_eq!(ids(ledger.judge_drops(&mint)), None);
        drop(mint.token(0));
        assert_eq!(ids(ledger.judge_drops(&mint)), Some("C10"));
    }

    const WRITE: [fn(&mut Ledger, usize); 4] = [
        Ledger::offered,
        Ledger::accepted,
        Ledger::refused,
        Ledger::taken,
    ];

    proptest! {
        #[test]
        fn any_books_are_judged_and_merge_into_one(
            entries in prop::collection::vec((0..WRITE.len(), 0..6_usize, any::<bool>()), 0..40),
        ) {
            let mint = Mint::new(6);
            let mut whole = Ledger::new(mint.count());
            let mut halves = [whole.clone(), whole.clone()];
            for (write, id, half) in entries {
                WRITE[write](&mut whole, id);
                WRITE[write](&mut halves[usize::from(half)], id);
            }
            let [mut merged, other] = halves;
            merged.merge(&other);
            prop_assert_eq!(merged.judge_drained(), whole.judge_drained());
            prop_assert_eq!(merged.judge_takes(), whole.judge_takes());
            prop_assert_eq!(merged.judge_drops(&mint), whole.judge_drops(&mint));
            prop_assert_eq!(merged.takes(), whole.takes());
            prop_assert_eq!(merged.accepted_puts(), whole.accepted_puts());
        }
    }
}
