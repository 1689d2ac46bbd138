//! `new`: where one more implementation, scenario or property begins, in a checkout of Flowmeter itself.
//!
//! What is written compiles, is listed, and fails its property until somebody goes on. Every place that has to know of it
//! is edited: a list is text, and a line goes where its order puts it. Nothing is written before all of it is known to
//! fit.

mod checkout;
mod kinds;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::failure::{Failure, Outcome};
use super::output::Output;
use checkout::{Checkout, Written, at_end_of, before, found, in_row, sorted_in};
use kinds::{BEGINNINGS, Beginning};

/// Begin an implementation, a scenario or a property in this checkout
///
/// An implementation is one of ours, `new implementation ring`, and a channel unless told otherwise, `new implementation
/// sand --of limiter`. A scenario is named with its folder, which says what it is of: `new scenario timers/my-load`. A
/// property is named after the statement of SEMANTICS.md that it holds, `new property c3-never-over`, and is owed by all
/// whose threads wait: C, B and A speak of channels, T of timers, L of limiters, G of executors. The property of a new one
/// fails until it is written.
#[derive(Debug, Args)]
pub(super) struct New {
    /// What to begin
    #[arg(value_enum)]
    what: What,
    /// Its name
    name: String,
    /// What an implementation is [default: channel]
    #[arg(long, value_name = "KIND", value_parser = BEGINNINGS.map(|it| it.kind.name()))]
    of: Option<String>,
    /// The checkout [default: the one that this folder is in]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// A contestant
    Implementation,
    /// A workload with parameters
    Scenario,
    /// A statement, checked on every contestant of its kind
    Property,
}

impl New {
    pub(super) fn run(self) -> Outcome {
        let root = match &self.root {
            Some(root) => root.clone(),
            None => found()?,
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
        if let (Some(kind), What::Scenario | What::Property) = (&self.of, self.what) {
            return Err(Failure::input(format!(
                "--of {kind}: the name of a scenario or a property says what it is of; leave it out"
            )));
        }
        match self.what {
            What::Implementation => {
                let kind = self.of.as_deref().and_then(Beginning::of);
                implementation(&checkout, &self.name, kind.unwrap_or(&BEGINNINGS[0]))
            }
            What::Scenario => scenario(&checkout, &self.name),
            What::Property => property(&checkout, &self.name),
        }
    }
}

fn implementation(
    checkout: &Checkout,
    name: &str,
    beginning: &Beginning,
) -> Result<(Vec<Written>, String), Failure> {
    let parts: Vec<&str> = name.split('_').collect();
    refuse_unless(
        parts.iter().all(|part| is_word(part)),
        name,
        "small letters and digits in words with _ between them, such as ring or two_locks",
    )?;
    let capital = |part: &&str| part[..1].to_ascii_uppercase() + &part[1..];
    let family: String = parts.iter().map(capital).collect();
    let text = beginning
        .implementation
        .replace("TYPE", &family)
        .replace("NAME", name);
    let kind = beginning.kind.name();
    let entry = format!(
        "        own::<{family}, _>(hall, \"{name}\"){}.enter();\n",
        beginning.offers
    );
    let row = format!("    (\"{name}\", Origin::Own, \"{}\"),\n", beginning.has);
    let named = format!("use crate::{kind}::{name}::{family};");
    let table = checkout.edited("impls/tests/capabilities.rs", |text| {
        let behind = text.find(&format!("\"{}\"", beginning.behind))?;
        let at = text[..behind].rfind("\n    (")? + 1;
        Some(format!("{}{row}{}", &text[..at], &text[at..]))
    })?;
    let modules = checkout.edited(&format!("impls/src/{kind}/mod.rs"), |text| {
        sorted_in(text, ("pub mod ", ";"), &format!("pub mod {name};"))
    })?;
    let registry = checkout.edited("impls/src/registry.rs", |text| {
        let text = sorted_in(text, ("use crate::", ";"), &named)?;
        let begin = format!("    fn {kind}s<H: Enrol>(self, hall: &mut H) {{");
        at_end_of(&text, &begin, "\n    }\n", &entry)
    })?;
    // Names are unique over all kinds, types in the registry and modules in their folder.
    let often = |file: &Written, what: &str| file.text.matches(what).count() > 1;
    let is_known = often(&table, &format!("\"{name}\""))
        || often(&modules, &format!("mod {name};"))
        || has_word(
            &registry
                .text
                .replacen(&named, "", 1)
                .replacen(&entry, "", 1),
            &family,
        );
    if is_known {
        return Err(Failure::input(format!(
            "{name}: is there already; choose another name"
        )));
    }
    let files = vec![
        checkout.fresh(&format!("impls/src/{kind}/{name}.rs"), text)?,
        modules,
        registry,
        table,
    ];
    let next =
        format!("next: cargo fmt --all, write it, and ask cargo flowmeter check -i '^{name}$'");
    Ok((files, next))
}

/// Whether a name stands in a text by itself, and not in a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_part(c)).any(|other| other == word)
}

