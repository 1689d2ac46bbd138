//! The checkout of Flowmeter in which the command runs, for verbs that need its files.

use std::path::{Path, PathBuf};

use super::failure::Failure;

/// The folder above this one that holds Flowmeter. `or` ends the sentence of the error: what else can be done.
///
/// # Errors
/// Where none does.
pub(super) fn checkout(or: &str) -> Result<PathBuf, Failure> {
    let here = std::env::current_dir();
    let here = here.map_err(|why| Failure::input(format!("this folder cannot be read: {why}")))?;
    let holds = |folder: &&Path| folder.join("suites/properties/src").is_dir();
    let found = here.ancestors().find(holds).map(Path::to_owned);
    found.ok_or_else(|| Failure::input(format!("no checkout of Flowmeter here; go to one{or}")))
}
