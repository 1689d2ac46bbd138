//! The places of the checks: every line of the sources of properties that checks something, whether it ever fails or
//! not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use regex::Regex;

/// A check.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its name when it fails, such as `a1_exclusive.rs:77`.
    pub name: String,
    /// Its name independent of line numbers: file, function, message, and a number among equal ones.
    pub title: String,
}

/// How a check is written without a function of the properties.
const CHECK: &str = r"\b(?:holds|holds_eq|violated)!\(|\bwatch::found\(|\.(?:close|close_lossy)\(&|\.close_keeping\(";

static FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:pub(?:\([^)]*\))? )?(?:async )?fn (\w+)").expect("a pattern")
});

/// The rules of the ledger, which have no place in a property.
const RULES: [&str; 6] = [
    "lost",
    "never-put",
    "taken-twice",
    "given-back-and-taken",
    "leaked",
    "dropped-twice",
];

/// Every check, in the order of files and lines.
///
/// # Errors
/// When the sources cannot be read: this works only where they are.
pub fn all() -> io::Result<Vec<Place>> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    let mut files = Vec::new();
    list(&root, &mut files)?;
    files.sort();
    let mut sources = Vec::new();
    for file in files {
        let below = file.strip_prefix(&root).expect("it was found there");
        sources.push((below.display().to_string(), fs::read_to_string(&file)?));
    }
    let check = pattern(&sources);
    let mut all = Vec::new();
    for (file, source) in &sources {
        places(file, source, &check, &mut all);
    }
    all.extend(RULES.map(|rule| {
        let name = format!("ledger: {rule}");
        Place {
            title: name.clone(),
            name,
        }
    }));
    Ok(all)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// How a check is written: also as a call of a function of the properties that checks something for its callers.
fn pattern(sources: &[(String, String)]) -> Regex {
    let mut all = CHECK.to_owned();
    let mut known = 0;
    loop {
        let check = Regex::new(&all).expect("a pattern");
        let helpers: BTreeSet<&str> = sources
            .iter()
            .flat_map(|(_, source)| helpers(source, &check))
            .collect();
        if helpers.len() == known {
            return check;
        }
        known = helpers.len();
        all = CHECK.to_owned();
        for helper in helpers {
            all.push_str(&format!(r"|(?:^|[^.\w]){helper}\("));
        }
    }
}

/// The functions with `#[track_caller]` that contain a check.
fn helpers<'s>(source: &'s str, check: &Regex) -> Vec<&'s str> {
    let mut helpers = Vec::new();
    let mut called = None;
    let mut function = "";
    for line in source.lines() {
        if is_called(line, &mut called) {
            if let Some(found) = FUNCTION.captures(line) {
                function = found.get(1).expect("a group").as_str();
            } else if check.is_match(line) {
                helpers.push(function);
            }
        }
    }
    helpers
}

/// Whether the line belongs to a function with `#[track_caller]`. A check in it has the place of the caller. `until`
/// keeps the line with which that function ends.
fn is_called(line: &str, until: &mut Option<String>) -> bool {
    let code = line.trim_start();
    if code.starts_with("#[track_caller]") {
        let indent = &line[..line.len() - code.len()];
        *until = Some(format!("{indent}}}"));
    } else if until.as_deref() == Some(line) {
        *until = None;
    }
    until.is_some()
}

fn places(file: &str, source: &str, check: &Regex, all: &mut Vec<Place>) {
    let mut function = "";
    let mut until = None;
    let mut offset = 0;
    for (index, line) in source.lines().enumerate() {
        let begins = offset;
        offset += line.len() + 1;
        let code = line.trim_start();
        if code.starts_with("#[cfg(test)]") || file == "holds.rs" {
            return;
        }
        if code.starts_with("//") {
            continue;
        }
        let is_called = is_called(line, &mut until);
        if let Some(found) = FUNCTION.captures(line) {
            function = found.get(1).expect("a group").as_str();
            continue;
        }
        let Some(found) = check.find(line).filter(|_| !is_called) else {
            continue;
        };
        let says = text(&source[begins + found.end()..]);
        let same = format!("{file} {function}: {says}").trim_end().to_owned();
        let numbered = format!("{same} #");
        let before = all
            .iter()
            .filter(|place| place.title == same || place.title.starts_with(&numbered))
            .count();
        all.push(Place {
            name: format!("{file}:{}", index + 1),
            title: if before == 0 {
                same
            } else {
                format!("{same} #{}", before + 1)
            },
        });
    }
}

/// The first text in the call, shortened; empty where there is none.
fn text(call: &str) -> &str {
    let end = call.find(";\n").unwrap_or(call.len());
    let call = &call[..end];
    let Some((_, text)) = call.split_once('"') else {
        return "";
    };
    let text = text.split('"').next().unwrap_or_default();
    let short = text.char_indices().nth(60).map_or(text.len(), |(at, _)| at);
    &text[..short]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_title_of_its_own() {
        let all = all().expect("tests run where the sources are");
        let titles: BTreeSet<&str> = all.iter().map(|place| &*place.title).collect();
        assert!(all.len() > 300, "{}", all.len());
        assert_eq!(titles.len(), all.len());
    }

    #[test]
    fn a_check_is_found_in_a_file_that_begins_something_for_tests_too() {
        let all = all().expect("tests run where the sources are");
        let is_refusal =
            |place: &Place| place.title.starts_with("limiters/mod.rs with_quota: L4: ");
        assert!(all.iter().any(is_refusal));
    }

    #[test]
    fn a_check_by_a_function_is_found_where_that_is_called() {
        let all = all().expect("tests run where the sources are");
        let lines = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/timers/form.rs"));
        let lines = lines.expect("tests run where the sources are");
        let line = lines
            .lines()
            .position(|line| line.trim() == "is_closed(rx.take());");
        let name = format!("timers/form.rs:{}", line.expect("it is called there") + 1);
        assert!(all.iter().any(|place| place.name == name), "{name}");
    }

    #[test]
    fn a_check_is_found_by_its_line_and_named_by_what_it_says() {
        let source = "\
fn model() {
    let ready = 1;
    holds!(
        ready == 1,
        \"C1: not ready\"
    );
    judges(1, \"C1: not ready\");
    ledger.close(&mint, AROUND);
    if list.judges() {}
}

#[track_caller]
fn checks_for_others() {
    holds!(false, \"{otherwise}\");
}

#[track_caller]
fn judges() {
    checks_for_others();
}

#[track_caller]
fn opens() {
    queue.expect(\"it is open\");
}

impl Model {
    #[track_caller]
    fn called(&self) {
        opens();
    }

    fn model() {
        opens();
        super::checks_for_others();
    }
}
";
        let mut all = Vec::new();
        let check = pattern(&[("c1.rs".to_owned(), source.to_owned())]);
        places("c1.rs", source, &check, &mut all);
        let found: Vec<(&str, &str)> = all.iter().map(|p| (&*p.name, &*p.title)).collect();
        assert_eq!(
            found,
            [
                ("c1.rs:3", "c1.rs model: C1: not ready"),
                ("c1.rs:7", "c1.rs model: C1: not ready #2"),
                ("c1.rs:8", "c1.rs model:"),
                ("c1.rs:35", "c1.rs model: #2"),
            ]
        );
    }
}
