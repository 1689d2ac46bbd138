//! Scenario files: the built-in ones, and the errors of broken ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use flowmeter_records::Measure;
use flowmeter_suites::scenario::{
    BUILT_IN, ScenarioError, ScenarioSpec, built_in, from_folder, in_order, parse,
};

const GOOD: &str = r#"title = "One to one"
why = "Because."
workload = "stream"

[params]
producers = 1
consumers = 1
buffer = { fixed = 64 }
message = "8B"
form = "blocking"
"#;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios"))
}

fn refusal(text: &str) -> String {
    let refused = parse("channels/x", Path::new("channels/x.toml"), text);
    refused.expect_err("is broken").to_string()
}

/// The refusal of [`GOOD`] with one text replaced.
fn refusal_with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    refusal(&GOOD.replace(from, to))
}

#[test]
fn what_is_built_in_is_what_lies_in_the_folder() {
    let there = from_folder(folder()).expect("all are well-formed");
    let there: BTreeSet<&str> = there.iter().map(|s| s.name.as_str()).collect();
    let built_in: BTreeSet<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
    assert_eq!(there, built_in);
}

#[test]
fn the_curated_set_is_ordered_and_small_enough() {
    let all = built_in();
    let order: Vec<u32> = all.iter().filter_map(|s| s.priority).collect();
    assert!((26..=50).contains(&order.len()), "{}", order.len());
    assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{order:?}");
    let curated: Vec<bool> = all.iter().map(|s| s.priority.is_some()).collect();
    assert!(curated.is_sorted_by(|a, b| a >= b), "curated ones first");
}

#[test]
fn every_scenario_says_why_in_a_paragraph() {
    for scenario in built_in() {
        let words = scenario.why.split_whitespace().count();
        assert!((35..=120).contains(&words), "{}: {words}", scenario.name);
        let file = folder().join(&scenario.name).with_extension("toml");
        let lines = fs::read_to_string(file)
            .expect("lies there")
            .lines()
            .count();
        assert!((10..=20).contains(&lines), "{}: {lines}", scenario.name);
    }
}

#[test]
fn a_scenario_survives_the_way_to_a_child() {
    for scenario in built_in() {
        let line = serde_json::to_string(&scenario).expect("serialises");
        let back: ScenarioSpec = serde_json::from_str(&line).expect("is a scenario");
        assert_eq!(back, scenario);
    }
}

#[test]
fn records_tell_group_parameters_and_axes() {
    let all = built_in();
    let named = |name: &str| all.iter().find(|s| s.name == name).expect("built in");
    let stream = named("channels/mpmc-64").record();
    assert_eq!(stream.group, "channels");
    assert_eq!(stream.measure, Measure::Throughput);
    assert_eq!(stream.params["buffer"], "fixed(64)");
    assert_eq!(stream.params["workload"], "stream");
    assert_eq!(stream.axes.family, "stream/blocking");
    assert_eq!(stream.axes.producers, Some(4));
    assert_eq!(stream.axes.capacity, Some(64));
    let rendezvous = named("channels/spsc-rendezvous").record();
    assert_eq!(rendezvous.params["buffer"], "rendezvous");
    assert_eq!(rendezvous.axes.capacity, Some(0));
    let unbounded = named("channels/spsc-unbounded").record();
    assert!(unbounded.axes.unbounded && unbounded.axes.capacity.is_none());
    let alts = named("alts/eight-default").record();
    assert_eq!((alts.group.as_str(), alts.axes.width), ("alts", Some(8)));
    assert_eq!((alts.measure, alts.unit.as_str()), (Measure::Cost, "ns"));
}

#[test]
fn scenarios_of_one_family_differ_along_the_axes() {
    let mut seen = BTreeSet::new();
    for scenario in built_in() {
        let record = scenario.record();
        let axes = format!("{} {:?}", record.group, record.axes);
        assert!(
            seen.insert(axes),
            "{} stands where another does",
            scenario.name
        );
    }
}

