//! A checkout of Flowmeter, and putting lines where they belong in its files. Nothing is written here.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::failure::Failure;

/// A file as it is to be.
#[derive(Debug)]
pub(super) struct Written {
    pub path: PathBuf,
    pub text: String,
}

/// The folder above this one that holds Flowmeter.
pub(super) fn found() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir();
    let here = here.map_err(|why| Failure::input(format!("this folder cannot be read: {why}")))?;
    let holds = |folder: &&Path| folder.join("suites/src/properties").is_dir();
    let found = here.ancestors().find(holds);
    found.map(Path::to_owned).ok_or_else(|| {
        Failure::input(
            "no checkout of Flowmeter here; go to one, or name it with --root (a crate of your own \
             begins as suites/examples/outside does)",
        )
    })
}

/// A checkout that files are looked up in.
pub(super) struct Checkout<'a> {
    pub root: &'a Path,
}

impl Checkout<'_> {
    /// A file that must not be there yet.
    pub(super) fn fresh(&self, path: &str, text: String) -> Result<Written, Failure> {
        let path = self.root.join(path);
        match path.exists() {
            true => Err(Failure::input(format!(
                "{}: is there already; choose another name",
                path.display()
            ))),
            false => Ok(Written { path, text }),
        }
    }

    /// A file of the checkout with something done to it; `None` where the place for that is not found.
    pub(super) fn edited(
        &self,
        path: &str,
        edit: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Written, Failure> {
        let path = self.root.join(path);
        let text = fs::read_to_string(&path).map_err(|why| {
            Failure::input(format!(
                "{}: {why}; name a checkout of Flowmeter with --root",
                path.display()
            ))
        })?;
        let text = edit(&text).ok_or_else(|| {
            Failure::input(format!(
                "{}: the list to add to is not where this build knows it; add by hand, as CONTRIBUTING.md tells",
                path.display()
            ))
        })?;
        Ok(Written { path, text })
    }
}

/// Puts a line among those that begin and end so, before the first that is greater.
pub(super) fn sorted_in(text: &str, (begin, end): (&str, &str), line: &str) -> Option<String> {
    let is_listed = |other: &str| other.starts_with(begin) && other.ends_with(end);
    let lines: Vec<&str> = text.lines().collect();
    // What an attribute speaks of stays below it.
    let free = |at: usize| at == 0 || !lines[at - 1].trim_start().starts_with("#[");
    let greater = (0..lines.len()).find(|&at| is_listed(lines[at]) && lines[at] > line && free(at));
    let last = || (0..lines.len()).rev().find(|&at| is_listed(lines[at]));
    let at = greater.or_else(|| Some(last()? + 1))?;
    let (before, after) = lines.split_at(at);
    Some([before, &[line], after].concat().join("\n") + "\n")
}

/// Puts text before the first place where that stands.
pub(super) fn before(text: &str, place: &str, new: &str) -> Option<String> {
    let at = text.find(place)?;
    Some(format!("{}{new}{}", &text[..at], &text[at..]))
}

/// Puts a line at the end of what begins so and ends so.
pub(super) fn at_end_of(text: &str, begin: &str, end: &str, line: &str) -> Option<String> {
    let begin = text.find(begin)?;
    let at = begin + text[begin..].find(end)? + 1;
    Some(format!("{}{line}{}", &text[..at], &text[at..]))
}

/// Names a property in the row of its statement.
pub(super) fn in_row(text: &str, id: &str, name: &str) -> Option<String> {
    let begin = format!("| {id} | property |");
    let row = text.lines().find(|line| line.starts_with(&begin))?;
    let cells: Vec<&str> = row.split('|').collect();
    let properties = format!("{}, `{name}` ", cells.get(4)?.trim_end());
    let mut edited = cells.clone();
    edited[4] = &properties;
    Some(text.replacen(row, &edited.join("|"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_where_its_order_puts_it() {
        let text = "mod a;\nmod c;\n\n#[cfg(x)]\nmod d;\nmod f;\nrest\n";
        let listed = |line| sorted_in(text, ("mod ", ";"), line).unwrap();
        assert!(listed("mod b;").starts_with("mod a;\nmod b;\nmod c;"));
        assert!(listed("mod cc;").contains("#[cfg(x)]\nmod d;\nmod cc;\nmod f;"));
        assert!(listed("mod z;").ends_with("mod f;\nmod z;\nrest\n"));
        assert_eq!(sorted_in("nothing\n", ("mod ", ";"), "mod a;"), None);
    }
}
