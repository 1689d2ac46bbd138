//! Implementations that are broken on purpose, and what properties should find in them.

use super::Registry;

/// An implementation broken on purpose, or an equivalent rewrite of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its name as an implementation.
    pub name: &'static str,
    /// Name of the implementation that it is derived from.
    pub base: &'static str,
    /// The kind of fault.
    pub family: &'static str,
    /// The real-world mistake that it models.
    pub models: &'static str,
    /// The properties that find it, each in some world.
    pub killed_by: &'static [&'static str],
    /// Whether it is different but correct, so that no property may fail.
    pub equivalent: bool,
    /// Whether a single thread can observe the fault.
    pub sequential: bool,
}

/// A registry of mutants.
pub trait MutantRegistry: Registry {
    /// All mutants; each is registered under its name.
    fn mutants(self) -> &'static [Mutant];
}
