//! The loom world.
