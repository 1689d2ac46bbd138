//! What can be a name.

use super::super::failure::Failure;

/// Words that Rust keeps to itself, some of them for later.
const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final \
                        fn for gen if impl in let loop macro match mod move mut override priv pub ref return self static \
                        struct super trait true try type typeof unsafe unsized use virtual where while yield";

/// What every file of Rust names unasked.
const PRELUDE: &str = "AsMut AsRef AsyncFn AsyncFnMut AsyncFnOnce Box Clone Copy Default DoubleEndedIterator Drop Eq Err \
                       ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Future Into IntoFuture IntoIterator \
                       Iterator None Ok Option Ord PartialEq PartialOrd Result Send Sized Some String Sync ToOwned \
                       ToString TryFrom TryInto Unpin Vec";

/// Whether no module can be called so.
pub(super) fn is_keyword(name: &str) -> bool {
    has_word(KEYWORDS, name)
}

/// Whether every file has a type, a trait or a variant of that name.
pub(super) fn is_in_prelude(name: &str) -> bool {
    has_word(PRELUDE, name)
}

/// Whether paths in a crate with that manifest begin so: a module of that name would stand before the crate.
pub(super) fn is_crate(manifest: &str, name: &str) -> bool {
    const OF_RUST: [&str; 3] = ["std", "core", "alloc"];
    let manifest: Option<toml::Table> = manifest.parse().ok();
    let dependencies = manifest.as_ref().and_then(|it| it.get("dependencies"));
    let mut crates = dependencies
        .and_then(toml::Value::as_table)
        .into_iter()
        .flat_map(toml::Table::keys);
    OF_RUST.contains(&name) || crates.any(|other| other.replace('-', "_") == name)
}

/// Small letters and digits, a letter first.
pub(super) fn is_word(part: &str) -> bool {
    let mut characters = part.chars();
    let letter = characters.next().is_some_and(|c| c.is_ascii_lowercase());
    letter && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// Whether a name stands in a text by itself, and not in a longer one.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_part(c)).any(|other| other == word)
}

/// Lines of a source without those that are comments.
pub(super) fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
}

/// What is no name, and how one is made.
pub(super) fn no_name(name: &str, how: &str) -> Failure {
    Failure::input(format!("'{name}': a name is {how}"))
}

/// Why a name is somebody else's.
pub(super) fn taken(name: &str, why: &str) -> Failure {
    Failure::input(format!("{name}: {why}; choose another name"))
}
