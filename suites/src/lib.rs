//! What the contestants go through.

pub mod isolation;
