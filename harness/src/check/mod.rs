//! Judging what implementations did, in tiers.
//!
//! Three tiers. The [`Ledger`] needs no order of events at all: values are unique [`Token`]s that count their
//! drops; callers write down what they asked and were answered, each thread for itself, and the books are
//! compared once everything has stopped. [`fifo`] looks at when things were asked and answered, one channel at a
//! time. [`dual`] holds small histories against the whole specification. Beside them [`outcomes`] enumerates what a
//! tiny program may be answered at all. [`watch`] knows which check of them all has spoken.

pub mod dual;
pub mod fifo;
mod ledger;
pub mod outcomes;
mod token;
pub mod watch;

pub use crate::spec::Violation;
pub use ledger::Ledger;
pub use token::{Mint, Token};
