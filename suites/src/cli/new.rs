//! `new`: where one more implementation, scenario or property begins, in a checkout of Flowmeter itself.
//!
//! What is written compiles, is listed, and fails its property until somebody goes on. Every place that has to know of it
//! is edited: a list is text, and a line goes where its order puts it. Nothing is written before all of it is known to
//! fit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::failure::{Failure, Outcome};
use super::output::Output;

const IMPLEMENTATION: &str = include_str!("new/implementation.txt");
const SCENARIO: &str = include_str!("new/scenario.txt");
const PROPERTY: &str = include_str!("new/property.txt");

/// Begin a channel, a scenario or a property in this checkout
///
/// An implementation is a channel of ours, such as `new implementation ring`; a scenario is named with its folder,
/// `new scenario channels/my-load`; a property after the statement of SEMANTICS.md that it holds, `new property
/// c3-never-over`, and is owed by every channel whose threads block. The property of a new one fails until it is written.
#[derive(Debug, Args)]
pub(super) struct New {
    /// What to begin
    #[arg(value_enum)]
    kind: Kind,
    /// Its name
    name: String,
    /// The checkout [default: the one that this folder is in]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// A channel
    Implementation,
    /// A workload with parameters
    Scenario,
    /// A statement, checked on every channel
    Property,
}

/// A file as it is to be.
#[derive(Debug)]
struct Written {
    path: PathBuf,
    text: String,
}

impl New {
    pub(super) fn run(self) -> Outcome {
        let root = match &self.root {
            Some(root) => root.clone(),
            None => checkout()?,
        };
        let (files, next) = self.begun(&root)?;
        for file in &files {
            let folder = file.path.parent().expect("a file has a folder");
            let written =
                fs::create_dir_all(folder).and_then(|()| fs::write(&file.path, &file.text));
            written.map_err(|why| Failure::write(&file.path, &why))?;
        }
        let mut output = Output::default();
        for file in &files {
            output.line(&file.path.display().to_string());
        }
        output.line(&next);
        Ok(ExitCode::SUCCESS)
    }

    /// Every file that is to be written, and what to do then.
    fn begun(&self, root: &Path) -> Result<(Vec<Written>, String), Failure> {
        let checkout = Checkout { root };
        match self.kind {
            Kind::Implementation => implementation(&checkout, &self.name),
            Kind::Scenario => scenario(&checkout, &self.name),
            Kind::Property => property(&checkout, &self.name),
        }
    }
}

/// The folder above this one that holds Flowmeter.
fn checkout() -> Result<PathBuf, Failure> {
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
struct Checkout<'a> {
    root: &'a Path,
}

