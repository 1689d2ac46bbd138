//! `check`: its output, its worlds, and its verdicts in a run.

use crate::ground::{Ground, assert_keys, rows};

#[test]
fn hours_repeat_the_cells_with_one_seed_after_the_other() {
    let ground = Ground::new();
    let check = [
        "check",
        "-i",
        "^mutex$",
        "-p",
        "^c2-order$",
        "--under",
        "shuttle",
    ];
    let brief = ["--executions", "5", "--hours", "0.001", "--format", "json"];
    let rows = rows(&ground.run(&[&check[..], &brief].concat()).fine());
    let [_first, row] = &rows[..] else {
        panic!("one cell, told after the first seed and in the end: {rows:?}");
    };
    let bound = &row["bound"];
    let seeds = bound["seeds"].as_u64().unwrap();
    assert!(seeds > 1, "{row:?}");
    assert_eq!(bound["fewest"].as_u64().unwrap(), 5 * seeds, "{row:?}");
}

#[test]
fn check_proves_and_says_so() {
    let ground = Ground::new();
    let arguments = [
        "check",
        "-i",
        "^condvar$",
        "--budget",
        "0.1",
        "--format",
        "json",
    ];
    let output = ground.run(&arguments).fine();
    let mut passed = 0;
    for row in rows(&output) {
        for key in [
            "implementation",
            "property",
            "world",
            "verdict",
            "complete",
            "executions",
            "seconds",
            "counterexample",
            "replay",
        ] {
            assert!(row.contains_key(key), "{key}: {row:?}");
        }
        assert_eq!(row["implementation"], "condvar");
        assert!(
            [
                "pass",
                "unclaimed",
                "not-promised-broken",
                "not-promised-unbroken"
            ]
            .contains(&row["verdict"].as_str().expect("a word")),
            "{row:?}"
        );
        passed += u32::from(row["verdict"] == "pass");
    }
    assert!(passed > 3, "{output}");
}

#[test]
fn check_proves_in_every_world() {
    let ground = Ground::new();
    let check = [
        "check",
        "-i",
        "^heap$|^os-sleep$",
        "-p",
        "^t1-never",
        "--under",
    ];
    let worlds = "std,sim,shuttle,loom";
    let json = [&check[..], &[worlds, "--format", "json"]].concat();
    let output = ground.run(&json).fine();
    assert_keys(
        &output,
        &[
            "implementation",
            "property",
            "world",
            "verdict",
            "complete",
            "executions",
            "seconds",
            "counterexample",
            "detail",
            "replay",
            "bound",
        ],
    );
    let rows = rows(&output);
    for world in worlds.split(',') {
        let of = |name: &str, property: &str| {
            let mut here = rows.iter().filter(|row| row["world"] == world);
            let row = here.find(|row| row["implementation"] == name && row["property"] == property);
            row.unwrap_or_else(|| panic!("{name} {property} {world}"))
        };
        let ours = of("heap", "t1-never-early");
        assert_eq!(ours["verdict"], "pass", "{ours:?}");
        // Only loom knows when it has explored everything.
        assert_eq!(ours["complete"], world == "loom", "{ours:?}");
        assert!(ours["executions"].as_u64().unwrap() > 0, "{ours:?}");
        assert_eq!(ours["bound"]["seed"], 0x666c_6f77, "{ours:?}");
        let preemptions = &ours["bound"]["preemptions"];
        assert_eq!(preemptions.as_u64(), (world == "loom").then_some(2));
        let peer = of("os-sleep", "t1-never-early");
        let verdict = if world == "std" {
            "pass"
        } else {
            "not-instrumentable"
        };
        assert_eq!(peer["verdict"], verdict, "{peer:?}");
        assert_eq!(peer["complete"], false, "{peer:?}");
    }
    assert_eq!(rows.len(), 2 * 4, "each cell once: {output}");

    let table = ground.run(&[&check[..], &["sim,std,sim"]].concat()).fine();
    assert_eq!(table.matches("under sim").count(), 1, "{table}");
    assert!(
        table.contains("under std") && !table.contains("loom"),
        "{table}"
    );
    assert!(table.contains("pass "), "{table}");
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
}

#[test]
fn a_space_that_is_not_exhausted_is_no_pass() {
    let ground = Ground::new();
    let answer = ground.run(&[
        "check",
        "-i",
        "^mutex$",
        "-p",
        "^c1-conservation$",
        "--under",
        "loom",
        "--budget",
        "0.000001",
        "--seed",
        "7",
        "--format",
        "json",
    ]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let rows = rows(&answer.output);
    assert_eq!(rows[0]["verdict"], "inconclusive", "{answer:?}");
    assert_eq!(rows[0]["complete"], false, "{answer:?}");
    assert_eq!(
        rows[0]["replay"],
        "cargo flowmeter check -i '^mutex$' -p '^c1-conservation$' --under loom --seed 7"
    );
}

/// kanal documents that a value may be lost with a pending receive that is dropped.
#[test]
fn what_kanal_does_not_promise_is_looked_at_all_the_same() {
    let ground = Ground::new();
    let check = [
        "check",
        "-i",
        "^kanal$",
        "-p",
        "^c9-cancel$",
        "--budget",
        "3",
    ];
    let output = ground
        .run(&[&check[..], &["--format", "json"]].concat())
        .fine();
    let rows = rows(&output);
    assert_eq!(rows.len(), 1, "{output}");
    for row in rows {
        assert_eq!(row["verdict"], "not-promised-broken", "{row:?}");
        let detail = row["detail"].as_str().expect("it says what was seen");
        assert!(
            detail.contains("executions failed when it was run again"),
            "{detail}"
        );
        let replay = row["replay"].as_str().expect("a command");
        assert!(replay.contains("check -i '^kanal$' -p '^c9-"), "{replay}");
    }
    let table = ground.run(&check).fine();
    assert!(table.contains("(broken)"), "{table}");
    assert!(table.contains("1 not promised and broken"), "{table}");
}

#[test]
fn verdicts_become_part_of_a_run() {
    let ground = Ground::with_run();
    let before = ground.read_run();
    let implementation = before
        .implementations
        .keys()
        .next()
        .expect("an implementation");
    let pattern = format!("^{implementation}$");
    let check = [
        "check",
        "-i",
        &pattern,
        "-p",
        "^c1-conservation$",
        "--budget",
        "0.1",
    ];
    let told = ground
        .run(&[&check[..], &["--into", "run"]].concat())
        .fine();
    assert!(
        told.contains("1 verdicts added to the run, 0 of its numbers"),
        "{told}"
    );
    let after = ground.read_run();
    assert_eq!(after.proofs.len(), before.proofs.len() + 1);
    assert_eq!(after.windows.len(), before.windows.len());
    ground.run(&["report", "run"]).fine();
}