#[test]
fn a_well_formed_file_is_read() {
    assert!(parse("channels/x", Path::new("x.toml"), GOOD).is_ok());
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_what_was_expected() {
    let said = refusal_with("producers = 1", "producres = 1");
    assert!(
        said.starts_with("channels/x.toml:6: `producres`: unknown field"),
        "{said}"
    );
    assert!(said.contains("expected one of `producers`"), "{said}");
    let said = refusal_with("title =", "titel =");
    assert!(
        said.starts_with("channels/x.toml:1: `titel`: unknown field"),
        "{said}"
    );
}

#[test]
fn a_missing_key_is_named() {
    let said = refusal_with("message = \"8B\"\n", "");
    assert!(
        said.starts_with("channels/x.toml:5: `params`: missing field `message`"),
        "{said}"
    );
    let said = refusal_with("why = \"Because.\"\n", "");
    assert!(said.contains("missing field `why`"), "{said}");
}

#[test]
fn an_unknown_workload_is_answered_with_the_known_ones() {
    let said = refusal_with("\"stream\"", "\"steam\"");
    assert!(
        said.starts_with("channels/x.toml:3: `workload`: unknown variant `steam`"),
        "{said}"
    );
    assert!(said.contains("`ping-pong`"), "{said}");
}

#[test]
fn absurd_numbers_are_refused_with_their_bounds() {
    for (from, to, line, expected) in [
        (
            "producers = 1",
            "producers = 0",
            6,
            "expected a number from 1 to 1024, not 0",
        ),
        (
            "producers = 1",
            "producers = 1025",
            6,
            "expected a number from 1 to 1024, not 1025",
        ),
        (
            "consumers = 1",
            "consumers = -3",
            7,
            "expected a number from 1 to 1024, not -3",
        ),
        (
            "fixed = 64",
            "fixed = 0",
            8,
            "expected a number from 1 to 1048576, not 0",
        ),
    ] {
        let said = refusal_with(from, to);
        let begins = format!("channels/x.toml:{line}: ");
        assert!(said.starts_with(&begins), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn threads_are_a_number_or_a_share_of_the_cores() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let text = GOOD.replace("producers = 1", "producers = \"half-cores\"");
    let spec = parse("channels/x", Path::new("x.toml"), &text).expect("it is well-formed");
    assert_eq!(spec.record().axes.producers, Some((cores / 2).max(1)));
    let said = refusal_with("producers = 1", "producers = \"all\"");
    assert!(
        said.contains(r#"expected a number, "cores" or "half-cores", not "all""#),
        "{said}"
    );
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    let said = refusal_with("producers = 1", "producers = \"many\"");
    assert!(
        said.starts_with("channels/x.toml:6: `producers`: expected a number, \"cores\""),
        "{said}"
    );
    let said = refusal_with("\"8B\"", "\"9B\"");
    assert!(
        said.contains("`message`: unknown variant `9B`, expected one of `8B`"),
        "{said}"
    );
    let said = refusal_with("{ fixed = 64 }", "\"bounded\"");
    assert!(
        said.contains("`buffer`: unknown variant `bounded`"),
        "{said}"
    );
    let said = refusal_with("\"Because.\"", "\" \"");
    assert!(
        said.starts_with("channels/x.toml:2: `why`: expected a sentence"),
        "{said}"
    );
    for form in ["async", "mixed"] {
        let said = refusal(&GOOD.replace("blocking", form).replace("8B", "512B"));
        assert!(
            said.starts_with("channels/x.toml:9: `message`: expected `8B`"),
            "{said}"
        );
    }
    let said = refusal(&GOOD.replace("blocking", "callback"));
    assert!(
        said.starts_with("channels/x.toml:10: `form`: expected `blocking`"),
        "{said}"
    );
}

#[test]
fn what_is_no_toml_is_refused_with_its_line() {
    let said = refusal_with("workload = \"stream\"", "workload = ");
    assert!(said.starts_with("channels/x.toml:3: "), "{said}");
    assert!(!said.contains('\n'), "one sentence: {said}");
}

#[test]
fn scenarios_are_read_from_a_folder_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("alts")).expect("made");
    fs::write(folder.path().join("alts/mine.toml"), GOOD).expect("written");
    let read = from_folder(folder.path()).expect("well-formed");
    assert_eq!(read[0].name, "alts/mine");
    assert_eq!(read[0].group(), "alts");
    fs::write(folder.path().join("alts/broken.toml"), "x").expect("written");
    let said = from_folder(folder.path()).expect_err("broken").to_string();
    assert!(said.contains("broken.toml:1: "), "{said}");
}

#[test]
fn folders_without_scenarios_and_no_folders_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = from_folder(folder.path());
    assert!(matches!(empty, Err(ScenarioError::Empty { .. })));
    let nowhere = from_folder(&folder.path().join("nowhere"));
    assert!(matches!(nowhere, Err(ScenarioError::Io { .. })));
}

#[test]
fn two_scenarios_of_one_name_are_an_error() {
    let one = built_in().remove(0);
    let twice = in_order(vec![one.clone(), one]);
    let said = twice.expect_err("twice").to_string();
    assert!(said.contains("`channels/spsc-64`"), "{said}");
}

#[test]
fn contributors_are_told_of_every_workload_and_its_parameters() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let text = root
        .expect("suites is in the workspace")
        .join("CONTRIBUTING.md");
    let text = fs::read_to_string(text).expect("it stands beside the rooms");
    for scenario in built_in() {
        let work = serde_json::to_value(&scenario.work).expect("plain data");
        let workload = format!("`{}`", work["workload"].as_str().expect("a name"));
        let row = text
            .lines()
            .find(|line| line.starts_with('|') && line.contains(&workload));
        let row = row.unwrap_or_else(|| panic!("CONTRIBUTING.md does not tell of {workload}"));
        for key in work["params"].as_object().expect("a table").keys() {
            assert!(row.contains(&format!("`{key}`")), "{workload}: {key}");
        }
    }
}
