//! Judging what implementations did.
