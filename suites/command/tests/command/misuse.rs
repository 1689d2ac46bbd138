//! Bad usage and bad input: one clear sentence, exit code 2, and nothing overwritten.

use std::fs::{self, File};
use std::io;

use crate::ground::{Ground, SMALL};

const SCENARIO: &str = r#"title = "One to one"
why = "Because."
workload = "stream"

[params]
producers = 1
consumers = 1
buffer = { fixed = 64 }
message = "8B"
form = "blocking"
"#;

/// A whole run, with something wrong in its arguments.
fn measuring<'a>(wrong: &[&'a str]) -> Vec<&'a str> {
    let mut all = SMALL.to_vec();
    for pair in wrong.chunks(2) {
        match all.iter().position(|argument| *argument == pair[0]) {
            Some(place) => all[place + 1] = pair[1],
            None => all.extend(pair),
        }
    }
    all
}

#[test]
fn unknown_names_are_refused_in_every_verb() {
    let ground = Ground::with_run();
    let sentence = "`cargo flowmeter list` shows them all";
    for arguments in [
        &["list", "-i", "nosuch"][..],
        &["check", "-i", "nosuch"],
        &["sites", "-i", "nosuch"],
        &["claims", "-i", "nosuch"],
        &["measure", "-i", "nosuch", "-o", "new"],
        &["rank", "-i", "nosuch", "run"],
        &["rank", "-i", "nosuch", "run", "--format", "json"],
        &["cmp", "-i", "nosuch", "run"],
        &["diff", "-i", "nosuch", "run", "run"],
    ] {
        let parts = ["no implementation matches 'nosuch'", sentence];
        ground.run(arguments).refused(&parts);
    }
    for arguments in [
        &["list", "-s", "nosuch"][..],
        &["measure", "-s", "nosuch", "-o", "new"],
        &["cmp", "-s", "nosuch", "run"],
        &["diff", "-s", "nosuch", "run", "run"],
    ] {
        let parts = ["no scenario matches 'nosuch'", sentence];
        ground.run(arguments).refused(&parts);
    }
    for arguments in [&["list", "-p", "nosuch"][..], &["check", "-p", "nosuch"]] {
        let parts = ["no property matches 'nosuch'", sentence];
        ground.run(arguments).refused(&parts);
    }
    assert!(!ground.at("new").exists(), "nothing was begun");
}

#[test]
fn implementations_that_cannot_run_the_scenarios_are_refused() {
    let ground = Ground::new();
    let arguments = ["measure", "-i", "^tokio", "-s", "^alts/", "-o", "new"];
    ground
        .run(&arguments)
        .refused(&["can run any of these scenarios"]);
    assert!(!ground.at("new").exists());
}

#[test]
fn broken_patterns_and_unknown_options_are_bad_usage() {
    let ground = Ground::new();
    for arguments in [
        &["list", "-i", "("][..],
        &["check", "-p", "["],
        &["measure", "-s", "*"],
        &["measure", "--pin", "everywhere"],
        &["measure", "--rounds", "-1"],
        &["measure", "--rounds", "4294967296"],
        &["measure", "--slowed", "100"],
        &["sing"],
        &[],
    ] {
        let answer = ground.run(arguments);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert_eq!(answer.output, "", "{answer:?}");
        assert!(!answer.errors.is_empty());
    }
    assert_eq!(fs::read_dir(ground.path()).unwrap().count(), 0);
}

#[test]
fn measuring_nothing_is_refused() {
    let ground = Ground::new();
    for option in ["--rounds", "--forks", "--window", "--budget", "--threads"] {
        let arguments = measuring(&[option, "0", "-o", "new"]);
        let parts = [option, "0 measures nothing", "at least 1"];
        ground.run(&arguments).refused(&parts);
    }
    let arguments = ["check", "--budget", "0"];
    ground
        .run(&arguments)
        .refused(&["--budget 0", "above 0 seconds"]);
    ground
        .run(&["check", "--hours", "0"])
        .refused(&["--hours 0", "above 0 hours"]);
    for (under, unknown) in [("mars", "'mars'"), ("std,Loom", "'Loom'"), ("std,", "''")] {
        let parts = ["--under", unknown, "give some of std,shuttle,loom,sim"];
        ground.run(&["check", "--under", under]).refused(&parts);
        ground.run(&["sites", "--under", under]).refused(&parts);
    }
    for shard in ["0/3", "4/3", "x"] {
        let arguments = ["check", "--shard", shard];
        ground.run(&arguments).refused(&["--shard", shard, "1/3"]);
    }
    let arguments = measuring(&["-s", "mpmc-64$", "--threads", "1", "-o", "new"]);
    ground
        .run(&arguments)
        .refused(&["--threads 1 leaves no scenario"]);
    assert!(!ground.at("new").exists(), "nothing was begun");
}

