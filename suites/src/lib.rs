//! What the contestants go through.
