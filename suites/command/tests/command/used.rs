//! A small real run and the output of every verb for it; readable help.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flowmeter_harness::caps::Kind;
use flowmeter_impls::registry::All;
use flowmeter_suites::catalogue::introduced;
use flowmeter_suites::proving::Effort;
use flowmeter_suites::proving::counterexample::FOLDER;

use crate::ground::{Ground, SMALL, assert_keys, rows};

const RANK: &[&str] = &[
    "group",
    "quantity",
    "implementation",
    "origin",
    "ratio_to_best",
    "lo",
    "hi",
    "tier",
    "verdict",
    "cells",
    "ranked",
    "checked",
];
const CMP: &[&str] = &[
    "scenario",
    "implementation",
    "origin",
    "median",
    "lo",
    "hi",
    "unit",
    "better",
    "ratio_to_best",
    "ratio_lo",
    "ratio_hi",
    "verdict",
    "error",
];
const DIFF: &[&str] = &[
    "scenario",
    "implementation",
    "unit",
    "better",
    "base",
    "new",
    "ratio",
    "ratio_lo",
    "ratio_hi",
    "drift",
    "verdict",
    "why",
];

#[test]
fn a_run_holds_what_was_asked_for() {
    let run = Ground::with_run().read_run();
    assert!(!run.torn);
    assert_eq!(
        (run.run.rounds, run.run.forks, run.run.window_nanos),
        (2, 1, 20_000_000)
    );
    let names: Vec<&str> = run.implementations.keys().map(String::as_str).collect();
    assert_eq!(names, ["mutex", "std-mpsc"]);
    // Two implementations, one of them twice, in two rounds.
    assert_eq!(run.windows.len() + 2 * run.failures.len(), 6);
    assert_eq!(run.rounds.len(), 2);
    for (name, worlds) in [("mutex", &["std", "shuttle"][..]), ("std-mpsc", &["std"])] {
        let its = run.proofs.iter().filter(|p| p.implementation == name);
        let proved: BTreeSet<&str> = its.map(|p| &*p.world).collect();
        assert_eq!(
            proved,
            worlds.iter().copied().collect(),
            "no proof, no number"
        );
    }
    let end = run.end.expect("it came to its end");
    assert_eq!(end.windows, run.windows.len() as u64);
}

#[test]
fn rank_and_cmp_tell_of_a_run_as_tables_and_json() {
    let ground = Ground::with_run();
    for verb in ["rank", "cmp"] {
        let table = ground.run(&[verb, "run"]).fine();
        for name in ["mutex", "std-mpsc", "channels"] {
            assert!(table.contains(name), "{table}");
        }
    }
    assert_keys(
        &ground.run(&["rank", "run", "--format", "json"]).fine(),
        RANK,
    );
    let output = ground.run(&["cmp", "run", "--format", "json"]).fine();
    assert_keys(&output, CMP);
    let medians = rows(&output);
    assert_eq!(medians.len(), 2);
    for row in medians {
        assert!(row["median"].as_f64().unwrap() > 0.0, "{row:?}");
        assert!(row["error"].is_null(), "{row:?}");
    }
    let one = ["rank", "run", "-i", "^mutex$"];
    let table = ground.run(&one).fine();
    assert!(
        table.contains("mutex") && !table.contains("std-mpsc"),
        "{table}"
    );
    let json = ground
        .run(&[&one[..], &["--format", "json"]].concat())
        .fine();
    assert_eq!(rows(&json).len(), 1);
}

#[test]
fn a_report_names_every_implementation_and_asks_the_network_for_nothing() {
    let ground = Ground::with_run();
    let said = ground.run(&["report", "run"]).fine();
    assert_eq!(
        said.trim(),
        Path::new("run").join("report.html").to_str().unwrap()
    );
    let page = ground.text("run/report.html");
    for name in ["mutex", "std-mpsc", "channels/spsc-64"] {
        assert!(page.contains(name), "{name}");
    }
    for request in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(request), "{request}");
    }
}

