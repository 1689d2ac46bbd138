//! Implementations in other languages, through the whole of a small run: one that hangs, dies or prints rubbish is a row
//! that says so, and the others have their numbers.

use std::fs;
use std::path::Path;
use std::time::Duration;

use flowmeter_harness::caps::Origin;
use flowmeter_measure::pin::Pinning;
use flowmeter_measure::{Silent, run};
use flowmeter_records::{FailureKind, read_run};
use flowmeter_suites::campaign::{Selection, Settings, plan};
use flowmeter_suites::descriptions::Descriptions;
use flowmeter_suites::foreign::{Foreigners, Wanted, manifest};
use flowmeter_suites::scenario::built_in;
use flowmeter_timed::catalogue;

/// An implementation as a shell script: the name that it is prepared with selects its behaviour. Its numbers are made up,
/// and one of its histograms is a list of buckets.
const CONTESTANT: &str = r#"
case "$1" in --version) echo 'shell 7'; exit;; esac
windows=0
while read -r line; do
    case "$line" in
    *'"prepare"'*)
        manner=${line#*'"implementation":"'}
        manner=${manner%%'"'*}
        test "$manner" = dies-at-once && { echo 'no memory' >&2; exit 3; }
        test "$manner" = hangs-at-start && exec sleep 600
        echo '{"answer":"ready"}' ;;
    *'"prove"'*)
        test "$manner" = hangs-in-proof && exec sleep 600
        test "$manner" = unproved && { echo '{"answer":"error","kind":"proof","message":"7 came before 6"}'; continue; }
        echo '{"answer":"proved"}' ;;
    *'"peak-memory"'*) echo '{"answer":"peak-memory","bytes":4096}' ;;
    *'"allocations"'*) echo '{"answer":"uncounted"}' ;;
    *'"window"'*)
        windows=$((windows + 1))
        case "$manner" in
        hangs) exec sleep 600 ;;
        dies) test $windows = 2 && exit 4 ;;
        babbles) while :; do echo 'good morning'; done ;;
        half) printf '{"answer":"sam'; exit ;;
        no-text) printf '\377\376\n'; continue ;;
        endless) exec yes 'and so on' | tr -d '\n' ;;
        another-answer) echo '{"answer":"proved"}'; continue ;;
        answers-twice) echo '{"answer":"sample","value":2.5,"operations":90,"nanos":1000}' ;;
        long-winded) printf '{"answer":"error","kind":"count","message":"'; head -c 100000 /dev/zero | tr '\0' x; echo '"}'; continue ;;
        uncountable) echo '{"answer":"sample","value":1,"operations":9,"nanos":9,"lateness":{"called":[[100,18446744073709551615]],"early":0}}'; continue ;;
        no-histogram) echo '{"answer":"sample","value":1,"operations":9,"nanos":9,"lateness":{"called":[[1]],"early":0}}'; continue ;;
        esac
        echo '{"answer":"sample","value":2.5,"operations":90,"nanos":1000,"warm_up":{"windows":9,"nanos":450,"settled":true},"lateness":{"called":[[100,3],[200,1]],"early":2}}' ;;
    esac
done
"#;

const MANNERS: [&str; 16] = [
    "honest",
    "dies-at-once",
    "hangs-in-proof",
    "unproved",
    "hangs",
    "dies",
    "babbles",
    "half",
    "no-histogram",
    "hangs-at-start",
    "no-text",
    "endless",
    "another-answer",
    "answers-twice",
    "long-winded",
    "uncountable",
];

fn write_folder(above: &Path) {
    let folder = above.join("shell");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("contestant.sh"), CONTESTANT).unwrap();
    let mut written = r#"
[[language]]
start = ["sh", "contestant.sh"]
"#
    .to_owned();
    for name in MANNERS {
        written += &format!(
            r#"
[[language.contestant]]
name = "{name}"
kind = "timer"
offers = ["sleep"]
runs = [{{ workload = "timer-lateness", busy = 0, slow_micros = 0, form = "callback" }}]
"#
        );
    }
    fs::write(folder.join(manifest::FILE), written).unwrap();
}

