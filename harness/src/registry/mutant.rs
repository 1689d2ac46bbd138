//! Contestants that are broken on purpose, and what is expected of those who look at them.

use super::Registry;

/// An implementation broken on purpose, or an equivalent rewrite of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its name as a contestant.
    pub name: &'static str,
    /// Name of the contestant that it is made of.
    pub base: &'static str,
    /// The kind of fault.
    pub family: &'static str,
    /// What it models.
    pub models: &'static str,
    /// The properties that find it, each in some world.
    pub killed_by: &'static [&'static str],
    /// Whether it is different and correct, so that nobody may find anything.
    pub equivalent: bool,
    /// Whether a single thread sees the fault.
    pub sequential: bool,
}

/// A registry of mutants.
pub trait MutantRegistry: Registry {
    /// All of them; each takes part under its name.
    fn mutants(self) -> &'static [Mutant];
}
