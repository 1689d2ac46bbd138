//! The output of `show` for a cell, of several machines, and of `new`.

use std::path::Path;

use crate::ground::{Ground, assert_keys, rows};

const SHOWN: &[&str] = &[
    "run",
    "started",
    "commit",
    "scenario",
    "implementation",
    "median",
    "lo",
    "hi",
    "unit",
    "better",
    "ratio_to_best",
    "rounds",
    "error",
    "command",
];

#[test]
fn a_measured_cell_is_shown_with_what_reproduces_it() {
    let ground = Ground::with_run();
    let text = ground
        .run(&["show", "channels/spsc-64/mutex", "run"])
        .fine();
    for part in [
        "One producer, one consumer",
        "messages/s",
        "cargo flowmeter measure -s '^channels/spsc-64$'",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = ["show", "channels/spsc-64/mutex", "run", "--format", "json"];
    let json = ground.run(&json).fine();
    assert_keys(&json, SHOWN);
    assert_eq!(rows(&json).len(), 1);
    assert!(rows(&json)[0]["median"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_checked_cell_is_shown_with_what_holds() {
    let ground = Ground::with_run();
    let run = ground.read_run();
    let proof = run.proofs.iter().find(|p| p.implementation == "mutex");
    let property = &proof.expect("no proof, no number").property;
    for (place, worlds) in [("", "shuttle,std"), ("/std", "std")] {
        let cell = format!("mutex/{property}{place}");
        let text = ground.run(&["show", &cell, "run"]).fine();
        assert!(text.contains("held under std in"), "{text}");
        let again =
            format!("cargo flowmeter check -i '^mutex$' -p '^{property}$' --under {worlds}\n");
        assert!(text.contains(&again), "{text}");
    }
}

#[test]
fn an_unknown_cell_is_refused() {
    let ground = Ground::with_run();
    for cell in [
        "channels/spsc-64/absent",
        "nowhere/mutex",
        "absent/c2-order",
        "mutex/c2-order/nowhere",
    ] {
        let show = ground.run(&["show", cell, "run"]);
        show.refused(&[cell, "none of these runs has such a cell"]);
    }
    let show = ground.run(&["show", "mutex", "run"]);
    show.refused(&["mutex: name a cell"]);
    let show = Ground::new().run(&["show", "channels/spsc-64/mutex"]);
    show.refused(&["no run in runs/"]);
}

#[test]
fn a_run_that_cannot_be_read_is_left_out_unless_it_is_named() {
    let ground = Ground::with_run();
    ground.write("runs/good/records.jsonl", ground.bytes("run/records.jsonl"));
    ground.write("runs/bad/records.jsonl", "hello\n");
    let show = ground.run(&["show", "channels/spsc-64/mutex"]);
    assert_eq!(show.errors.lines().count(), 1, "{show:?}");
    assert!(show.errors.contains("records.jsonl:1: not a record"));
    assert!(show.fine().contains("messages/s"));
    let named = ["show", "channels/spsc-64/mutex", "runs/good", "runs/bad"];
    ground.run(&named).refused(&["not a record"]);
    std::fs::remove_dir_all(ground.at("runs/good")).unwrap();
    let show = ground.run(&["show", "channels/spsc-64/mutex"]);
    show.refused(&["not a record"]);
}

#[test]
fn what_records_say_cannot_steer_a_terminal() {
    const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;mine\u{7}\u{9b}2J\u{7f}";
    let ground = Ground::with_run();
    let spoil = |cpu: &str| {
        let records = ground.text("run/records.jsonl");
        let spoiled = records.lines().map(|line| {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            for at in ["/title", "/unit", "/started", "/commit", "/machine/cpu"] {
                if let Some(text) = record.pointer_mut(at) {
                    let said = if at == "/machine/cpu" { cpu } else { "" };
                    *text = format!("{HOSTILE}{said}").into();
                }
            }
            format!("{record}\n")
        });
        spoiled.collect::<String>()
    };
    ground.write("one/records.jsonl", spoil("one"));
    ground.write("two/records.jsonl", spoil("two"));
    for (code, arguments) in [
        (0, &["rank", "one", "two"][..]),
        (0, &["cmp", "one", "two"]),
        (0, &["cmp", "one", "two", "--format", "json"]),
        (0, &["cmp", "one", "--format", "csv"]),
        (0, &["diff", "one", "two", "--all"]),
        (0, &["show", "channels/spsc-64/mutex", "one", "two"]),
        (2, &["diff", "one", "two", "--fail-on", "regression"]),
    ] {
        let mut command = ground.command(arguments);
        // As if the output were a terminal: control characters are not removed elsewhere.
        let answered = command.env("CLICOLOR_FORCE", "1").output().unwrap();
        assert_eq!(answered.status.code(), Some(code), "{arguments:?}");
        for said in [answered.stdout, answered.stderr] {
            let said = String::from_utf8(said).unwrap();
            let steers = |c: char| c.is_control() && c != '\n';
            assert!(!said.contains(steers), "{arguments:?}: {said:?}");
        }
    }
}

#[test]
fn machines_are_told_apart_in_every_verb() {
    let ground = Ground::with_run();
    let records = ground.text("run/records.jsonl");
    let cpu = ground.read_run().run.machine.cpu;
    let elsewhere = records.replacen(&format!("\"cpu\":\"{cpu}\""), "\"cpu\":\"Elsewhere\"", 1);
    ground.write("other/records.jsonl", elsewhere);
    for verb in ["rank", "cmp"] {
        let table = ground.run(&[verb, "run", "other"]).fine();
        assert!(table.contains("Elsewhere, "), "{table}");
        let json = ground.run(&[verb, "run", "other", "--format", "json"]);
        let rows = rows(&json.fine());
        assert_eq!(rows.len(), 4);
        let machines = rows.iter().map(|row| row["machine"].as_str().unwrap());
        let elsewhere = machines.filter(|name| name.starts_with("Elsewhere"));
        assert_eq!(elsewhere.count(), 2);
    }
    let csv = ground.run(&["cmp", "run", "other", "--format", "csv"]);
    csv.refused(&["2 machines"]);
    ground
        .run(&["report", "run", "other", "-o", "page.html"])
        .fine();
    assert!(ground.text("page.html").contains("2 runs on 2 machines"));
}

#[test]
fn the_corpus_is_asked_in_a_checkout_and_by_the_numbers_of_its_rows() {
    let ground = Ground::new();
    let corpus = ground.run(&["corpus", "--row", "22"]);
    corpus.refused(&["no checkout of Flowmeter here"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (arguments, why) in [
        (["--row", "999"], "no row 999"),
        (
            ["--json", "/nowhere/rows"],
            "name a place that can be written",
        ),
    ] {
        let mut command = ground.command(&["corpus"]);
        let output = command.args(arguments).current_dir(&root).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn something_new_begins_in_a_checkout_and_nowhere_else() {
    let ground = Ground::new();
    let new = ground.run(&["new", "implementation", "ring"]);
    new.refused(&["no checkout of Flowmeter here"]);
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let checkout = checkout.to_str().unwrap();
    for (kind, name, why) in [
        ("implementation", "mutex", "is there already"),
        ("implementation", "Ring", "a name is small letters"),
        ("scenario", "ring", "a name is the folder and the file"),
        ("property", "c99-ring", "has no statement C99"),
    ] {
        let new = ground.run(&["new", kind, name, "--root", checkout]);
        new.refused(&[why]);
    }
}
