//! The statements of the seed texts, and the behaviour of ours.

use std::collections::BTreeMap;

use flowmeter_records::Holds;

use crate::ground::{Ground, rows};
use crate::stated::{ALL, CODE_READ, TIMEOUT_CHANNELS};

const KEYS: [&str; 8] = [
    "seed",
    "claim",
    "implementation",
    "origin",
    "expected",
    "seen",
    "holds",
    "note",
];

#[test]
fn each_claim_holds_or_a_statement_says_why_not() {
    let ground = Ground::new();
    let output = ground.run(&["claims", "--format", "json"]).fine();
    let mut seen = Vec::new();
    for row in rows(&output) {
        let text = |key: &str| {
            row[key]
                .as_str()
                .unwrap_or_else(|| panic!("{row:?}"))
                .to_owned()
        };
        assert_eq!(row["origin"], "own", "{row:?}");
        let note = row["note"].as_str().map(str::to_owned);
        let id = note.as_deref().and_then(|note| note.split_once(": "));
        let id = id
            .filter(|_| row["holds"] == "differs")
            .map(|(id, _)| id.to_owned());
        let [seed, claim, implementation] = ["seed", "claim", "implementation"].map(text);
        seen.push((seed, claim, implementation, text("seen"), text("holds"), id));
    }
    let mut expected = Vec::new();
    for (seed, claims) in ALL {
        for (claim, names, seen, holds, id) in *claims {
            expected.extend(names.iter().map(|name| {
                let [seed, claim, name, seen, holds] =
                    [*seed, claim, name, seen, holds].map(str::to_owned);
                (seed, claim, name, seen, holds, id.map(str::to_owned))
            }));
        }
    }
    for (seen, expected) in seen.iter().zip(&expected) {
        assert_eq!(seen, expected);
    }
    assert_eq!(seen.len(), expected.len());
}

#[test]
fn the_keys_of_a_row_stand_in_their_order() {
    let ground = Ground::new();
    let output = ground
        .run(&["claims", "-c", "MAX_VALUE|ten|pool", "--format", "json"])
        .fine();
    assert!(output.lines().count() > 4, "{output}");
    for line in output.lines() {
        let places = KEYS.map(|key| {
            line.find(&format!("\"{key}\":"))
                .unwrap_or_else(|| panic!("{key}: {line}"))
        });
        assert!(places.is_sorted(), "{line}");
    }
    assert!(rows(&output).iter().all(|row| row.len() == KEYS.len()));
}

#[test]
fn claims_are_chosen_by_implementation_and_by_their_words() {
    let ground = Ground::new();
    let chosen = |arguments: &[&str]| {
        let output = ground
            .run(&[&["claims", "--format", "json"], arguments].concat())
            .fine();
        let names = rows(&output).into_iter();
        names
            .map(|row| row["implementation"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(chosen(&["-i", "^fixed_pool$"]), ["fixed_pool"; 3]);
    assert_eq!(
        chosen(&["-i", "^heap|^mutex$", "-c", "^001.*300 ms, in"]),
        ["mutex", "heap"]
    );
    assert_eq!(chosen(&["-c", "identical"]), ["delay_queue"]);
    // They take part, and are in no text.
    assert_eq!(chosen(&["-i", "^condvar$|^kanal$"]), [""; 0]);
    let told = ground.run(&["claims", "-i", "^condvar$"]).fine();
    assert!(told.contains("no claim is about these"), "{told}");
    let nobody = ["claims", "-c", "no such words"];
    let parts = [
        "no claim matches 'no such words'",
        "`cargo flowmeter claims` shows them all",
    ];
    ground.run(&nobody).refused(&parts);
}

#[test]
fn the_tables_fit_a_hundred_columns_and_give_reasons() {
    let ground = Ground::new();
    let told = ground.run(&["claims"]).fine();
    for line in told.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let places = [
        CODE_READ,
        "2 + cores",
        "inconsistent",
        TIMEOUT_CHANNELS,
        "20 channels",
        "(T4:",
    ];
    let places = places.map(|part| told.find(part).unwrap_or_else(|| panic!("{part}: {told}")));
    assert!(places.is_sorted(), "{told}");
    assert!(
        told.trim_end()
            .ends_with("hold, 0 do not, 22 differ on purpose, 3 inconsistent"),
        "{told}"
    );
}

#[test]
fn claims_become_part_of_a_run_and_of_its_report() {
    let ground = Ground::with_run();
    ground.run(&["report", "run"]).fine();
    let advice = "cargo flowmeter claims --into RUN";
    assert!(ground.text("run/report.html").contains(advice));
    let before = ground.read_run();
    for _ in 0..2 {
        let told = ground
            .run(&["claims", "-c", "^001", "--into", "run"])
            .fine();
        assert!(told.contains("rows added to the run"), "{told}");
    }
    let after = ground.read_run();
    assert_eq!(after.windows.len(), before.windows.len());
    let mut times = BTreeMap::new();
    for row in &after.seed_claims {
        *times.entry((&row.claim, &row.implementation)).or_insert(0) += 1;
        let is_explained = row.holds != Holds::Differs || row.note.is_some();
        assert!(row.seed == TIMEOUT_CHANNELS && is_explained, "{row:?}");
        assert_ne!(row.holds, Holds::No, "{row:?}");
    }
    assert!(times.len() > 40 && times.values().all(|times| *times == 2));
    ground.run(&["report", "run"]).fine();
    let page = ground.text("run/report.html");
    assert!(!page.contains(advice));
    assert!(page.contains(TIMEOUT_CHANNELS) && !page.contains(CODE_READ));
    // Once each: the last of them counts.
    assert_eq!(page.matches("20 channels").count(), 1);
    let records = ground.text("run/records.jsonl");
    let documented = include_str!("../../../../harness/records/src/record.md");
    assert!(
        records.contains("\"record\":\"seed-claim\"") && documented.contains("## `seed-claim`")
    );
    for key in KEYS {
        assert!(documented.contains(&format!("`{key}`")), "{key}");
    }
}
