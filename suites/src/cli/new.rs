//! `new`: begins an implementation, a scenario or a property, in a checkout of Flowmeter itself.
//!
//! The written files compile, are listed, and fail their property until they are completed. Every list that has to
//! include them gains a line. Nothing is written before all edits are known to fit.

mod kinds;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use regex::Regex;

use super::checkout::checkout;
use super::failure::{Failure, Outcome};
use super::output::Output;
use kinds::{BEGINNINGS, Beginning};

const STATEMENTS: &str = "SEMANTICS.md";

/// Lines that declare modules, in a file of the checkout; rustfmt sorts them.
const MODULES: &str = r"^((pub(\(\w+\))? )?mod \w+;\n){2,}";

/// The keywords of Rust, including reserved ones.
const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final \
                        fn for gen if impl in let loop macro match mod move mut override priv pub ref return self static \
                        struct super trait true try type typeof unsafe unsized use virtual where while yield";

/// The names in the prelude of every Rust file.
const PRELUDE: &str = "AsMut AsRef AsyncFn AsyncFnMut AsyncFnOnce Box Clone Copy Default DoubleEndedIterator Drop Eq Err \
                       ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Future Into IntoFuture IntoIterator \
                       Iterator None Ok Option Ord PartialEq PartialOrd Result Send Sized Some String Sync ToOwned \
                       ToString TryFrom TryInto Unpin Vec";

/// Begin an implementation, a scenario or a property in this checkout
///
/// `new implementation ring` begins a channel of ours, and `new implementation sand --of limiter` a limiter.
///
/// `new scenario timers/my-load` begins a scenario. Its folder determines its kind.
///
/// `new property c3-never-over` begins a property of statement C3 of SEMANTICS.md. The letter determines the kind: C
/// for channels, T for timers, L for limiters, G for executors. Every channel with blocking operations, every timer
/// and limiter in each way to wait, or every executor with tasks owes it. It fails until you have written it.
#[derive(Debug, Args)]
pub(super) struct New {
    /// What to begin
    #[arg(value_enum)]
    what: What,
    /// Its name
    name: String,
    /// The kind of an implementation [default: channel]
    #[arg(long, value_name = "KIND", value_parser = Beginning::parser())]
    of: Option<&'static Beginning>,
    /// The checkout [default: the one that contains this folder]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// An implementation of ours
    Implementation,
    /// A workload with parameters
    Scenario,
    /// A statement, checked on every implementation of its kind
    Property,
}

impl New {
    pub(super) fn run(self) -> Outcome {
        let root = match &self.root {
            Some(root) => root.clone(),
            None => checkout(
                ", or name it with --root (a crate of your own begins as suites/examples/template does)",
            )?,
        };
        let mut draft = Draft::of(&root);
        let next = self.begun(&mut draft)?;
        let mut output = Output::default();
        for (path, text) in &draft.files {
            let path = root.join(path);
            let folder = path.parent().expect("a file has a folder");
            let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
            written.map_err(|why| Failure::write(&path, &why))?;
            output.line(&path.display().to_string());
        }
        output.line(&next);
        Ok(ExitCode::SUCCESS)
    }

    /// Drafts every file to be written, and returns the next steps.
    fn begun(&self, draft: &mut Draft) -> Result<String, Failure> {
        match (self.what, self.of) {
            (What::Implementation, of) => {
                implementation(draft, &self.name, of.unwrap_or(&BEGINNINGS[0]))
            }
            (What::Scenario, None) => scenario(draft, &self.name),
            (What::Property, None) => property(draft, &self.name),
            (_, Some(of)) => Err(Failure::input(format!(
                "--of {}: the name of a scenario or a property determines its kind; leave --of out",
                of.kind
            ))),
        }
    }
}

/// Files of a checkout as they will be, by their paths in it.
struct Draft<'a> {
    root: &'a Path,
    files: Vec<(String, String)>,
}

impl Draft<'_> {
    fn of(root: &Path) -> Draft<'_> {
        Draft {
            root,
            files: Vec::new(),
        }
    }

    /// The current text of a file.
    fn read(&self, path: &str) -> Result<String, Failure> {
        let here = self.root.join(path);
        let drafted = self.files.iter().find(|(other, _)| other == path);
        drafted
            .map_or_else(|| fs::read_to_string(&here), |(_, text)| Ok(text.clone()))
            .map_err(|why| {
                Failure::input(format!(
                    "{}: {why}; name a checkout of Flowmeter with --root",
                    here.display()
                ))
            })
    }

    /// A new file, which must not exist yet.
    fn create(&mut self, path: String, text: String) -> Result<(), Failure> {
        let here = self.root.join(&path);
        if here.exists() {
            return Err(taken(&here.display().to_string(), "is there already"));
        }
        self.files.push((path, text));
        Ok(())
    }

    /// Inserts text into a file of the checkout, after the first match.
    fn insert(&mut self, path: &str, behind: &str, new: &str) -> Result<(), Failure> {
        let text = self.read(path)?;
        let Some(place) = pattern(behind).find(&text) else {
            return Err(Failure::input(format!(
                "{}: the list to extend is not where this build expects it; extend it by hand, as CONTRIBUTING.md shows",
                self.root.join(path).display()
            )));
        };
        let (before, after) = text.split_at(place.end());
        let text = [before, new, after].concat();
        self.files.retain(|(other, _)| other != path);
        self.files.push((path.to_owned(), text));
        Ok(())
    }
}

