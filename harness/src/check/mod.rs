//! Judging what implementations did.
//!
//! Two of three tiers live here. The [`Ledger`] needs no order of events at all: values are unique
//! [`Token`]s that count their drops; callers write down what they asked and were answered, each thread
//! for itself, and the books are compared once everything has stopped. [`fifo`] looks at when things were
//! asked and answered, one channel at a time.

pub mod fifo;
mod ledger;
mod token;

pub use ledger::{Ledger, Violation};
pub use token::{Mint, Token};
