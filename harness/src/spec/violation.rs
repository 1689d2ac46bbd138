//! The result of a specification or a check when a rule was broken.

use std::fmt;

/// A broken rule, with its id in SEMANTICS.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Such as `C2`.
    pub id: &'static str,
    /// What was observed.
    pub text: String,
}

impl Violation {
    /// An error, for rules that answer one.
    pub(super) fn found<T>(id: &'static str, text: impl Into<String>) -> Result<T, Violation> {
        let text = text.into();
        Err(Violation { id, text })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.text)
    }
}