/// Here `^` matches the beginning of a line.
fn pattern(pattern: &str) -> Regex {
    Regex::new(&format!("(?m){pattern}")).expect("a pattern")
}

/// Refuses a name that does not match the pattern.
fn made_so(name: &str, of: &str, how: &str) -> Result<(), Failure> {
    match Regex::new(of).expect("a pattern").is_match(name) {
        true => Ok(()),
        false => Err(Failure::input(format!("'{name}': a name is {how}"))),
    }
}

/// Why a name is taken.
fn taken(name: &str, why: &str) -> Failure {
    Failure::input(format!("{name}: {why}; choose another name"))
}

/// Its file, its module, its line in the registry and its row in the table of capabilities.
fn implementation(draft: &mut Draft, name: &str, of: &Beginning) -> Result<String, Failure> {
    const REGISTRY: &str = "impls/src/registry.rs";
    const TABLE: &str = "impls/tests/capabilities.rs";
    made_so(
        name,
        "^[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*$",
        "small letters and digits in words with _ between them, such as ring or two_locks",
    )?;
    let capital = |part: &str| part[..1].to_ascii_uppercase() + &part[1..];
    let family: String = name.split('_').map(capital).collect();
    let kind = of.kind;
    let modules = format!("impls/src/{kind}/mod.rs");
    let says = |text: &str, what: &str| pattern(what).is_match(text);
    // As a path or a type begins: not where a trait names an associated type, `type Sleep = Heap`.
    let names = |text: &str| says(text, &format!(r"^[^/\n]*\b{family}\b( [^=]|[^ ])"));
    // Names are unique over all kinds, modules in their folder, types in the registry.
    let is_there = says(&draft.read(TABLE)?, &format!(r#"\(\s*"{name}",\s*Origin"#))
        || says(&draft.read(&modules)?, &format!(r"\bmod {name};"));
    let manifest: toml::Table = draft.read("impls/Cargo.toml")?.parse().unwrap_or_default();
    let crates = manifest.get("dependencies").and_then(|it| it.as_table());
    let mut crates = crates.into_iter().flat_map(toml::Table::keys);
    let is_crate = ["std", "core", "alloc"].contains(&name)
        || crates.any(|other| other.replace('-', "_") == name);
    let reasons = [
        (is_there, "is there already".to_owned()),
        (
            is_crate,
            "is a crate, and paths that begin with it would mean the new module".to_owned(),
        ),
        (
            KEYWORDS.split(' ').any(|word| word == name),
            "is a word of Rust itself".to_owned(),
        ),
        (
            PRELUDE.split(' ').any(|word| word == family),
            format!("its type would be {family}, a name of Rust itself"),
        ),
        (
            names(of.implementation),
            format!("its type would be {family}, a name in what every {kind} begins with"),
        ),
        (
            names(&draft.read(REGISTRY)?),
            format!("its type would be {family}, which {REGISTRY} names already"),
        ),
    ];
    if let Some((_, why)) = reasons.iter().find(|(is_so, _)| *is_so) {
        return Err(taken(name, why));
    }
    let text = of.implementation.replace("TYPE", &family);
    draft.create(
        format!("impls/src/{kind}/{name}.rs"),
        text.replace("NAME", name),
    )?;
    draft.insert(&modules, MODULES, &format!("pub mod {name};\n"))?;
    let named = format!("use crate::{kind}::{name}::{family};\n");
    draft.insert(REGISTRY, r"(?s:.*)^use crate::.*;\n", &named)?;
    let body = format!(r"fn {kind}s<V: Visitor>\(self, visitor: &mut V\) \{{\n((        .*)?\n)*");
    let offers = of.offers;
    let entry = format!("        own::<{family}, _>(visitor, \"{name}\"){offers}.enter();\n");
    draft.insert(REGISTRY, &body, &entry)?;
    let row = format!("    (\"{name}\", Origin::Own, \"{}\"),\n", of.has);
    let last_row = format!(r#""{}",(?s:.*?)\),\n"#, of.last);
    draft.insert(TABLE, &last_row, &row)?;
    Ok(format!(
        "next: cargo fmt --all, write it, and ask cargo flowmeter check -i '^{name}$'"
    ))
}

/// Its file, and its line in the list of compiled-in scenarios.
fn scenario(draft: &mut Draft, name: &str) -> Result<String, Failure> {
    made_so(
        name,
        "^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$",
        "the folder and the file, in small letters, digits and dashes, such as channels/my-load",
    )?;
    let (group, _) = name.split_once('/').expect("a name has a folder");
    let of = Beginning::of_group(group).ok_or_else(|| {
        Failure::input(format!(
            "{name}: scenarios of channels, timers, limiters and executors begin here; those of {group} begin as a copy of \
             their neighbour in suites/scenarios"
        ))
    })?;
    let text = of.scenario_in(group);
    draft.create(format!("suites/scenarios/{name}.toml"), text)?;
    let list = "suites/workloads/src/scenario/curated.rs";
    let text = draft.read(list)?;
    let names = text.lines().filter_map(|line| line.strip_prefix("    \""));
    let before = names
        .filter_map(|line| line.strip_suffix("\","))
        .rfind(|other| *other < name);
    let behind = match before {
        Some(other) => format!("^    \"{other}\",\n"),
        None => r"^built_in!\[\n".to_owned(),
    };
    draft.insert(list, &behind, &format!("    \"{name}\",\n"))?;
    Ok(format!(
        "next: say what it isolates, and run cargo flowmeter measure -s '^{name}$' --quick"
    ))
}

/// Its file, its module, its line in the list of properties, and its name in the row of its statement.
fn property(draft: &mut Draft, name: &str) -> Result<String, Failure> {
    made_so(
        name,
        "^[cbatlg][0-9]+(-[a-z][a-z0-9]*)+$",
        "the id of a statement on channels (c, b or a and its number), timers (t), limiters (l) or executors (g) and \
         words, such as c3-never-over; those of other kinds begin as a copy of their neighbour in suites/properties/src",
    )?;
    let of = Beginning::of_letter(&name[..1]).expect("a letter of some kind");
    let (id, _) = name.split_once('-').expect("a name has words");
    let statement = id.to_ascii_uppercase();
    let semantics = draft.read(STATEMENTS)?;
    if semantics.contains(&format!("`{name}`")) {
        return Err(taken(name, "is there already"));
    }
    owed_by_all(&semantics, &statement, of)
        .map_err(|why| Failure::input(format!("{name}: {why}")))?;
    let module = name.replace('-', "_");
    let path = of.module;
    let folder = format!("suites/properties/src/{}", path.replace("::", "/"));
    let (declares, modules) = match path {
        "" => ("mod", "lib.rs"),
        _ => ("pub(super) mod", "mod.rs"),
    };
    // In quotes: forms have a NAME of their own.
    let text = of.property.replace("\"NAME\"", &format!("\"{name}\""));
    let text = text.replace("ID", &statement);
    draft.create(format!("{folder}{module}.rs"), text)?;
    draft.insert(
        &format!("{folder}{modules}"),
        MODULES,
        &format!("{declares} {module};\n"),
    )?;
    // Tables show the properties of a statement together.
    draft.insert(
        "suites/properties/src/lib.rs",
        &format!(r"(?s:.*)^    &{path}{id}_\w+::PROPERTY,\n"),
        &format!("    &{path}{module}::PROPERTY,\n"),
    )?;
    let row = format!(r"^\| {statement} \| property \|[^|]*\|[^|]*[^| ]");
    draft.insert(STATEMENTS, &row, &format!(", `{name}`"))?;
    Ok(format!(
        "next: cargo fmt --all, write what has to hold, and ask cargo flowmeter check -p '^{name}$'"
    ))
}

/// Whether all of that kind owe the statement, as a new property requires. Otherwise the reason.
fn owed_by_all(semantics: &str, id: &str, of: &Beginning) -> Result<(), String> {
    let kind = of.kind;
    let row = pattern(&format!(r"^\| {id} \| (.*?) \| (.*?) \|")).captures(semantics);
    let Some((_, [held_by, owed_by])) = row.map(|row| row.extract()) else {
        return Err(format!(
            "{STATEMENTS} has no statement {id}; state it there first, and give it a row in the table"
        ));
    };
    if held_by != "property" {
        return Err(format!(
            "the row of {id} in {STATEMENTS} says {held_by}, not property; choose another statement, or say so there first"
        ));
    }
    if !owed_by.starts_with(&format!("every {kind}")) {
        return Err(format!(
            "{id} is not owed by every {kind} but has in its row in {STATEMENTS}: {owed_by}; begin with a copy of its \
             neighbour in suites/properties/src"
        ));
    }
    Ok(())
}
