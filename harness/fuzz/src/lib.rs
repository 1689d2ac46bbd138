//! Histories made from arbitrary bytes. Where a judge promises to accept any input, histories are unrestricted.
//! Elsewhere they are plausible, so that few inputs are rejected before they are judged.

mod channel;
mod whole;

pub use channel::{Kind, Passing};
pub use whole::Happening;
