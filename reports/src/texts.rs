//! Texts that records name and do not hold. The command knows them, and a page shows them beside the names.

use std::collections::BTreeMap;

/// What names mean in words. A name without a text is shown alone.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// What a property states, in a sentence, by its name.
    pub statements: BTreeMap<&'static str, &'static str>,
    /// The title of an article, by the file that its claims name.
    pub titles: BTreeMap<&'static str, &'static str>,
}

impl Texts {
    /// What that property states; empty if that is unknown.
    pub(crate) fn statement(&self, property: &str) -> &'static str {
        self.statements.get(property).copied().unwrap_or_default()
    }

    /// The title of an article, or its file if that is unknown.
    pub(crate) fn title<'a>(&self, file: &'a str) -> &'a str {
        self.titles.get(file).copied().unwrap_or(file)
    }
}
