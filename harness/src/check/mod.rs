//! Judging what implementations did, in tiers.
//!
//! Tier one, the [`Ledger`], needs no order of events at all. Values are unique [`Token`]s that count their
//! drops; callers write down what they asked and were answered, each thread for itself, and the books are
//! compared once everything has stopped. Tier three, [`dual`], holds small histories against the whole
//! specification.

pub mod dual;
mod ledger;
mod token;

pub use ledger::{Ledger, Violation};
pub use token::{Mint, Token};