impl Checkout<'_> {
    /// A file that must not be there yet.
    fn fresh(&self, path: &str, text: String) -> Result<Written, Failure> {
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
    fn edited(
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
fn sorted_in(text: &str, (begin, end): (&str, &str), line: &str) -> Option<String> {
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
fn before(text: &str, place: &str, new: &str) -> Option<String> {
    let at = text.find(place)?;
    Some(format!("{}{new}{}", &text[..at], &text[at..]))
}

fn implementation(checkout: &Checkout, name: &str) -> Result<(Vec<Written>, String), Failure> {
    let parts: Vec<&str> = name.split('_').collect();
    refuse_unless(
        parts.iter().all(|part| is_word(part)),
        name,
        "small letters and digits in words with _ between them, such as ring or two_locks",
    )?;
    let capital = |part: &&str| part[..1].to_ascii_uppercase() + &part[1..];
    let family: String = parts.iter().map(capital).collect();
    let text = IMPLEMENTATION
        .replace("TYPE", &family)
        .replace("NAME", name);
    let entry =
        format!("        own::<{family}, _>(hall, \"{name}\").channel().blocking().enter();\n");
    let row = format!("    (\"{name}\", Origin::Own, \"fixed blocking\"),\n");
    let named = format!("use crate::channel::{name}::{family};");
    let table = checkout.edited("impls/tests/capabilities.rs", |text| {
        before(text, "    (\n        \"crossbeam-channel\"", &row)
    })?;
    // Names are unique over all kinds.
    if table.text.matches(&format!("\"{name}\"")).count() > 1 {
        return Err(Failure::input(format!(
            "{name}: is there already; choose another name"
        )));
    }
    let files = vec![
        checkout.fresh(&format!("impls/src/channel/{name}.rs"), text)?,
        checkout.edited("impls/src/channel/mod.rs", |text| {
            sorted_in(text, ("pub mod ", ";"), &format!("pub mod {name};"))
        })?,
        checkout.edited("impls/src/registry.rs", |text| {
            let text = sorted_in(text, ("use crate::channel::", ";"), &named)?;
            before(&text, "    }\n\n    fn timers<H: Enrol>", &entry)
        })?,
        table,
    ];
    let next =
        format!("next: cargo fmt --all, write it, and ask cargo flowmeter check -i '^{name}$'");
    Ok((files, next))
}

fn scenario(checkout: &Checkout, name: &str) -> Result<(Vec<Written>, String), Failure> {
    let words = |part: &str| !part.is_empty() && part.split('-').all(is_word);
    refuse_unless(
        name.split_once('/')
            .is_some_and(|(group, rest)| words(group) && words(rest)),
        name,
        "the folder and the file, in small letters, digits and dashes, such as channels/my-load",
    )?;
    let files = vec![
        checkout.fresh(
            &format!("suites/scenarios/{name}.toml"),
            SCENARIO.to_owned(),
        )?,
        checkout.edited("suites/src/scenario/curated.rs", |text| {
            sorted_in(text, ("    \"", "\","), &format!("    \"{name}\","))
        })?,
    ];
    let next = format!(
        "next: say what it isolates, and run cargo flowmeter measure -s '^{name}$' --quick"
    );
    Ok((files, next))
}

fn property(checkout: &Checkout, name: &str) -> Result<(Vec<Written>, String), Failure> {
    let (id, rest) = name.split_once('-').unwrap_or((name, ""));
    let (letter, number) = id.split_at(id.len().min(1));
    refuse_unless(
        matches!(letter, "c" | "b" | "a")
            && number.parse::<u32>().is_ok()
            && rest.split('-').all(is_word),
        name,
        "the id of a statement on channels (c, b or a and its number) and words, such as c3-never-over; \
         those of other kinds begin as a copy of their neighbour in suites/src/properties",
    )?;
    let module = name.replace('-', "_");
    let statement = id.to_ascii_uppercase();
    let text = PROPERTY.replace("NAME", name).replace("ID", &statement);
    let owed = format!(
        "        let cases = super::{module}::cases::<C, W>();\n        self.owe(who, &super::{module}::PROPERTY, cases);\n"
    );
    let files = vec![
        checkout.fresh(&format!("suites/src/properties/{module}.rs"), text)?,
        checkout.edited("suites/src/properties/mod.rs", |text| {
            let text = sorted_in(text, ("mod ", ";"), &format!("mod {module};"))?;
            let begin = text.find("pub const PROPERTIES")?;
            let end = begin + text[begin..].find("\n];")? + 1;
            let line = format!("    &{module}::PROPERTY,\n");
            Some(format!("{}{line}{}", &text[..end], &text[end..]))
        })?,
        checkout.edited("suites/src/properties/checks.rs", |text| {
            before(
                text,
                "        self.owe(\n            who,\n            &c1_conservation::PROPERTY",
                &owed,
            )
        })?,
        checkout.edited("SEMANTICS.md", |text| in_row(text, &statement, name))?,
    ];
    let next = format!(
        "next: cargo fmt --all, write what has to hold, and ask cargo flowmeter check -p '^{name}$'"
    );
    Ok((files, next))
}

/// Names a property in the row of its statement.
fn in_row(text: &str, id: &str, name: &str) -> Option<String> {
    let begin = format!("| {id} | property |");
    let row = text.lines().find(|line| line.starts_with(&begin))?;
    let cells: Vec<&str> = row.split('|').collect();
    let properties = format!("{}, `{name}` ", cells.get(4)?.trim_end());
    let mut edited = cells.clone();
    edited[4] = &properties;
    Some(text.replacen(row, &edited.join("|"), 1))
}

/// Small letters and digits, a letter first.
fn is_word(part: &str) -> bool {
    let mut characters = part.chars();
    let letter = characters.next().is_some_and(|c| c.is_ascii_lowercase());
    letter && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

fn refuse_unless(fits: bool, name: &str, how: &str) -> Result<(), Failure> {
    match fits {
        true => Ok(()),
        false => Err(Failure::input(format!("'{name}': a name is {how}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This very checkout.
    fn root() -> &'static Path {
        let suites = Path::new(env!("CARGO_MANIFEST_DIR"));
        suites.parent().expect("suites is in the workspace")
    }

    fn begun(kind: Kind, name: &str) -> Result<Vec<Written>, Failure> {
        let new = New {
            kind,
            name: name.to_owned(),
            root: None,
        };
        new.begun(root()).map(|(files, _)| files)
    }

    /// The lines that a file gains.
    fn gained(file: &Written) -> Vec<&str> {
        let old = fs::read_to_string(&file.path).unwrap_or_default();
        let mut old = old.lines().peekable();
        let mut gained = Vec::new();
        for line in file.text.lines() {
            match old.next_if_eq(&line) {
                Some(_) => {}
                None => gained.push(line),
            }
        }
        assert_eq!(old.next(), None, "{} lost a line", file.path.display());
        gained
    }

    #[test]
    fn an_implementation_is_known_wherever_one_has_to_be() {
        let files = begun(Kind::Implementation, "two_locks").unwrap();
        assert!(files[0].text.contains("impl Channels for TwoLocks"));
        assert!(!files[0].text.contains("NAME") && !files[0].text.contains("TYPE"));
        assert_eq!(gained(&files[1]), ["pub mod two_locks;"]);
        let registry = gained(&files[2]);
        assert_eq!(registry[0], "use crate::channel::two_locks::TwoLocks;");
        assert_eq!(
            registry[1].trim(),
            "own::<TwoLocks, _>(hall, \"two_locks\").channel().blocking().enter();"
        );
        assert_eq!(
            gained(&files[3]),
            ["    (\"two_locks\", Origin::Own, \"fixed blocking\"),"]
        );
    }

    #[test]
    fn a_scenario_is_one_that_can_be_read() {
        let files = begun(Kind::Scenario, "channels/my-load").unwrap();
        let scenario = crate::scenario::parse("channels/my-load", &files[0].path, &files[0].text);
        assert_eq!(scenario.unwrap().group(), "channels");
        assert_eq!(gained(&files[1]), ["    \"channels/my-load\","]);
        let list: Vec<&str> = files[1]
            .text
            .lines()
            .filter(|l| l.starts_with("    \""))
            .collect();
        assert!(list.is_sorted(), "{list:?}");
    }

    #[test]
    fn a_property_is_owed_listed_and_stated() {
        let files = begun(Kind::Property, "c3-never-over").unwrap();
        assert!(files[0].text.contains("name: \"c3-never-over\""));
        assert!(files[0].text.contains("\"C3: nothing is checked yet\""));
        assert_eq!(
            gained(&files[1]),
            ["mod c3_never_over;", "    &c3_never_over::PROPERTY,"]
        );
        assert_eq!(gained(&files[2]).len(), 2);
        assert!(files[3].text.contains("| `c3-capacity`, `c3-never-over` |"));
    }

    #[test]
    fn what_is_there_or_is_no_name_is_refused() {
        for (kind, name) in [
            (Kind::Implementation, "condvar"),
            (Kind::Implementation, "mutex"),
            (Kind::Implementation, "heap"),
            (Kind::Implementation, "batch"),
            (Kind::Implementation, "TwoLocks"),
            (Kind::Implementation, "../escape"),
            (Kind::Implementation, ""),
            (Kind::Scenario, "channels/spsc-64"),
            (Kind::Scenario, "no-folder"),
            (Kind::Scenario, "channels/../../escape"),
            (Kind::Property, "c2-order"),
            (Kind::Property, "t1-something"),
            (Kind::Property, "c99-not-stated"),
            (Kind::Property, "c3"),
            (Kind::Property, ""),
        ] {
            assert!(begun(kind, name).is_err(), "{name}");
        }
    }

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
