//! Histories from arbitrary bytes. They are any at all, where the judges promise to take any, and plausible, so that
//! the bytes are not spent on what is turned away at the door.

mod channel;
mod whole;

pub use channel::{Kind, Passing};
pub use whole::Happening;