#[test]
fn layouts_that_cannot_be_are_refused() {
    let ground = Ground::new();
    for (wrong, part) in [
        (
            &["--layouts", "3", "--forks", "2"][..],
            "give --forks 3 or more",
        ),
        // The tests name the program that times.
        (&["--layouts", "2", "--forks", "2"], "unset it"),
    ] {
        let arguments = measuring(&[wrong, &["-o", "new"]].concat());
        ground.run(&arguments).refused(&[part]);
    }
    assert!(!ground.at("new").exists(), "nothing was begun");
}

#[test]
fn measuring_for_ever_is_refused() {
    let ground = Ground::new();
    for (wrong, part) in [
        (
            &["--rounds", "4294967295", "--forks", "2"][..],
            "more than can be counted",
        ),
        (&["--window", "18446744073709551615"], "more than an hour"),
    ] {
        let arguments = measuring(&[wrong, &["-o", "new"]].concat());
        ground.run(&arguments).refused(&[part]);
    }
    for budget in ["1e300", "NaN", "inf"] {
        ground
            .run(&["check", "--budget", budget])
            .refused(&["at most a day"]);
    }
    assert!(!ground.at("new").exists(), "nothing was begun");
}

#[test]
fn broken_scenario_files_are_answered_with_file_line_key_and_what_was_expected() {
    let ground = Ground::new();
    for (from, to, parts) in [
        ("title =", "title = = 1 #", &["mine/bad.toml:1: "][..]),
        (
            "producers = 1",
            "prodcers = 1",
            &[
                "mine/bad.toml:6: `prodcers`: unknown field",
                "expected one of `producers`",
            ],
        ),
        (
            "title =",
            "colour = 'red'\ntitle =",
            &[
                "mine/bad.toml:1: `colour`: unknown field",
                "expected one of `title`",
            ],
        ),
        (
            "\"stream\"",
            "\"steam\"",
            &[
                "mine/bad.toml:3: `workload`: unknown variant `steam`",
                "`stream`",
            ],
        ),
        (
            "producers = 1",
            "producers = 1000000",
            &["mine/bad.toml:6: `producers`: ", "expected"],
        ),
        (
            "consumers = 1",
            "consumers = 0",
            &["mine/bad.toml:7: `consumers`: ", "expected"],
        ),
        ("8B", "8 B", &["mine/bad.toml:9: `message`: ", "expected"]),
    ] {
        assert!(SCENARIO.contains(from), "{from}");
        ground.write("mine/bad.toml", SCENARIO.replace(from, to));
        for verb in ["measure", "list"] {
            ground.run(&[verb, "--scenario-dir", "mine"]).refused(parts);
        }
    }
    assert!(!ground.at("runs").exists(), "nothing was begun");
}

#[test]
fn scenario_folders_that_are_none_are_refused() {
    let ground = Ground::new();
    fs::create_dir(ground.at("empty")).unwrap();
    ground.write("file", "");
    for (folder, part) in [
        ("nowhere", "nowhere: "),
        ("empty", "empty: no scenario file"),
        ("file", "file: "),
    ] {
        for verb in ["measure", "list"] {
            ground
                .run(&[verb, "--scenario-dir", folder])
                .refused(&[part]);
        }
    }
}

/// `rank`, `cmp`, `diff`, `report` and a resumed `measure` over `run/`.
fn readers() -> [Vec<&'static str>; 5] {
    [
        vec!["rank", "run"],
        vec!["cmp", "run"],
        vec!["diff", "run", "run"],
        vec!["report", "run", "-o", "page.html"],
        vec!["measure", "--resume", "-o", "run"],
    ]
}

#[test]
fn files_that_are_no_records_are_refused_and_left_alone() {
    let good = Ground::with_run().text("run/records.jsonl");
    let other_schema = good.replacen("\"schema\":1", "\"schema\":99", 1);
    assert_ne!(other_schema, good);
    let headless = good.split_once('\n').expect("it has lines").1.to_owned();
    let spoiled = good.replacen(
        "\"record\":\"round\",",
        "\"record\":\"round\",\"round\":\"first\",",
        1,
    );
    let line_of_round = 1 + good
        .lines()
        .position(|line| line.contains("\"record\":\"round\""))
        .unwrap();
    for (content, part) in [
        (
            "hello\nworld\n".to_owned(),
            "records.jsonl:1: not a record".to_owned(),
        ),
        (
            "{\"a\":1}\n".to_owned(),
            "records.jsonl:1: not a record".to_owned(),
        ),
        (
            "\u{0}\u{1}\n".to_owned(),
            "records.jsonl:1: not a record".to_owned(),
        ),
        (headless, "the first line is not a run".to_owned()),
        (
            spoiled,
            format!("records.jsonl:{line_of_round}: not a record"),
        ),
        (other_schema, "schema 99, and this build reads 1".to_owned()),
        (String::new(), "records.jsonl: ".to_owned()),
        (
            "{\"record\":\"run\"".to_owned(),
            "records.jsonl: ".to_owned(),
        ),
    ] {
        let ground = Ground::new();
        ground.write("run/records.jsonl", &content);
        for arguments in readers() {
            ground.run(&arguments).refused(&[&part]);
        }
        assert_eq!(ground.text("run/records.jsonl"), content);
        assert!(!ground.at("page.html").exists());
    }
}

