//! What a specification or a check answers when something was broken.

use std::fmt;

/// A broken rule, with the id of SEMANTICS.md it breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Such as `C2`.
    pub id: &'static str,
    /// What was seen.
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