#[test]
fn medians_are_those_that_another_program_recomputes() {
    // The tests need only a Rust toolchain; without Python the other program is not compared.
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let ground = Ground::new();
    ground.run(&[SMALL, &["-o", "run"]].concat()).fine();
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scripts/recompute_medians"
    );
    let mut command = Command::new("python3");
    command
        .args([script, "--check", "run"])
        .current_dir(ground.path());
    let checked = command.output().unwrap();
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    assert_eq!(
        String::from_utf8_lossy(&checked.stdout),
        "2 cells, 0 differ\n"
    );
}

#[test]
fn a_torn_last_line_changes_nothing_that_is_said() {
    let ground = Ground::with_run();
    let ask = |verb| ground.run(&[verb, "run", "--format", "json"]).fine();
    let before = ["rank", "cmp"].map(ask);
    let records = OpenOptions::new()
        .append(true)
        .open(ground.at("run/records.jsonl"));
    records
        .unwrap()
        .write_all(b"{\"record\":\"window\",\"scen")
        .unwrap();
    assert!(ground.read_run().torn);
    assert_eq!(["rank", "cmp"].map(ask), before);
    ground.run(&["report", "run"]).fine();
}

#[test]
fn other_tools_are_handed_what_they_read() {
    let ground = Ground::with_run();
    let cmp = |format| ground.run(&["cmp", "run", "--format", format]).fine();
    let csv = cmp("csv");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.starts_with("scenario,implementation,"), "{csv}");
    let names = |format| -> Vec<String> {
        let entries: Vec<serde_json::Value> = serde_json::from_str(&cmp(format)).unwrap();
        let names = entries.iter().map(|entry| entry["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    let mut bigger = names("github-bigger");
    bigger.sort();
    let both =
        ["mutex", "std-mpsc"].map(|implementation| format!("channels/spsc-64/{implementation}"));
    assert_eq!(bigger, both);
    assert_eq!(names("github-smaller"), [""; 0]);
    let bencher: serde_json::Value = serde_json::from_str(&cmp("bencher")).unwrap();
    let value = &bencher[&both[0]]["messages/s"]["value"];
    assert!(value.as_f64().unwrap() > 0.0, "{bencher}");

    let check = ["check", "-i", "^condvar$", "-p", "^c2", "--budget", "0.1"];
    let junit = |file| [&check[..], &["--junit", file]].concat();
    ground.run(&junit("verdicts.xml")).fine();
    let xml = ground.text("verdicts.xml");
    assert!(xml.contains("name=\"condvar under std\""), "{xml}");
    for place in ["nowhere/verdicts.xml", "run"] {
        let parts = [&*format!("{place}: "), "that can be written"];
        ground.run(&junit(place)).refused(&parts);
    }
}

#[test]
fn diff_tells_what_changed_and_fails_where_it_is_asked_to() {
    let ground = Ground::with_run();
    let table = ground.run(&["diff", "run", "run", "--all"]).fine();
    for part in ["mutex", "2 cells: 2 not judged", "exploratory"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let fail_on = |base, new| ground.run(&["diff", base, new, "--fail-on", "regression"]);
    fail_on("run", "run").refused(&["--fail-on regression: ", "exploratory"]);

    let records = ground.text("run/records.jsonl");
    let thorough = records.replace("\"exploratory\":true", "\"exploratory\":false");
    let thorough = thorough.replace("\"forks\":1,", "\"forks\":5,");
    // Tests use an unoptimised build, which is never judged.
    let thorough = thorough.replace(",\"unoptimised\":true", "");
    let failure = r#"{"record":"failure","scenario":"channels/spsc-64","implementation":"mutex","placebo":false,"fork":0,"round":0,"kind":"hang","message":"no answer"}"#;
    ground.write("thorough/records.jsonl", &thorough);
    ground.write("failing/records.jsonl", format!("{thorough}{failure}\n"));
    // Two cells have no controls: then the comparison shows nothing.
    let silent = fail_on("thorough", "thorough").refused(&["2 of 2 cells not judged"]);
    assert!(
        silent.contains("no cell of code that is the same in both runs"),
        "{silent}"
    );
    let one = ["diff", "failing", "thorough", "-i", "^std-mpsc$"];
    let one = ground.run(&[&one[..], &["--fail-on", "regression"]].concat());
    one.refused(&["1 of 1 cell not judged"]);
    let gained = fail_on("failing", "thorough");
    assert!(
        gained.errors.contains("1 of 2 cells not judged"),
        "{gained:?}"
    );
    gained.fine();
    let lost = fail_on("thorough", "failing");
    assert_eq!(lost.code, Some(1), "{lost:?}");
    for part in ["lost: hung: no answer", "1 lost their number"] {
        assert!(lost.output.contains(part), "{part}: {lost:?}");
    }

    let output = ground.run(&["diff", "thorough", "failing", "--format", "json"]);
    assert_keys(&output.fine(), DIFF);
}

#[test]
fn every_key_of_a_record_is_documented() {
    let ground = Ground::with_run();
    let text = include_str!("../../../../harness/records/src/record.md");
    for line in ground.text("run/records.jsonl").lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("a record");
        let kind = record["record"].as_str().expect("a kind");
        assert!(text.contains(&format!("## `{kind}`")), "{kind}");
        for key in record.as_object().expect("an object").keys() {
            assert!(text.contains(&format!("`{key}`")), "{kind}: {key}");
        }
    }
}

#[test]
fn an_unfinished_round_counts_for_nothing() {
    let ground = Ground::with_run();
    // Estimates of the whole run are now stored beside the records, and are stale after the cut.
    let whole = ground.read_run();
    flowmeter_reports::estimate(&[whole])
        .unwrap()
        .write(&ground.at("run"))
        .unwrap();
    let text = ground.text("run/records.jsonl");
    let first_round = text.find("{\"record\":\"round\"").unwrap();
    ground.write("run/records.jsonl", &text[..first_round]);
    assert_eq!(ground.run(&["rank", "run", "--format", "json"]).fine(), "");
    let table = ground.run(&["rank", "run"]).fine();
    assert!(table.contains("No cell has a number"), "{table}");
    for row in rows(&ground.run(&["cmp", "run", "--format", "json"]).fine()) {
        assert!(row["median"].is_null(), "{row:?}");
    }
    ground.run(&["cmp", "run"]).fine();
    ground.run(&["report", "run"]).fine();
}

#[test]
fn list_shows_all_there_is() {
    let ground = Ground::new();
    let output = ground.run(&["list", "--format", "json"]).fine();
    let rows = rows(&output);
    let of = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).count();
    assert_eq!(of("scenario"), flowmeter_suites::scenario::built_in().len());
    assert_eq!(
        of("property"),
        flowmeter_suites::properties::PROPERTIES.len()
    );
    let show_all = introduced(All);
    let channels = show_all.iter();
    let channels = channels.filter(|it| it.kind == Kind::Channel).count();
    assert_eq!(of("channel"), channels);
    for row in &rows {
        assert!(
            row["name"].is_string() && row["origin"].is_string(),
            "{row:?}"
        );
        assert!(row["caps"].is_array(), "{row:?}");
    }
    let table = ground.run(&["list"]).fine();
    assert!(table.contains("crossbeam-channel") && table.contains("channels/create"));
}

#[test]
fn list_shows_what_is_selected_and_nothing_else() {
    let ground = Ground::new();
    let kinds = |selection: &[&str]| {
        let list = [&["list", "--format", "json"], selection].concat();
        let rows = rows(&ground.run(&list).fine());
        let kinds = rows.iter().map(|row| row["kind"].as_str().unwrap());
        kinds.map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let set = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect();
    let mutants: BTreeSet<String> = set(&["channel", "mutant"]);
    assert_eq!(kinds(&["-i", "^mutex"]), mutants);
    assert_eq!(kinds(&["-s", "^timers/"]), set(&["scenario"]));
    assert_eq!(kinds(&["-p", "^c2"]), set(&["property"]));
    let both = kinds(&["-p", "^c2", "-i", "^condvar$"]);
    assert_eq!(both, set(&["property", "channel"]));
}

#[test]
fn what_a_run_is_repeated_by_has_every_word_of_it() {
    let ground = Ground::new();
    let own = include_str!("../../../scenarios/channels/spsc-64.toml");
    ground.write("my load's/own.toml", own);
    let own = ["--scenario-dir", "my load's", "-o", "own"];
    let measure = [&SMALL[..1], &["-s", "own$"], &SMALL[3..], &own].concat();
    let mut measure = ground.command(&measure);
    let done = measure.env("FLOWMETER_FOREIGN", "off").output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let records = ground.text("own/records.jsonl");
    let head: serde_json::Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    let command = head["command"].as_str().unwrap();
    let begin = "FLOWMETER_FOREIGN=off cargo flowmeter measure -s 'own$'";
    assert!(command.starts_with(begin), "{command}");
    let folder = r"--scenario-dir 'my load'\''s'";
    assert!(command.contains(folder), "{command}");
    // And so are the lines beside its charts.
    ground.run(&["report", "own", "-o", "page.html"]).fine();
    let page = ground.text("page.html").replace("&#39;", "'");
    let folder = r"--scenario-dir='my load'\''s'";
    let lines: Vec<&str> = page
        .split("cargo flowmeter measure -s '^")
        .skip(1)
        .collect();
    assert!(!lines.is_empty());
    for line in lines {
        let end = line.find('<').expect("the page goes on");
        assert!(line[..end].contains(folder), "{}", &line[..end]);
    }
    let text = include_str!("../../../../harness/records/src/record.md");
    assert!(head["scenario_dir"].is_string() && text.contains("`scenario_dir`"));
}

#[test]
fn noise_is_told_with_the_keys_of_its_record() {
    let ground = Ground::new();
    let output = ground
        .run(&["noise", "--watch", "1", "--format", "json"])
        .fine();
    assert_keys(
        &output,
        &["load_1m", "steal", "busy", "spread", "score", "quiet"],
    );
    ground.run(&["noise", "--watch", "1"]).fine();
    let strict = ground.run(&["noise", "--watch", "1", "--strict"]);
    assert!(matches!(strict.code, Some(0 | 3)), "{strict:?}");
}

#[test]
fn shells_and_manuals_know_every_verb() {
    let ground = Ground::new();
    let verbs = ["check", "measure", "diff"];
    for shell in ["bash", "zsh", "fish"] {
        let text = ground.run(&["completions", shell]).fine();
        for verb in verbs {
            assert!(text.contains(verb), "{shell}: {verb}");
        }
        assert!(!text.contains("cargo flowmeter check"), "{shell}");
    }
    let page = ground.run(&["man"]).fine();
    assert!(page.contains(".TH flowmeter"), "{page}");
    for verb in verbs {
        assert!(page.contains(&format!("flowmeter {verb}")), "{verb}");
    }
}

#[test]
fn help_is_readable_in_a_hundred_columns() {
    let ground = Ground::new();
    let verbs = [
        "list",
        "check",
        "mutants",
        "sites",
        "claims",
        "measure",
        "rank",
        "cmp",
        "diff",
        "ab",
        "corpus",
        "cost",
        "report",
        "show",
        "new",
        "noise",
        "completions",
        "man",
    ];
    let top = ground.run(&["--help"]).fine();
    for part in [
        "Exit codes",
        "0 fine",
        "1 a property",
        "2 bad",
        "3 too noisy",
        "cargo bench",
    ] {
        assert!(top.contains(part), "{part}");
    }
    let check = ground.run(&["check", "--help"]).fine();
    for default in [Effort::CHECK.seed.to_string(), FOLDER.to_owned()] {
        let default = format!("[default: {default}]");
        assert!(check.contains(&default), "{default}: {check}");
    }
    for verb in verbs {
        assert!(top.contains(&format!("\n  {verb} ")), "{verb}");
        let help = ground.run(&[verb, "--help"]).fine();
        assert!(
            help.contains(&format!("Usage: cargo flowmeter {verb}")),
            "{help}"
        );
        for line in help.lines().chain(top.lines()) {
            assert!(line.chars().count() <= 100, "{verb}: {line}");
        }
    }
}