#[test]
fn a_run_that_is_not_there_is_said_to_be_missing() {
    let ground = Ground::new();
    for arguments in readers() {
        ground.run(&arguments).refused(&["run"]);
    }
    let replay = ["check", "--replay", "nowhere.json"];
    ground
        .run(&replay)
        .refused(&["nowhere.json: ", "that `cargo flowmeter check` has written"]);
    for arguments in [
        &["rank"][..],
        &["cmp"],
        &["report"],
        &["measure", "--resume"],
    ] {
        ground.run(arguments).refused(&["no run in runs/"]);
    }
    assert_eq!(
        fs::read_dir(ground.path()).unwrap().count(),
        0,
        "nothing was made"
    );
}

#[test]
fn a_run_that_stands_is_not_overwritten() {
    let ground = Ground::with_run();
    let before = ground.bytes("run/records.jsonl");
    let arguments = [SMALL, &["-o", "run"]].concat();
    ground
        .run(&arguments)
        .refused(&["holds a run already", "--resume"]);
    assert_eq!(ground.bytes("run/records.jsonl"), before);
    assert_eq!(fs::read_dir(ground.at("run")).unwrap().count(), 1);
}

#[test]
fn places_that_cannot_be_written_are_refused() {
    let ground = Ground::with_run();
    ground.write("file", "precious");
    // Even root cannot make a folder below a file.
    let arguments = [SMALL, &["-o", "file/below"]].concat();
    ground
        .run(&arguments)
        .refused(&["file/below: ", "that can be written"]);
    let arguments = ["report", "run", "-o", "file/page.html"];
    ground
        .run(&arguments)
        .refused(&["file/page.html: ", "that can be written"]);
    let arguments = ["report", "run", "-o", "run"];
    ground
        .run(&arguments)
        .refused(&["run: ", "that can be written"]);
    assert_eq!(ground.text("file"), "precious");
}

#[test]
fn the_page_of_several_runs_is_nobodys_own() {
    let ground = Ground::with_run();
    ground.write("other/records.jsonl", ground.bytes("run/records.jsonl"));
    ground.write("run/report.html", "precious");
    ground
        .run(&["report", "run", "other"])
        .refused(&["name a page for 2 runs with -o"]);
    assert_eq!(ground.text("run/report.html"), "precious");
    let named = ["report", "run", "other", "-o", "page.html"];
    ground.run(&named).fine();
    // It replaces an existing file, and leaves nothing else beside it.
    ground.run(&named).fine();
    ground.run(&["report", "run", "-o", "run"]).refused(&[]);
    let mut left: Vec<_> = fs::read_dir(ground.path()).unwrap().collect();
    left.retain(|entry| entry.as_ref().unwrap().file_name() != "page.html");
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_page_can_go_where_nothing_stands() {
    let ground = Ground::with_run();
    let said = ground.run(&["report", "run", "-o", "/dev/stdout"]).fine();
    assert!(said.contains("</html>"), "{said}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let ground = Ground::with_run();
    for arguments in [
        &["list"][..],
        &["list", "--format", "json"],
        &["rank", "run"],
        &["cmp", "run", "--format", "json"],
        &["diff", "run", "run", "--all"],
        &["check", "-i", "^condvar$", "-p", "^c2", "--executions", "3"],
        &["measure", "--help"],
    ] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let answered = ground.command(arguments).stdout(writer).output().unwrap();
        assert_eq!(
            answered.status.code(),
            Some(0),
            "{arguments:?}: {answered:?}"
        );
        assert!(answered.stderr.is_empty(), "{arguments:?}: {answered:?}");
    }
    // Nor does it panic where the error output is closed.
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut command = ground.command(&["list", "-i", "nosuch"]);
    assert_eq!(command.stderr(writer).status().unwrap().code(), Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn what_could_not_be_printed_is_told() {
    let ground = Ground::with_run();
    for arguments in [&["list"][..], &["cmp", "run"], &["man"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let answered = ground.command(arguments).stdout(full).output().unwrap();
        let errors = String::from_utf8(answered.stderr).unwrap();
        assert_eq!(answered.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(
            errors.starts_with("flowmeter: standard output: ") && errors.lines().count() == 1,
            "{arguments:?}: {errors}"
        );
    }
}
