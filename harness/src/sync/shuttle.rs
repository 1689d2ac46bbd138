//! The shuttle world.
