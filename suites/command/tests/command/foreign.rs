//! Implementations in other languages through the whole command: a folder of shell scripts stands for a language.

use crate::ground::{Ground, rows};

/// Answers every request at once, with made-up numbers.
const CONTESTANT: &str = r#"
case "$1" in
--version) echo 'shell 7'; exit ;;
--claims)
    echo '{"seed":"004_ebf855893e4a364d.txt","claim":"with a parallelism of 1","implementation":"shell-pipeline","seen":"3 in flight"}'
    echo '{"seed":"004_ebf855893e4a364d.txt","claim":"with a parallelism of 3","implementation":"shell-pipeline","seen":"7 in flight","note":"counted"}'
    echo '{"statement":"P1","claim":"`to` is closed","expected":"3 in flight","implementation":"shell-pipeline","seen":"50 in flight"}'
    exit ;;
esac
while read -r line; do
    case "$line" in
    *'"prepare"'*) echo '{"answer":"ready"}' ;;
    *'"prove"'*) echo '{"answer":"proved"}' ;;
    *'"peak-memory"'*) echo '{"answer":"peak-memory","bytes":null}' ;;
    *'"allocations"'*) echo '{"answer":"uncounted"}' ;;
    *'"window"'*) echo '{"answer":"sample","value":1000,"operations":90,"nanos":20000000}' ;;
    esac
done
"#;

const MANIFEST: &str = r#"
[[language]]
start = ["sh", "contestant.sh"]
claims = true

[[language.contestant]]
name = "shell-channel"
kind = "channel"
offers = ["blocking"]
runs = [{ workload = "stream", form = "blocking", buffer = "fixed" }]

[[language.contestant]]
name = "shell-pipeline"
kind = "pipeline"
runs = []
"#;

fn ground() -> Ground {
    let ground = Ground::new();
    // Found as in a checkout, below the current folder of the command.
    ground.write("scripts/foreign/shell/contestants.toml", MANIFEST);
    ground.write("scripts/foreign/shell/contestant.sh", CONTESTANT);
    ground
}

#[test]
fn one_in_another_language_is_listed_timed_ranked_and_left_out_on_request() {
    let ground = ground();
    let listed = ground
        .run(&["list", "-i", "^shell-channel$", "--format", "json"])
        .fine();
    let row = rows(&listed).swap_remove(0);
    assert_eq!(row["origin"], "foreign", "{row:?}");
    assert_eq!(row["version"], "shell 7", "{row:?}");
    let timed = [
        "measure",
        "-s",
        "^channels/spsc-64$",
        "-i",
        "^(std-mpsc|shell-channel)$",
        "--rounds",
        "1",
        "--forks",
        "1",
        "--window",
        "20",
        "--slowed",
        "10",
        "-o",
        "run",
    ];
    ground.run(&timed).fine();
    let run = ground.read_run();
    let entries: Vec<(&str, bool)> = run
        .windows
        .iter()
        .filter(|window| window.implementation == "shell-channel")
        .map(|window| {
            (
                &*window.scenario,
                window.placebo || window.slowed_percent.is_some(),
            )
        })
        .collect();
    assert_eq!(
        entries,
        [("channels/spsc-64", false)],
        "the placebo is one of ours"
    );
    ground
        .run(&["report", "run", "--foreign", "require"])
        .fine();
    assert!(ground.text("run/report.html").contains("shell-channel"));
    for verb in ["rank", "cmp"] {
        let told = ground.run(&[verb, "run", "--format", "json"]).fine();
        let foreign = rows(&told)
            .into_iter()
            .filter(|row| row["origin"] == "foreign");
        assert_eq!(foreign.count(), 1, "{told}");
        let told = ground.run(&[verb, "run", "--foreign", "off"]).fine();
        assert!(
            told.contains("std-mpsc") && !told.contains("shell"),
            "{told}"
        );
    }
}

#[test]
fn they_stay_out_where_they_are_not_wanted_or_cannot_be_pinned() {
    let ground = ground();
    let off = ["list", "-i", "^shell", "--foreign", "off"];
    ground
        .run(&off)
        .refused(&["no implementation matches '^shell'"]);
    let pinned = [
        "measure",
        "-s",
        "spsc-64$",
        "--pin",
        "one-core",
        "--foreign",
        "require",
        "-o",
        "run",
    ];
    ground
        .run(&pinned)
        .refused(&["--foreign require", "only processes of ours are pinned"]);
    let nobody = ["list", "--foreign", "require", "--foreign-dir", "."];
    ground
        .run(&nobody)
        .refused(&["--foreign require: no implementation is in"]);
    let word = ground
        .command(&["list"])
        .env("FLOWMETER_FOREIGN", "always")
        .output()
        .unwrap();
    assert_eq!(word.status.code(), Some(2));
}

#[test]
fn a_language_that_is_not_installed_is_told_and_left_out() {
    let ground = ground();
    ground.write(
        "scripts/foreign/shell/contestant.sh",
        "echo 'no shell is installed' >&2\nexit 1\n",
    );
    let answer = ground.run(&[
        "list",
        "-s",
        "^channels/spsc-64$",
        "-p",
        "^c1-conservation$",
    ]);
    assert!(
        answer
            .errors
            .contains("shell contestant.sh is left out: no shell is installed"),
        "{answer:?}"
    );
    assert!(!answer.fine().contains("shell-channel"));
    let required = ["list", "--foreign", "require"];
    ground.run(&required).refused(&["no shell is installed"]);
}

#[test]
fn an_original_re_enacts_claims_beside_ours() {
    let ground = ground();
    let told = ground
        .run(&[
            "claims",
            "-c",
            "with a parallelism of|is closed$",
            "--format",
            "json",
        ])
        .fine();
    let rows = rows(&told);
    let of = |name: &str| {
        let rows = rows.iter().filter(|row| row["implementation"] == name);
        rows.map(|row| {
            (
                row["claim"].as_str().unwrap(),
                row["holds"].as_str().unwrap(),
            )
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(
        of("shell-pipeline"),
        [
            ("with a parallelism of 1", "yes"),
            ("with a parallelism of 3", "version"),
            ("`to` is closed", "differs"),
        ]
    );
    assert!(of("core_async").len() == 2, "{told}");
    let statement = rows.last().unwrap();
    assert_eq!(statement["seed"], "SEMANTICS.md");
    assert!(
        statement["note"].as_str().unwrap().starts_with("P1: "),
        "{statement:?}"
    );
}
