//! Two builds side by side: `ab`, and `measure --against`. The base build is the same program here.

use std::collections::BTreeSet;
use std::path::Path;

use flowmeter_records::Build;

use crate::ground::{Answer, Ground, assert_keys, rows, timed_program};

/// A comparison of two cells.
const PAIRS: &[&str] = &[
    "ab",
    "--base",
    "HEAD",
    "-s",
    "^channels/spsc-64$",
    "-i",
    "^(mutex|condvar)$",
    "--rounds",
    "1",
    "--window",
    "50",
    "-o",
    "run",
];

/// Runs it against that program.
fn against(ground: &Ground, base: &Path, more: &[&str]) -> Answer {
    let mut command = ground.command(&[PAIRS, more].concat());
    command.env("FLOWMETER_BASE", base);
    Answer::of(command)
}

#[test]
fn a_cell_that_is_slower_is_called_and_fails_the_command() {
    let ground = Ground::new();
    // Forks and slowing are such that it is called on a busy machine too: tests run beside it.
    let more = [
        "--forks",
        "12",
        "--threshold",
        "20",
        "--slowed",
        "90",
        "--slowed-cells",
        "/mutex$",
        "--fail-on",
        "regression",
        "--format",
        "json",
    ];
    let answer = against(&ground, timed_program(), &more);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let rows = rows(&answer.output);
    assert_eq!(rows.len(), 2);
    let slowed = rows.iter().find(|row| row["implementation"] == "mutex");
    assert_eq!(slowed.expect("it is a cell")["verdict"], "slower");
    let keys = [
        "scenario",
        "implementation",
        "unit",
        "better",
        "base",
        "new",
        "ratio",
        "ratio_lo",
        "ratio_hi",
        "p",
        "forks",
        "verdict",
        "why",
    ];
    assert_keys(&answer.output, &keys);
    // Only pairs were timed, without a placebo.
    let run = ground.read_run();
    assert_eq!(run.windows.len(), 48);
    assert!(run.windows.iter().all(|w| !w.placebo));
    // Noise may call the other cell, so its verdict is not asserted: it was not slowed.
    let slowed = run.windows.iter().filter(|w| w.slowed_percent.is_some());
    let names: Vec<&str> = slowed.map(|w| w.implementation.as_str()).collect();
    assert_eq!(names, ["mutex"; 12]);
}

#[test]
fn cells_that_are_clear_get_no_more_forks() {
    let ground = Ground::new();
    let more = ["--threshold", "20", "--slowed", "90", "--format", "json"];
    let rows = rows(&against(&ground, timed_program(), &more).fine());
    assert_eq!(rows.len(), 2);
    for row in rows {
        let forks = row["forks"].as_u64().expect("it is judged");
        // On a quiet machine 8 do.
        assert!(forks == 8 || forks == 16 || forks == 32, "{row:?}");
        assert_eq!(row["verdict"], "slower", "{row:?}");
    }
    assert_eq!(ground.read_run().run.looks, 5);
}

#[test]
fn a_comparison_is_summed_up_in_a_sentence() {
    let ground = Ground::new();
    let more = ["--forks", "2", "--format", "markdown"];
    let markdown = against(&ground, timed_program(), &more).fine();
    assert!(markdown.starts_with("2 cells: "), "{markdown}");
    // The folder of a run is never written twice.
    against(&ground, timed_program(), &more).refused(&["run"]);
}

#[test]
fn a_base_that_cannot_be_compared_is_refused() {
    let ground = Ground::new();
    against(&ground, Path::new("missing"), &[]).refused(&["missing", "cannot be opened"]);
    against(&ground, Path::new("/bin/true"), &[])
        .refused(&["/bin/true", "does not answer as a program that times"]);
    let unknown = ["ab", "--base", "no-such-commit", "-o", "run"];
    ground
        .run(&unknown)
        .refused(&["--base no-such-commit", "has no such commit"]);
    let threshold = [PAIRS, &["--threshold", "100"]].concat();
    ground.run(&threshold).refused(&["--threshold 100"]);
    let peers = ["ab", "--base", "HEAD", "-i", "^kanal$", "-o", "run"];
    ground.run(&peers).refused(&["no implementation matches"]);
    assert!(!ground.at("run/records.jsonl").exists());
}

#[test]
fn a_run_may_hold_a_base_build_that_no_ranking_shows() {
    let ground = Ground::new();
    let base = timed_program().display().to_string();
    let arguments = [
        "measure",
        "-s",
        "^channels/spsc-64$",
        "-i",
        "^(mutex|kanal)$",
        "--rounds",
        "1",
        "--forks",
        "2",
        "--window",
        "20",
        "--against",
        &base,
        "-o",
        "run",
    ];
    let output = ground.run(&arguments).fine();
    assert!(output.contains("1 cell: "), "{output}");
    let run = ground.read_run();
    assert_eq!(run.run.against, Some(base));
    let bases = run.windows.iter().filter(|w| w.build == Some(Build::Base));
    let names: BTreeSet<&str> = bases.map(|w| w.implementation.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["mutex"]), "only ours");
    let cells = rows(&ground.run(&["cmp", "run", "--format", "json"]).fine());
    assert_eq!(cells.len(), 2, "{cells:?}");
    // A run that is complete has nothing to resume, and knows its base.
    let resumed = ground.run(&["measure", "--resume", "-o", "run"]).fine();
    assert!(resumed.contains("nothing left to measure"), "{resumed}");
}