pub fn rows_of_failures() {
    let ground = tempfile::tempdir().unwrap();
    write_folder(ground.path());
    let foreign = Foreigners::find(Wanted::Require, Some(ground.path())).unwrap();
    let mut scenarios = built_in();
    scenarios.retain(|scenario| scenario.name == "timers/lateness-16");
    let mut descriptions = Descriptions::ask(&catalogue(), |_| false, &scenarios);
    descriptions.join(&foreign, &scenarios).unwrap();
    let selection = Selection {
        descriptions,
        foreign,
        scenarios,
    };
    let settings = Settings {
        rounds: 3,
        forks: 1,
        window: Duration::from_millis(1),
        budget: None,
        seed: 1,
        pinning: Pinning::Free,
        slowed_percent: Some(10),
        against: None,
        without: Vec::new(),
        looks: 1,
        layouts: 1,
        strict: false,
        command: String::new(),
        scenario_dir: None,
        foreign_dir: None,
    };
    let mut plan = plan(&selection, Vec::new(), Vec::new(), &settings);
    plan.noise_watch = Duration::ZERO;
    plan.prove_limit = Duration::from_secs(3);
    plan.window_limit = Duration::from_secs(2);
    // The entry that appears twice is drawn by name; its second row would show nothing more.
    assert!(
        plan.planned_scenarios[0]
            .entries
            .iter()
            .all(|entry| entry.slowed_percent.is_none())
    );
    plan.planned_scenarios[0]
        .entries
        .retain(|entry| !entry.placebo);

    let start = |_: &str, entry: &flowmeter_measure::Entry, _: u32| {
        let command = selection.foreign.command(&entry.implementation);
        command.expect("all of them are foreign")
    };
    let folder = ground.path().join("run");
    run(&plan, &folder, start, &mut Silent).unwrap();
    let data = read_run(&folder).unwrap();

    assert!(
        data.implementations
            .values()
            .all(|it| it.origin == Origin::Foreign)
    );
    assert_eq!(data.implementations["honest"].version, "shell 7");
    let windows: Vec<_> = data
        .windows
        .iter()
        .filter(|w| w.implementation == "honest")
        .collect();
    assert_eq!(windows.len(), 3);
    let warm_up = windows[0].findings.warm_up.expect("it told");
    assert_eq!((warm_up.windows, warm_up.settled), (9, true));
    let lateness = windows[0].findings.lateness.as_ref().expect("it told");
    assert_eq!(lateness.early, 2);
    for (name, kind, part) in [
        ("dies-at-once", FailureKind::Crash, "no memory"),
        (
            "hangs-in-proof",
            FailureKind::Hang,
            "no answer within 3.0 s",
        ),
        ("unproved", FailureKind::Proof, "7 came before 6"),
        ("hangs", FailureKind::Hang, "no answer within 2.0 s"),
        ("dies", FailureKind::Crash, "exit status: 4"),
        ("babbles", FailureKind::Protocol, "good morning"),
        ("half", FailureKind::Crash, "exit status: 0"),
        ("no-histogram", FailureKind::Protocol, "is no bucket"),
        (
            "hangs-at-start",
            FailureKind::Hang,
            "no answer within 3.0 s",
        ),
        ("no-text", FailureKind::Protocol, "it answered"),
        ("endless", FailureKind::Protocol, "and so onand so on"),
        (
            "another-answer",
            FailureKind::Protocol,
            "where sample was due",
        ),
        // Unrequested, or in place of another answer: it fails as soon as it is seen.
        ("answers-twice", FailureKind::Protocol, "sample"),
        ("long-winded", FailureKind::Count, "xxx…"),
        ("uncountable", FailureKind::Protocol, "fits no histogram"),
    ] {
        let mut rows = data
            .failures
            .iter()
            .filter(|row| row.implementation == name);
        let row = rows.next().unwrap_or_else(|| panic!("{name} has a row"));
        assert_eq!(row.kind, kind, "{row:?}");
        assert!(row.message.contains(part), "{row:?}");
        assert!(row.message.len() < 5_000, "{name} fits a row");
        assert!(rows.next().is_none(), "{name} has one row");
    }
    assert!(data.end.is_some(), "the run came to its end");
}
