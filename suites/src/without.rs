//! Builds of ours without a promise. What the promise costs is how the two builds differ.
//!
//! A file `impls/without/IMPLEMENTATION/PROMISE.toml` has edits of the sources, as a mutant has. They remove the promise
//! from the registry, and from the implementation the code that keeps it.
//!
//! | key | meaning |
//! | --- | --- |
//! | `says` | what the build does in place of keeping the promise |
//! | `edit` | one or more: `file`, `instead_of` (a text that occurs once, or first after the text `after`), `write` |

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// Promises that a build gives up.
#[derive(Debug)]
pub(crate) struct Without {
    /// Their names, those of claims, and what the build does in place of keeping each of them.
    pub(crate) promises: Vec<(String, String)>,
    /// The implementations that give them up.
    pub(crate) implementations: BTreeSet<String>,
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    says: String,
    edit: Vec<Edit>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    file: String,
    after: Option<String>,
    instead_of: String,
    write: String,
}

impl Without {
    /// Reads what is known of these promises in that folder.
    ///
    /// # Errors
    /// When one of them is not known, or a file cannot be read: in a sentence.
    pub(crate) fn read(folder: &Path, promises: &[String]) -> Result<Without, String> {
        let known = known(folder)?;
        let mut without = Without {
            promises: Vec::new(),
            implementations: BTreeSet::new(),
            edits: Vec::new(),
        };
        for (at, promise) in promises.iter().enumerate() {
            if promises[..at].contains(promise) {
                continue;
            }
            let of_it: Vec<_> = known.iter().filter(|((it, _), _)| it == promise).collect();
            if of_it.is_empty() {
                let mut names: Vec<&str> = known.keys().map(|(it, _)| &**it).collect();
                names.dedup();
                return Err(format!(
                    "--without {promise}: no implementation can be built without it; give one of {}",
                    names.join(", ")
                ));
            }
            for ((_, implementation), file) in of_it {
                let described: Described =
                    toml::from_str(file).map_err(|why| format!("{promise}.toml: {why}"))?;
                without.promises.push((promise.clone(), described.says));
                without.implementations.insert(implementation.clone());
                without.edits.extend(described.edit);
            }
        }
        Ok(without)
    }

    /// The edited sources. `read` gives the text of a file.
    ///
    /// # Errors
    /// When a text to replace is not there, or stands there more than once.
    pub(crate) fn edited(
        &self,
        read: impl Fn(&str) -> Result<String, String>,
    ) -> Result<BTreeMap<&str, String>, String> {
        let mut files: BTreeMap<&str, String> = BTreeMap::new();
        for edit in &self.edits {
            let text = match files.remove(&*edit.file) {
                Some(text) => text,
                None => read(&edit.file)?,
            };
            let text = edit
                .applied(&text)
                .map_err(|why| format!("{}: {why}", edit.file))?;
            files.insert(&edit.file, text);
        }
        Ok(files)
    }
}

impl Edit {
    fn applied(&self, text: &str) -> Result<String, String> {
        let from = match &self.after {
            Some(anchor) => once(text, anchor)? + anchor.len(),
            None => once(text, &self.instead_of)?,
        };
        let (before, rest) = text.split_at(from);
        if !rest.contains(&self.instead_of) {
            return Err(format!("there is no `{}`", self.instead_of));
        }
        Ok(before.to_owned() + &rest.replacen(&self.instead_of, &self.write, 1))
    }
}

/// Where that text stands.
fn once(text: &str, wanted: &str) -> Result<usize, String> {
    match text.match_indices(wanted).collect::<Vec<_>>()[..] {
        [(at, _)] => Ok(at),
        [] => Err(format!("there is no `{wanted}`")),
        _ => Err(format!("`{wanted}` stands there more than once")),
    }
}

/// The files, by promise and implementation.
fn known(folder: &Path) -> Result<BTreeMap<(String, String), String>, String> {
    let mut known = BTreeMap::new();
    let unread = |path: &Path, why: std::io::Error| format!("{}: {why}", path.display());
    for implementation in fs::read_dir(folder).map_err(|why| unread(folder, why))? {
        let implementation = implementation.map_err(|why| unread(folder, why))?.path();
        for file in fs::read_dir(&implementation).map_err(|why| unread(&implementation, why))? {
            let file = file.map_err(|why| unread(&implementation, why))?.path();
            let name = |path: &Path| path.file_stem().map(|it| it.to_string_lossy().into_owned());
            if let Some(key) = name(&file).zip(name(&implementation)) {
                let text = fs::read_to_string(&file).map_err(|why| unread(&file, why))?;
                known.insert(key, text);
            }
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn impls() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../impls")
    }

    fn source(file: &str) -> Result<String, String> {
        fs::read_to_string(impls().join("src").join(file)).map_err(|why| why.to_string())
    }

    #[test]
    fn each_promise_can_be_given_up_alone_and_with_all_others() {
        let folder = impls().join("without");
        let promises: Vec<String> = known(&folder).unwrap().into_keys().map(|it| it.0).collect();
        assert!(promises.len() > 3, "{promises:?}");
        let given_up = |promises: &[String]| {
            let without = Without::read(&folder, promises).unwrap();
            let files = without
                .edited(source)
                .unwrap_or_else(|why| panic!("{promises:?}: {why}"));
            files["registry.rs"].clone()
        };
        // Nothing but the claims of that one implementation leaves the registry.
        let original = source("registry.rs").unwrap();
        let (before, of_it) = original.split_once("\"lock_free\")").unwrap();
        let (claims, after) = of_it.split_once(".enter()").unwrap();
        let claims_left = |promises: &[String]| {
            let registry = given_up(promises);
            let rest = registry.strip_prefix(before).unwrap();
            let rest = rest.strip_suffix(after).unwrap();
            rest.matches(char::is_uppercase).count()
        };
        let all = claims.matches(char::is_uppercase).count();
        for promise in &promises {
            let left = claims_left(std::slice::from_ref(promise));
            assert!(left < all, "{promise}");
        }
        assert!(claims_left(&promises) < all / 2);
    }

    #[test]
    fn an_unknown_promise_is_refused_with_those_there_are() {
        let why = Without::read(&impls().join("without"), &["speed".to_owned()]).unwrap_err();
        assert!(why.starts_with("--without speed: "), "{why}");
        assert!(why.contains("calls-unlocked, cancel-safe"), "{why}");
    }

    #[test]
    fn an_edit_needs_one_place() {
        let edit = |after: Option<&str>, instead_of: &str| Edit {
            file: String::new(),
            after: after.map(str::to_owned),
            instead_of: instead_of.to_owned(),
            write: "x".to_owned(),
        };
        let text = "a b a c";
        assert_eq!(edit(None, "b").applied(text), Ok("a x a c".to_owned()));
        assert_eq!(edit(Some("b"), "a").applied(text), Ok("a b x c".to_owned()));
        assert_eq!(
            edit(None, "a").applied(text),
            Err("`a` stands there more than once".to_owned())
        );
        assert_eq!(
            edit(Some("c"), "a").applied(text),
            Err("there is no `a`".to_owned())
        );
        assert_eq!(
            edit(None, "d").applied(text),
            Err("there is no `d`".to_owned())
        );
    }
}
