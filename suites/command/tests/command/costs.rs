//! What a message costs our channels, as docs/cost.md has it, and the verb that counts it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use flowmeter_harness::caps::{Kind, Origin};
use flowmeter_harness::sync::cost::Pace;
use flowmeter_impls::registry::All;
use flowmeter_suites::catalogue::introduced;

use crate::ground::{Answer, Ground, assert_keys};

/// The rows of tables, by scenario and implementation.
fn table(text: &str) -> BTreeMap<(&str, &str), &str> {
    let mut scenario = "";
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        match line.split_whitespace().next() {
            Some(first) if first.contains('/') => scenario = first,
            Some(first) if line.starts_with(first) => {
                rows.insert((scenario, first), line);
            }
            _ => {}
        }
    }
    rows
}

#[test]
fn our_channels_cost_what_the_page_says() {
    let mut own = introduced(All);
    own.retain(|it| it.kind == Kind::Channel && it.origin == Origin::Own);
    let own: Vec<&str> = own.iter().map(|it| it.name).collect();
    let ours = format!("^({})$", own.join("|"));
    let output = Ground::new().run(&["cost", "-i", &ours]).fine();
    let counted = table(&output);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cost.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, tables) = page.split_once("<!-- cost -->").expect("it has the tables");
    let mut kept = table(tables);
    kept.retain(|(_, name), _| own.contains(name));
    let accept = "where this is meant, `cargo flowmeter cost --page docs/cost.md` accepts it";
    for (cell, row) in &counted {
        let kept = kept.get(cell).copied().unwrap_or("no row");
        assert_eq!(kept, *row, "{cell:?} costs something else; {accept}");
    }
    assert_eq!(
        kept.len(),
        counted.len(),
        "the page has more rows; {accept}"
    );
    // A design for one producer and one consumer has few.
    assert!(counted.len() >= 8 * own.len(), "{output}");
}

#[test]
fn costs_are_printed_as_lines_of_json_and_written_into_a_page() {
    let ground = Ground::new();
    let fixed = ["cost", "-i", "^lock_free$", "-s", "^channels/spsc-64$"];
    let json = ground.run(&[&fixed[..], &["--format", "json"]].concat());
    let json = json.fine();
    let keys = [
        "scenario",
        "implementation",
        "pace",
        "messages",
        "counts",
        "error",
    ];
    assert_keys(&json, &keys);
    assert_eq!(json.lines().count(), 2, "one for each pace: {json}");
    // Its buffer is there from the beginning.
    assert_eq!(json.matches("\"allocations\":0,").count(), 2, "{json}");

    ground.write(
        "page.md",
        "# Costs\n\n<!-- cost -->\nold\n<!-- /cost -->\n\nAfter.\n",
    );
    let output = ground.run(&[&fixed[..], &["--page", "page.md"]].concat());
    let table = output.fine();
    let page = ground.text("page.md");
    let (before, after) = page.split_once(table.trim_end()).expect("the same table");
    assert_eq!(before, "# Costs\n\n<!-- cost -->\n\n```text\n");
    assert_eq!(after, "\n```\n\n<!-- /cost -->\n\nAfter.\n");
}

/// Takes the place of the twins: it knows kanal, and crashes where it should count.
const CRASHES: &str = r#"#!/bin/sh
read -r line
case "$line" in
*'"Present"'*) echo '["kanal"]' ;;
*) kill -SEGV $$ ;;
esac
"#;

#[cfg(unix)]
#[test]
fn one_that_crashes_takes_no_other_row_and_no_page_along() {
    use std::os::unix::fs::PermissionsExt;

    let ground = Ground::new();
    let page = "<!-- cost -->\nold\n<!-- /cost -->\n";
    ground.write("page.md", page);
    ground.write("crashes", CRASHES);
    let program = ground.at("crashes");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let chosen = ["-i", "^(condvar|kanal)$", "-s", "^channels/spsc-1$"];
    let mut command = ground.command(&[&["cost", "--page", "page.md"][..], &chosen].concat());
    command.env("FLOWMETER_TWINS", &program);
    let answer = Answer::of(command);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let counted = table(&answer.output);
    let row = |name| counted[&("channels/spsc-1", name)];
    assert!(row("condvar").contains("2.00"), "{answer:?}");
    assert!(row("kanal").ends_with("-     -"), "{answer:?}");
    for part in [
        "kanal in channels/spsc-1, steps: the process crashed",
        "page.md is left as it was",
    ] {
        assert!(answer.errors.contains(part), "{answer:?}");
    }
    assert_eq!(ground.text("page.md"), page);
}

#[test]
fn costs_become_part_of_a_run_and_of_its_report() {
    let ground = Ground::with_run();
    ground.run(&["report", "run"]).fine();
    let column = "<th class=n>Wake-ups";
    assert!(!ground.text("run/report.html").contains(column));
    let output = ground.run(&["cost", "-i", "^(mutex|condvar)$", "--into", "run"]);
    // Of one scenario and one implementation: no other was timed.
    assert!(output.fine().ends_with("2 rows added to the run\n"));
    let run = ground.read_run();
    let paces: Vec<Pace> = run.modelled_costs.iter().map(|it| it.pace).collect();
    assert_eq!(paces, Pace::ALL);
    ground.run(&["report", "run"]).fine();
    let page = ground.text("run/report.html");
    assert!(page.contains(column), "{page}");
    let records = ground.text("run/records.jsonl");
    assert!(records.contains("\"record\":\"modelled-cost\""));
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let ground = Ground::new();
    ground.write("page.md", "# No place\n");
    for (arguments, why) in [
        (["-s", "^timers/"], "none of these scenarios can be counted"),
        (["-s", "nothing"], "no scenario matches 'nothing'"),
        (["-i", "^heap$"], "no implementation matches '^heap$'"),
        (["--page", "none.md"], "none.md"),
        (["--page", "page.md"], "it has no place for the tables"),
    ] {
        ground
            .run(&[&["cost"][..], &arguments].concat())
            .refused(&[why]);
    }
}
