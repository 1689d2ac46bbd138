//! The dependencies between the packages, and the one place that names implementations.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("suites is in the workspace")
        .to_owned()
}

fn manifest(room: &str) -> toml::Table {
    let path = root().join(room).join("Cargo.toml");
    fs::read_to_string(&path)
        .expect("a manifest")
        .parse()
        .expect("TOML")
}

/// The dependencies of a package for its build, our own packages only.
fn arrows(room: &str) -> BTreeSet<String> {
    let manifest = manifest(room);
    let dependencies = manifest["dependencies"].as_table().expect("a table");
    dependencies
        .keys()
        .filter_map(|name| name.strip_prefix("flowmeter-"))
        .map(str::to_owned)
        .collect()
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                sources(&path, into);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn the_harness_knows_no_other_room() {
    assert_eq!(arrows("harness"), BTreeSet::new());
}

#[test]
fn the_engine_knows_only_the_harness_and_the_record_schema() {
    let known = BTreeSet::from(["harness", "records"].map(str::to_owned));
    assert_eq!(arrows("harness/measure"), known);
    let known = BTreeSet::from(["harness".to_owned()]);
    assert_eq!(arrows("harness/records"), known);
}

/// Crates of others depend on it, and should compile nothing else of the project.
#[test]
fn what_checks_other_structures_knows_only_the_harness() {
    let known = BTreeSet::from(["harness".to_owned()]);
    assert_eq!(arrows("harness/linearizable"), known);
}

#[test]
fn implementations_and_their_twins_know_only_the_harness() {
    for room in ["impls", "impls/loom", "impls/shuttle"] {
        assert_eq!(
            arrows(room),
            BTreeSet::from(["harness".to_owned()]),
            "{room}"
        );
    }
}

/// Nothing that checks or times comes with the library.
#[test]
fn the_library_knows_only_the_implementations_and_the_harness() {
    let known = BTreeSet::from(["harness", "impls"].map(str::to_owned));
    assert_eq!(arrows("impls/library"), known);
    let manifest = manifest("impls/library");
    for (name, dependency) in manifest["dependencies"].as_table().expect("a table") {
        let features = dependency.get("features");
        assert!(features.is_none(), "{name}: {features:?}");
    }
}

/// The library's own page is a documentation test; this one is a copy.
#[test]
fn the_readme_shows_an_example_that_is_compiled() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("a page");
    let readme = read("README.md");
    let example = readme.split("```rust").nth(1).expect("an example");
    let example = example.split("```").next().expect("its end");
    assert!(
        read("impls/library/README.md").contains(example),
        "{example}"
    );
}

#[test]
fn reports_need_only_the_record_schema() {
    let known = BTreeSet::from(["harness", "records"].map(str::to_owned));
    assert_eq!(arrows("reports/statistics"), known);
    let known = BTreeSet::from(["harness", "records", "statistics"].map(str::to_owned));
    assert_eq!(arrows("reports"), known);
    for room in ["reports", "reports/statistics"] {
        let harness = &manifest(room)["dependencies"]["flowmeter-harness"];
        assert!(harness.get("features").is_none(), "{room}: {harness}");
    }
}

#[test]
fn suites_know_no_implementation() {
    let known = [
        "harness",
        "measure",
        "properties",
        "records",
        "reports",
        "workloads",
    ];
    assert_eq!(arrows("suites"), BTreeSet::from(known.map(str::to_owned)));
    let known = BTreeSet::from(["harness", "measure", "records"].map(str::to_owned));
    assert_eq!(arrows("suites/properties"), known);
    assert_eq!(arrows("suites/workloads"), known);
}

/// The one dev-dependency of a crate outside: no model of ours, and what is timed, or explored by loom, only where it is
/// asked for.
#[test]
fn the_plugin_compiles_no_model_of_ours() {
    let always = ["harness", "impls", "impls-shuttle", "suites"];
    let asked_for = ["impls-loom", "timed"];
    let known = always.into_iter().chain(asked_for).map(str::to_owned);
    assert_eq!(arrows("suites/plugin"), known.collect());
    let manifest = manifest("suites/plugin");
    for name in asked_for {
        let dependency = &manifest["dependencies"][format!("flowmeter-{name}")];
        assert_eq!(dependency["optional"].as_bool(), Some(true), "{name}");
    }
}

/// rustc reuses upstream monomorphizations: a crate that depends on the models would time their unoptimised copies.
#[test]
fn what_is_timed_has_no_model_below_it() {
    let known = arrows("suites/timed");
    let expected = BTreeSet::from(["impls".to_owned(), "workloads".to_owned()]);
    assert_eq!(known, expected);
    assert!(!arrows("suites/command").contains("timed"));
    assert!(!arrows("suites/bench").contains("models"));
}

#[test]
fn without_features_the_harness_and_the_implementations_pull_in_nothing_else() {
    for room in ["harness", "impls"] {
        let manifest = manifest(room);
        for (name, dependency) in manifest["dependencies"].as_table().expect("a table") {
            let optional = dependency.get("optional").and_then(toml::Value::as_bool) == Some(true);
            assert!(
                optional || name == "flowmeter-harness",
                "{room} always depends on {name}"
            );
        }
    }
}

#[test]
fn every_shared_dependency_says_why_it_is_there() {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace's manifest");
    let section = text
        .split("[workspace.dependencies]")
        .nth(1)
        .expect("dependencies");
    let section = section.split("\n[").next().expect("a section");
    let mut said = false;
    for line in section.lines().map(str::trim) {
        if line.is_empty() {
            said = false;
        } else if line.starts_with('#') {
            said = true;
        } else if !line.contains("path = ") {
            assert!(said || line.contains('#'), "no reason given for: {line}");
        }
    }
}

/// Modules beside the implementations that contain none: several of those share them.
const SHARED: [&str; 22] = [
    "channel::batch",
    "channel::boxed",
    "channel::by_name",
    "channel::callback",
    "channel::design",
    "channel::engine",
    "channel::family",
    "channel::front",
    "channel::halves",
    "channel::handle",
    "channel::notify",
    "channel::outlook",
    "channel::permits",
    "channel::promise",
    "channel::streams",
    "channel::trampoline",
    "channel::transformed",
    "channel::transforms",
    "channel::values",
    "channel::watchers",
    "timer::closing",
    "timer::contained",
];

/// Modules of `impls` that contain implementations, by their paths in code.
fn implementations() -> Vec<String> {
    let mut names = Vec::new();
    for folder in [
        "channel",
        "timer",
        "pipeline",
        "limiter",
        "executor",
        "combinator",
        "peers",
    ] {
        for entry in fs::read_dir(root().join("impls/src").join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let stem = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .expect("a name");
            let name = format!("{folder}::{stem}");
            if stem != "mod" && !SHARED.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names
}

#[test]
fn nothing_but_the_registry_names_an_implementation() {
    let implementations = implementations();
    assert!(implementations.len() >= 8, "{implementations:?}");
    let mut files = Vec::new();
    for room in ["harness", "impls/src", "suites", "reports"] {
        sources(&root().join(room), &mut files);
    }
    for file in files {
        // Tests name the implementations they test.
        let is_test = file
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        let is_registry = ["registry.rs", "registry/published.rs"]
            .iter()
            .any(|it| file.ends_with(Path::new("impls/src").join(it)));
        if is_test || is_registry {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source file");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        // So do examples in documentation.
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let text: String = text.lines().filter(is_code).collect();
        for implementation in &implementations {
            assert!(
                !text.contains(implementation.as_str()),
                "{} names {implementation}",
                file.display()
            );
        }
    }
}
