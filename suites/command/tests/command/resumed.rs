//! A run that was cut off continues with only the name of its folder: no loss, no duplicate, no orphan.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use flowmeter_records::{FailureKind, RunData};

use crate::ground::{Ground, rows};

/// Longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Polls until the condition is true.
#[track_caller]
fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < PATIENCE, "{what} did not come");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A scenario that is not built in.
const MINE: &str = r#"title = "One to one, three places"
why = "It is nowhere but in this folder."
workload = "stream"

[params]
producers = 1
consumers = 1
buffer = { fixed = 3 }
message = "8B"
form = "blocking"
"#;

/// Every entry of every scenario has one window in each round, or a failure of one: on a machine that is busy with
/// other tests, so short a window may stay without an operation.
#[track_caller]
fn assert_whole(run: &RunData, rounds: u32, entries: usize) {
    let mut windows = BTreeMap::new();
    for w in &run.windows {
        let entry = (&w.implementation, w.placebo, w.slowed_percent);
        let doubled = windows.insert((&w.scenario, w.round, entry), w.fork);
        assert_eq!(doubled, None, "{w:?}");
    }
    for scenario in run.scenarios.keys() {
        let of: Vec<u32> = run
            .rounds
            .iter()
            .filter(|round| round.scenario == *scenario)
            .map(|round| round.round)
            .collect();
        assert_eq!(of, (0..rounds).collect::<Vec<u32>>(), "{scenario}");
        for round in 0..rounds {
            let timed = windows
                .keys()
                .filter(|(s, r, _)| *s == scenario && *r == round);
            let void = run
                .failures
                .iter()
                .filter(|it| it.scenario == *scenario && it.round == Some(round));
            let had = timed.count() + void.count();
            assert_eq!(had, entries, "{scenario} in round {round}");
        }
    }
    // Only a few failures: entries without any result would be another problem.
    assert!(
        run.windows.len() > 4 * run.failures.len(),
        "{:?}",
        run.failures
    );
    let mut failures = run.failures.iter();
    assert!(
        failures.all(|it| it.kind == FailureKind::Void),
        "{failures:?}"
    );
    let end = run.end.as_ref().expect("it came to its end");
    assert_eq!(end.windows, run.windows.len() as u64);
}

/// Running processes that were started from this ground.
#[cfg(target_os = "linux")]
fn orphans(ground: &Ground) -> usize {
    let here = ground.path().canonicalize().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| {
            let of = |name: &str| process.path().join(name);
            std::fs::read_link(of("cwd")).is_ok_and(|cwd| cwd == here)
                && std::fs::read(of("cmdline"))
                    .is_ok_and(|line| String::from_utf8_lossy(&line).contains("__c"))
        })
        .count()
}

#[test]
fn a_killed_run_goes_on_with_nothing_but_its_folder() {
    let ground = Ground::new();
    ground.write("mine/three.toml", MINE);
    let begun = [
        "measure",
        "-s",
        "^channels/spsc-64$|three",
        "-i",
        "mutex|std",
        "--scenario-dir",
        "mine",
        "--threads",
        "2",
        "--rounds",
        "3",
        "--forks",
        "3",
        "--window",
        "20",
        "--seed",
        "9",
        "--slowed",
        "10",
        "--pin",
        "one-core",
        "-o",
        "run",
    ];
    let mut command = ground.command(&begun);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let records = ground.at("run/records.jsonl");
    wait_until("the second round", || {
        let text = std::fs::read_to_string(&records).unwrap_or_default();
        text.matches("\"record\":\"round\"").count() >= 2
    });
    // A kill that cannot be caught.
    child.kill().unwrap();
    child.wait().unwrap();
    #[cfg(target_os = "linux")]
    wait_until("the end of every implementation", || orphans(&ground) == 0);

    let cut = ground.text("run/records.jsonl");
    let before = ground.read_run();
    assert_eq!(before.end, None, "it was killed in the middle");
    std::fs::remove_dir_all(ground.at("mine")).unwrap();

    // Settings that differ from those of the run are refused.
    for (other, part) in [
        (&["--rounds", "4"][..], "rounds 3, and this one asks for 4"),
        (&["--seed", "8"], "seed 9"),
        (&["--window", "30"], "windows of 20000000 ns"),
        (&["--pin", "free"], "pinning one-core"),
        (&["-i", "^mutex$"], "the implementations mutex, std-mpsc"),
    ] {
        let arguments = [&["measure", "--resume", "-o", "run"], other].concat();
        ground.run(&arguments).refused(&[part]);
    }
    assert_eq!(ground.text("run/records.jsonl"), cut);

    let said = ground.run(&["measure", "--resume", "-o", "run"]).fine();
    assert!(said.contains("mutex"), "{said}");
    let after = ground.read_run();
    // Two implementations, one of them twice, and one slowed.
    assert_whole(&after, 9, 4);
    assert_eq!(after.run, before.run);
    let complete: BTreeSet<_> = before
        .rounds
        .iter()
        .map(|r| (&r.scenario, r.round))
        .collect();
    for window in &before.windows {
        if complete.contains(&(&window.scenario, window.round)) {
            assert!(after.windows.contains(window), "lost: {window:?}");
        }
    }

    // The second time there is nothing to do, and nothing changes.
    let whole = ground.text("run/records.jsonl");
    let again = ["measure", "--resume", "-o", "run", "--format", "json"];
    let told = rows(&ground.run(&again).fine());
    assert_eq!(told[0]["windows"], after.windows.len());
    assert_eq!(ground.text("run/records.jsonl"), whole);
}

#[test]
fn a_run_with_a_budget_goes_on_with_it() {
    let ground = Ground::new();
    let begun = [
        "measure",
        "-s",
        "^channels/spsc-(1|64)$",
        "-i",
        "mutex|std",
        "--quick",
        "--budget",
        "6",
        "-o",
        "runs/one",
    ];
    ground.run(&begun).fine();
    let records = "runs/one/records.jsonl";
    let text = ground.text(records);
    let second = text
        .match_indices("{\"record\":\"round\"")
        .nth(1)
        .unwrap()
        .0;
    ground.write(records, &text[..second]);
    // The latest run, if none is named.
    ground.run(&["measure", "--resume"]).fine();
    let run = flowmeter_records::read_run(&ground.at("runs/one")).unwrap();
    assert_eq!(run.run.budget_seconds, Some(6));
    assert_whole(&run, 5, 3);
}

#[test]
fn a_run_cut_off_before_its_first_window_is_begun_anew_by_hand() {
    let ground = Ground::with_run();
    let text = ground.text("run/records.jsonl");
    let noise = text
        .find("{\"record\":\"noise\"")
        .expect("the machine was watched");
    let cut = &text[..noise];
    ground.write("run/records.jsonl", cut);
    let refused = ["run: ", "before anything was measured", "delete"];
    ground
        .run(&["measure", "--resume", "-o", "run"])
        .refused(&refused);
    assert_eq!(ground.text("run/records.jsonl"), cut);
}
