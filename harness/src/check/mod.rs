//! Judging what implementations did.
//!
//! The first of three tiers lives here: the [`Ledger`], which needs no order of events at all. Values are
//! unique [`Token`]s that count their drops; callers write down what they asked and were answered, each
//! thread for itself, and the books are compared once everything has stopped.

mod ledger;
mod token;

pub use ledger::{Ledger, Violation};
pub use token::{Mint, Token};