fn scenario(checkout: &Checkout, name: &str) -> Result<(Vec<Written>, String), Failure> {
    let words = |part: &str| !part.is_empty() && part.split('-').all(is_word);
    refuse_unless(
        name.split_once('/')
            .is_some_and(|(group, rest)| words(group) && words(rest)),
        name,
        "the folder and the file, in small letters, digits and dashes, such as channels/my-load",
    )?;
    let group = name.split('/').next().unwrap_or(name);
    let files = vec![
        checkout.fresh(
            &format!("suites/scenarios/{name}.toml"),
            Beginning::of_group(group).scenario_in(group),
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
    let (letter, number) = id.split_at(id.chars().next().map_or(0, char::len_utf8));
    let beginning = Beginning::of_letter(letter)
        .filter(|_| number.parse::<u32>().is_ok() && rest.split('-').all(is_word));
    let Some(beginning) = beginning else {
        return Err(no_name(
            name,
            "the id of a statement on channels (c, b or a and its number), timers (t), limiters (l) or executors (g) and \
             words, such as c3-never-over; those of other kinds begin as a copy of their neighbour in \
             suites/src/properties",
        ));
    };
    let module = name.replace('-', "_");
    let statement = id.to_ascii_uppercase();
    let text = (beginning.property)
        .replace("NAME", name)
        .replace("ID", &statement);
    let (folder, path) = match beginning.module {
        "" => (String::new(), String::new()),
        module => (format!("{module}/"), format!("{module}::")),
    };
    let declared = |text: &str| {
        let declares = beginning.declares;
        sorted_in(text, (declares, ";"), &format!("{declares}{module};"))
    };
    let owed = |text: &str| {
        let owed = beginning.owed.replace("MODULE", &module);
        before(text, beginning.owed_before, &owed)
    };
    let listed = |text: &str| {
        let line = format!("    &{path}{module}::PROPERTY,\n");
        at_end_of(text, "pub const PROPERTIES", "\n];", &line)
    };
    const ALL: &str = "suites/src/properties/mod.rs";
    let files = vec![
        checkout.fresh(&format!("suites/src/properties/{folder}{module}.rs"), text)?,
        checkout.edited(ALL, |text| match beginning.module {
            "" => listed(&declared(text)?),
            _ => listed(text),
        })?,
        checkout.edited(beginning.owing, |text| match beginning.module {
            "" => owed(text),
            _ => owed(&declared(text)?),
        })?,
        checkout.edited("SEMANTICS.md", |text| in_row(text, &statement, name))?,
    ];
    let next = format!(
        "next: cargo fmt --all, write what has to hold, and ask cargo flowmeter check -p '^{name}$'"
    );
    Ok((files, next))
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
        false => Err(no_name(name, how)),
    }
}

fn no_name(name: &str, how: &str) -> Failure {
    Failure::input(format!("'{name}': a name is {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This very checkout.
    fn root() -> &'static Path {
        let suites = Path::new(env!("CARGO_MANIFEST_DIR"));
        suites.parent().expect("suites is in the workspace")
    }

    fn begun(what: What, name: &str, of: Option<&str>) -> Result<Vec<Written>, Failure> {
        let new = New {
            what,
            name: name.to_owned(),
            of: of.map(str::to_owned),
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
        for (kind, offers, has) in [
            ("channel", "channel().blocking()", "fixed blocking"),
            ("timer", "timer()", "schedule"),
            (
                "limiter",
                "limiter().blocking_limit().claims(&[WindowBound])",
                "blocking try-acquire window-bound",
            ),
            ("executor", "executor::<MutexChannels>()", "tasks"),
        ] {
            let files = begun(What::Implementation, "two_locks", Some(kind)).unwrap();
            assert!(
                files[0]
                    .path
                    .ends_with(format!("impls/src/{kind}/two_locks.rs"))
            );
            assert!(files[0].text.contains(" for TwoLocks {"), "{kind}");
            assert!(!files[0].text.contains("NAME") && !files[0].text.contains("TYPE"));
            assert_eq!(gained(&files[1]), ["pub mod two_locks;"]);
            let registry = gained(&files[2]);
            assert_eq!(
                registry[0],
                format!("use crate::{kind}::two_locks::TwoLocks;")
            );
            let entry = format!("own::<TwoLocks, _>(hall, \"two_locks\").{offers}.enter();");
            assert_eq!(registry[1].trim(), entry);
            let (of_kind, _) = files[2].text.split_once(&entry).unwrap();
            let (_, of_kind) = of_kind.rsplit_once("    fn ").unwrap();
            assert!(
                of_kind.starts_with(&format!("{kind}s<H: Enrol>")),
                "{of_kind}"
            );
            let row = format!("    (\"two_locks\", Origin::Own, \"{has}\"),");
            assert_eq!(gained(&files[3]), [row]);
        }
    }

    #[test]
    fn an_implementation_of_which_nobody_says_more_is_a_channel() {
        let files = begun(What::Implementation, "two_locks", None).unwrap();
        assert!(files[0].path.ends_with("impls/src/channel/two_locks.rs"));
    }

    #[test]
    fn a_scenario_is_one_that_can_be_read_and_of_what_its_folder_says() {
        for (name, workload, form) in [
            ("channels/my-load", "stream", "blocking"),
            ("channels-async/my-load", "stream", "async"),
            ("timers/my-load", "timer-churn", "callback"),
            ("timers-async/my-load", "timer-churn", "async"),
            ("limiters/my-load", "limiter-burst", "blocking"),
            ("executors/my-load", "spawn-join", "async"),
            ("mine/my-load", "stream", "blocking"),
        ] {
            let files = begun(What::Scenario, name, None).unwrap();
            let scenario = crate::scenario::parse(name, &files[0].path, &files[0].text);
            let record = scenario.unwrap().record();
            assert_eq!(record.group, name.split('/').next().unwrap());
            assert_eq!(record.params["workload"], workload, "{name}");
            assert_eq!(record.form, form, "{name}");
            assert_eq!(gained(&files[1]), [format!("    \"{name}\",")]);
            let lines = files[1].text.lines();
            let list: Vec<&str> = lines.filter(|line| line.starts_with("    \"")).collect();
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn a_property_is_owed_listed_and_stated() {
        for (name, folder, listed, row) in [
            ("c3-begun", "", "", "`c3-capacity`, `c3-begun` |"),
            ("t2-begun", "timers/", "timers::", "`t2-once`, `t2-begun` |"),
            (
                "l3-begun",
                "limiters/",
                "limiters::",
                "`l3-waiters`, `l3-begun` |",
            ),
            (
                "g2-begun",
                "executors/",
                "executors::",
                "`g2-parking`, `g2-begun` |",
            ),
        ] {
            let files = begun(What::Property, name, None).unwrap();
            let module = name.replace('-', "_");
            let path = format!("suites/src/properties/{folder}{module}.rs");
            assert!(files[0].path.ends_with(path));
            assert!(files[0].text.contains(&format!("name: \"{name}\"")));
            let id = name[..2].to_ascii_uppercase();
            let says = format!("\"{id}: nothing is checked yet\"");
            assert!(files[0].text.contains(&says));
            let all: Vec<&str> = files[1..3].iter().flat_map(gained).collect();
            let has = |what: &str| all.iter().filter(|line| line.contains(what)).count();
            assert_eq!(has(&format!("mod {module};")), 1, "{all:?}");
            assert_eq!(
                has(&format!("    &{listed}{module}::PROPERTY,")),
                1,
                "{all:?}"
            );
            assert_eq!(has(&format!("{module}::cases::<")), 1, "{all:?}");
            assert!(files[3].text.contains(row), "{name}");
        }
    }

    #[test]
    fn what_is_there_or_is_no_name_is_refused() {
        use What::{Implementation, Property, Scenario};
        for (what, name) in [
            (Implementation, "condvar"),
            (Implementation, "mutex"),
            (Implementation, "heap"),
            (Implementation, "batch"),
            (Implementation, "TwoLocks"),
            (Implementation, "../escape"),
            (Implementation, ""),
            (Scenario, "channels/spsc-64"),
            (Scenario, "no-folder"),
            (Scenario, "channels/../../escape"),
            (Property, "c2-order"),
            (Property, "t2-once"),
            (Property, "p1-something"),
            (Property, "é1-something"),
            (Property, "c99-not-stated"),
            (Property, "c3"),
            (Property, ""),
        ] {
            assert!(begun(what, name, None).is_err(), "{name}");
        }
        // A module of timers, and a type that the registry names already.
        for name in ["service", "wheel"] {
            assert!(
                begun(Implementation, name, Some("timer")).is_err(),
                "{name}"
            );
        }
        assert!(begun(Scenario, "timers/my-load", Some("timer")).is_err());
    }
}
