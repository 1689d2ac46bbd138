//! Writes two files into the build folder: a copy of our sources in which every mutant can be switched on, and the list
//! of mutants. `src/mutants/mod.rs` documents mutants.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::edit::{Edit, applied, find};

/// The folders with sources that mutants may edit. `FILES` are the single files that the copy needs too.
const ROOMS: [&str; 6] = [
    "channel",
    "timer",
    "pipeline",
    "limiter",
    "executor",
    "combinator",
];
const FILES: [&str; 3] = ["own_thread.rs", "registry.rs", "spin.rs"];

/// A file of `src/mutants`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    family: String,
    models: String,
    #[serde(default)]
    killed_by: Vec<String>,
    #[serde(default)]
    equivalent: bool,
    #[serde(default)]
    sequential: bool,
    edit: Vec<Change>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    file: String,
    after: Option<String>,
    instead_of: String,
    write: String,
}

pub fn write() {
    let sources = crate::impls().join("src");
    println!("cargo::rerun-if-changed={}", sources.display());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names it to build scripts"));
    let copy = out.join("mutants");
    let described = described(&sources.join("mutants"));

    let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
    for room in ROOMS {
        collect(&sources, &sources.join(room), &mut files);
    }
    for file in FILES {
        files.insert(file.into(), read(&sources.join(file)));
    }
    let mut edits: BTreeMap<&str, Vec<Edit>> = BTreeMap::new();
    for (number, (name, mutant)) in described.iter().enumerate() {
        for change in &mutant.edit {
            let source = files.get(Path::new(&change.file)).unwrap_or_else(|| {
                panic!("mutant {name}: there is no file {} to edit", change.file)
            });
            let at = find(source, change.after.as_deref(), &change.instead_of)
                .unwrap_or_else(|why| panic!("mutant {name}: in {} {why}", change.file));
            let by = change.write.clone();
            // 0 stands for no mutant.
            let mutant = number + 1;
            edits
                .entry(&change.file)
                .or_default()
                .push(Edit { mutant, at, by });
        }
    }
    for (path, source) in &files {
        let here = edits
            .remove(path.to_str().expect("our names are plain"))
            .unwrap_or_default();
        let text = applied(source, &here)
            .unwrap_or_else(|why| panic!("{}: {why}; edited by mutants", path.display()));
        save(&copy.join(path), &moved(&text));
    }
    remove_others(&copy, &files);
    save(&out.join("mutants.rs"), &list(&copy, &described));
}

/// Removes files that an earlier build has left of sources that are gone. A module that has become a folder would be
/// found twice.
fn remove_others(copy: &Path, files: &BTreeMap<PathBuf, String>) {
    let mut there = BTreeMap::new();
    collect(copy, copy, &mut there);
    for path in there.keys().filter(|path| !files.contains_key(*path)) {
        let path = copy.join(path);
        fs::remove_file(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
}

/// Every description, with the name of its mutant: the base, which is the name of its folder, and its own name.
fn described(folder: &Path) -> Vec<(String, Described)> {
    let mut files = BTreeMap::new();
    collect(folder, folder, &mut files);
    let of = |(path, text): (PathBuf, String)| {
        let name = path.with_extension("").to_str()?.replace(['/', '_'], "-");
        let base = path.parent()?.to_str()?.to_owned();
        (path.extension()? == "toml").then(|| {
            let mutant =
                toml::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            (format!("{base}/{name}"), mutant)
        })
    };
    files.into_iter().filter_map(of).collect()
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder of the sources can be read").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("it is inside").to_owned();
            files.insert(name, read(&path));
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Writes the file only if it has changed, so that it is not compiled again for nothing.
fn save(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .unwrap_or_else(|why| panic!("{}: {why}", path.display()));
}

/// The source, adapted to the place of the copy: it refers to other copies, and uses no published crate.
fn moved(source: &str) -> String {
    source
        .replace("crate::", "crate::mutants::copy::")
        .replace("crate::mutants::copy::mutants::", "crate::mutants::")
        .replace("feature = \"peers\"", "any()")
}

/// The text that `src/mutants/mod.rs` includes.
fn list(copy: &Path, described: &[(String, Described)]) -> String {
    let mut text = "/// The sources of ours, with every mutant in them.\n#[allow(warnings, clippy::all)]\n#[doc(hidden)]\npub mod copy {\n    use crate::sync;\n".to_owned();
    let files = FILES.map(|file| file.trim_end_matches(".rs"));
    for (module, file) in (ROOMS
        .map(|room| (room, format!("{room}/mod.rs")))
        .into_iter())
    .chain(files.map(|module| (module, format!("{module}.rs"))))
    {
        let _ = writeln!(
            text,
            "    #[path = {:?}]\n    pub mod {module};",
            copy.join(file)
        );
    }
    text.push_str("}\n\n/// Every mutant, in the order of their numbers, which begin with 1.\npub static ALL: &[Mutant] = &[\n");
    for (name, mutant) in described {
        let (base, name) = name.rsplit_once('/').expect("it was put together so");
        let Described {
            family,
            models,
            killed_by,
            equivalent,
            sequential,
            ..
        } = mutant;
        let models = models.trim();
        let _ = writeln!(
            text,
            "    Mutant {{ name: {name:?}, base: {base:?}, family: {family:?}, models: {models:?}, killed_by: &{killed_by:?}, equivalent: {equivalent}, sequential: {sequential} }},"
        );
    }
    text.push_str("];\n");
    text
}
