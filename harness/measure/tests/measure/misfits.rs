//! Implementations that fail become rows of the report. The others are measured as if nothing had happened.

use std::time::Duration;

use flowmeter_measure::{Entry, Plan, Silent, StageError, run};
use flowmeter_records::FailureKind::{
    self, Count, Crash, Hang, Panic, Proof, Protocol, Unproved, Void,
};
use flowmeter_records::RunData;

use crate::field::{Ground, entries, only_failure, only_window, plan, spawn};
use crate::tests;

tests![
    an_implementation_that_fails_has_one_row_of_the_right_kind_and_no_window,
    one_that_hangs_in_a_window_is_killed_and_has_one_row,
    one_that_spins_in_a_window_is_killed_and_has_one_row,
    one_that_hangs_in_its_proof_is_killed_and_has_one_row,
    an_implementation_that_aborts_later_keeps_what_was_measured_and_has_no_more,
    a_placebo_fails_for_itself,
    an_entry_that_is_kept_out_is_never_started,
    when_all_have_failed_the_scenario_ends,
];

fn measured(plan: &Plan, ground: &Ground) -> RunData {
    run(plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    ground.read()
}

/// Each fails in its first window or earlier, and "ant" has all its windows.
fn assert_rows(data: &RunData, plan: &Plan, rows: &[(&str, FailureKind, Option<u32>, &str)]) {
    for (name, kind, round, message) in rows {
        let failure = only_failure(data, name);
        assert_eq!(
            (failure.kind, failure.round),
            (*kind, *round),
            "{failure:?}"
        );
        assert!(failure.message.contains(message), "{failure:?}");
        assert_eq!(failure.fork, 0, "{name} was not tried again");
        assert!(data.windows.iter().all(|w| w.implementation != *name));
    }
    assert_eq!(data.failures.len(), rows.len());
    let ant = Entry::new("ant");
    for round in 0..plan.total_rounds() {
        assert!(only_window(data, "x/one", &ant, round).is_some());
    }
    let end = data.end.as_ref().expect("the run came to its end");
    assert_eq!(end.failures, rows.len() as u64);
}

fn an_implementation_that_fails_has_one_row_of_the_right_kind_and_no_window() {
    let rows = [
        ("panics", Panic, Some(0), "three is not four"),
        ("exits", Crash, Some(0), "exit status: 0"),
        ("lies", Count, Some(0), "put 1000, took 999"),
        ("void", Void, Some(0), "it cannot sustain that"),
        ("not-a-number", Protocol, Some(0), "\"value\\\":null"),
        ("no-time", Protocol, Some(0), "in 0 ns"),
        ("rubbish", Protocol, None, "good morning"),
        ("rubbish-in-window", Protocol, Some(0), "good morning"),
        ("unprepared", Protocol, None, "no such scenario"),
        ("panics-unprepared", Panic, None, "not like this"),
        ("unproved", Proof, None, "C2: 7 came before 6"),
        ("aborts-in-proof", Crash, None, "signal: 6"),
        ("nowhere", Crash, None, "cannot be started"),
    ];
    let mut names = vec!["ant"];
    names.extend(rows.iter().map(|row| row.0));
    let ground = Ground::new();
    let plan = plan(ground.path(), &["x/one"], &entries(&names));
    assert_rows(&measured(&plan, &ground), &plan, &rows);
}

fn one_that_hangs_in_a_window_is_killed_and_has_one_row() {
    assert_hung("hangs", Some(0), "no answer within 2.0 s");
}

fn one_that_spins_in_a_window_is_killed_and_has_one_row() {
    assert_hung("spins", Some(0), "no answer within 2.0 s");
}

fn one_that_hangs_in_its_proof_is_killed_and_has_one_row() {
    assert_hung("hangs-in-proof", None, "no answer within 4.0 s");
}

#[track_caller]
fn assert_hung(name: &str, round: Option<u32>, message: &str) {
    let ground = Ground::new();
    let mut plan = plan(ground.path(), &["x/one"], &entries(&["ant", name]));
    plan.window_limit = Duration::from_secs(2);
    plan.prove_limit = Duration::from_secs(4);
    let data = measured(&plan, &ground);
    assert_rows(&data, &plan, &[(name, Hang, round, message)]);
    let alive = std::fs::File::open(ground.path().join("alive")).unwrap();
    alive.try_lock().expect("no implementation lives on");
}

fn an_implementation_that_aborts_later_keeps_what_was_measured_and_has_no_more() {
    let ground = Ground::new();
    let plan = plan(
        ground.path(),
        &["x/one"],
        &entries(&["ant", "aborts-later"]),
    );
    let data = measured(&plan, &ground);
    let failure = only_failure(&data, "aborts-later");
    assert_eq!((failure.kind, failure.round), (Crash, Some(1)));
    assert!(failure.message.contains("signal: 6"), "{failure:?}");
    assert!(
        failure.message.contains("the sky is falling"),
        "{failure:?}"
    );
    let its = |name: &str| {
        data.windows
            .iter()
            .filter(|w| w.implementation == name)
            .count()
    };
    assert_eq!((its("aborts-later"), its("ant")), (1, 6));
    assert_eq!(data.rounds.len(), 6);
}

fn a_placebo_fails_for_itself() {
    let ground = Ground::new();
    // Both need to be alone, and neither disturbs the other; both fail.
    let two = [Entry::new("lies"), Entry::placebo("lies")];
    let plan = plan(ground.path(), &["x/one"], &two);
    let data = measured(&plan, &ground);
    let mut placebos: Vec<bool> = data.failures.iter().map(|f| f.placebo).collect();
    placebos.sort_unstable();
    assert_eq!(placebos, [false, true]);
}

fn an_entry_that_is_kept_out_is_never_started() {
    let ground = Ground::new();
    let kept_out = |name: &str, kind, message: &str| Entry {
        kept_out: Some(StageError {
            kind,
            message: message.to_owned(),
        }),
        ..Entry::new(name)
    };
    let bee = kept_out("bee", Proof, "C1: a value was lost");
    let wasp = kept_out("wasp", Unproved, "undecided: hung: c1-conservation");
    let plan = plan(ground.path(), &["x/one"], &[Entry::new("ant"), bee, wasp]);
    let only_ant = |scenario: &str, entry: &Entry, fork: u32| {
        assert_eq!(entry.implementation, "ant");
        spawn(scenario, entry, fork)
    };
    run(&plan, &ground.run_folder(), only_ant, &mut Silent).unwrap();
    let rows = [
        ("bee", Proof, None, "a value was lost"),
        ("wasp", Unproved, None, "undecided: hung"),
    ];
    assert_rows(&ground.read(), &plan, &rows);
}

fn when_all_have_failed_the_scenario_ends() {
    let ground = Ground::new();
    let plan = plan(
        ground.path(),
        &["x/one", "x/two"],
        &entries(&["lies", "panics"]),
    );
    let data = measured(&plan, &ground);
    assert_eq!(data.failures.len(), 4);
    assert!(data.failures.iter().all(|f| f.kind != Void));
    assert_eq!(
        data.rounds.len(),
        2,
        "the round in which they failed, in each scenario"
    );
    assert!(data.end.is_some());
}
