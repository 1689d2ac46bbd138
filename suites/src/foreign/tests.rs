//! Folders of implementations written in shell: which are found, what each runs, and the errors.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::scenario::built_in;

/// A folder of folders, each with its manifest.
fn folders(manifests: &[(&str, &str)]) -> TempDir {
    let above = TempDir::new().unwrap();
    for (name, manifest) in manifests {
        let folder = above.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(manifest::FILE), manifest).unwrap();
    }
    above
}

/// One implementation of a language that reports that version, as a shell script.
fn says(version: &str, name: &str) -> String {
    format!(
        r#"
[[language]]
start = ["sh", "-c", "{version}"]

[[language.contestant]]
name = "{name}"
kind = "channel"
offers = ["blocking"]
runs = [{{ workload = "stream", form = "blocking", buffer = ["fixed", "rendezvous"], message = "8B", consumers = 1 }}]
"#
    )
}

#[test]
fn an_implementation_with_a_version_takes_part_and_one_without_is_reported() {
    let manifests = [
        ("one", says("echo shell 1.2", "here")),
        (
            "two",
            says("echo no such thing is installed >&2; exit 1", "gone"),
        ),
        ("three", says("exit 0", "silent")),
        ("four", says("echo 1; echo 2", "talker")),
        ("five", says("printf %099d 1", "endless")),
    ];
    let manifests = manifests.each_ref().map(|(name, it)| (*name, it.as_str()));
    let above = folders(&manifests);
    let found = Foreigners::find(Wanted::Auto, Some(above.path())).unwrap();
    let implementation: Vec<_> = found.implementations().collect();
    assert_eq!(implementation.len(), 1);
    assert_eq!(
        (implementation[0].name, &*implementation[0].version),
        ("here", "shell 1.2")
    );
    assert_eq!(found.missing().len(), 4);
    let told = found.missing().join("\n");
    assert!(told.contains("no such thing is installed"), "{told}");
    let missing = Foreigners::find(Wanted::Require, Some(above.path())).unwrap_err();
    assert!(missing.to_string().starts_with("--foreign require: "));
    let off = Foreigners::find(Wanted::Off, Some(above.path())).unwrap();
    assert_eq!(off.implementations().count(), 0);
}

#[test]
fn requiring_implementations_without_any_is_refused() {
    let above = TempDir::new().unwrap();
    assert!(Foreigners::find(Wanted::Auto, Some(above.path())).is_ok());
    let none = Foreigners::find(Wanted::Require, Some(above.path())).unwrap_err();
    assert!(
        none.to_string().contains("no implementation is in"),
        "{none}"
    );
}

#[test]
fn a_manifest_says_which_scenarios_are_run() {
    let above = folders(&[("one", &says("echo 1", "here"))]);
    let found = Foreigners::find(Wanted::Auto, Some(above.path())).unwrap();
    let scenarios = built_in();
    let runs = found.scenarios_of("here", &scenarios);
    for able in [
        "channels/spsc-64",
        "channels/spsc-rendezvous",
        "channels/mpsc-64",
    ] {
        assert!(runs.contains(able), "{able}: {runs:?}");
    }
    for unable in [
        "channels/spsc-unbounded",
        "channels/mpmc-64",
        "channels/spsc-64-512b",
        "channels-async/spsc-64",
        "channels/ping-pong",
    ] {
        assert!(!runs.contains(unable), "{unable}");
    }
}

#[test]
fn a_short_pass_has_some_of_each_group_and_not_too_many() {
    let manifest = r#"
[[language]]
start = ["sh", "-c", "echo 1"]
[[language.contestant]]
name = "all"
kind = "channel"
runs = [{ workload = "stream" }, { workload = "alts" }, { workload = "timer-churn" }]
[[language.contestant]]
name = "alts"
kind = "channel"
runs = [{ workload = "alts" }]
"#;
    let above = folders(&[("one", manifest)]);
    let found = Foreigners::find(Wanted::Auto, Some(above.path())).unwrap();
    let scenarios = built_in();
    let afforded = |cells| found.affordable(&scenarios, cells, |_, _| true);
    let groups = afforded(6);
    let groups: BTreeSet<&str> = groups.iter().map(ScenarioSpec::group).collect();
    for group in ["alts", "channels", "channels-async", "timers"] {
        assert!(groups.contains(group), "{groups:?}");
    }
    assert!(afforded(6).len() < afforded(60).len());
    assert!(afforded(0).is_empty());
}

#[test]
fn what_is_wrong_with_a_manifest_is_said_with_its_place() {
    let named = |name: &str| says("echo 1", name);
    for (manifest, part) in [
        ("[[language]]\nbegin = 1", "contestants.toml:2: "),
        ("[[language]]\nstart = []", "names no program"),
        (
            &named("x").replace("\"channel\"", "\"canal\""),
            "no kind `canal`",
        ),
        (
            &named("x").replace("[\"blocking\"]", "[\"blocks\"]"),
            "no capability `blocks`",
        ),
    ] {
        let above = folders(&[("one", manifest)]);
        let why = Foreigners::find(Wanted::Auto, Some(above.path())).unwrap_err();
        assert!(why.to_string().contains(part), "{why}");
    }
    let above = folders(&[("one", &named("x")), ("two", &named("x"))]);
    let why = Foreigners::find(Wanted::Auto, Some(above.path())).unwrap_err();
    assert!(why.to_string().contains("takes part twice"), "{why}");
}

#[test]
fn whatever_the_manifests_of_this_checkout_say_some_scenario_asks_for() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(FOLDER);
    let scenarios = built_in();
    let mut count = 0;
    for manifest in manifest::read_all(&folder).unwrap() {
        for stated in manifest.languages.iter().flat_map(|(_, stated)| stated) {
            for runs in &stated.runs {
                let asked_for = scenarios.iter().any(|scenario| runs.has(scenario));
                assert!(asked_for, "{}: {runs:?}", stated.name);
            }
            count += 1;
        }
    }
    assert!(count > 20, "{count} implementations");
}
