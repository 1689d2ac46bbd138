//! Judges what implementations did, in three tiers.
//!
//! - The [`Ledger`] needs no order of events. Values are unique [`Token`]s that count their drops. Each thread records
//!   its own calls and answers, and the ledgers are compared once all threads have stopped.
//! - [`fifo`] uses the times of calls and answers, one channel at a time.
//! - [`dual`] judges small histories against the whole specification.
//!
//! In addition [`outcomes`] enumerates the possible answers of a tiny program, and [`watch`] records which check has
//! failed.

pub mod dual;
pub mod fifo;
mod ledger;
pub mod outcomes;
mod token;
pub mod watch;

pub use crate::spec::Violation;
pub use ledger::Ledger;
pub use token::{Mint, Token};
