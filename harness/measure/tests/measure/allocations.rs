//! The allocation pass: it runs once for each implementation that has windows, and loses no number.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use flowmeter_measure::{Entry, Event, Plan, Silent, resume, run};
use flowmeter_records::{Allocation, RunData};

use crate::fakes::ALLOCATION_NANOS;
use crate::field::{Ground, assert_whole, entries, plan, spawn};
use crate::tests;

tests![
    each_implementation_with_numbers_is_counted_once_in_a_process_of_its_own,
    an_implementation_that_cannot_be_counted_keeps_its_number,
    a_run_cut_off_anywhere_counts_each_implementation_once,
];

const SCENARIOS: &[&str] = &["x/one", "x/two"];

fn counting(ground: &Ground, entries: &[Entry]) -> Plan {
    Plan {
        allocation_window: Some(Duration::from_nanos(ALLOCATION_NANOS)),
        ..plan(ground.path(), SCENARIOS, entries)
    }
}

fn counted(data: &RunData) -> Vec<(&str, &str)> {
    let key =
        |a: &Allocation| -> (String, String) { (a.scenario.clone(), a.implementation.clone()) };
    let keys: BTreeSet<_> = data.allocations.iter().map(key).collect();
    assert_eq!(
        keys.len(),
        data.allocations.len(),
        "no implementation is counted twice"
    );
    let allocations = data.allocations.iter();
    allocations
        .map(|a| (a.scenario.as_str(), a.implementation.as_str()))
        .collect()
}

fn each_implementation_with_numbers_is_counted_once_in_a_process_of_its_own() {
    let ground = Ground::new();
    let mut field = entries(&["ant", "lies", "bee"]);
    field.push(Entry::placebo("bee"));
    field.push(Entry {
        slowed_percent: Some(10),
        ..Entry::new("ant")
    });
    let plan = counting(&ground, &field);
    let started = RefCell::new(0);
    let spawn = |scenario: &str, entry: &Entry, fork: u32| {
        *started.borrow_mut() += 1;
        spawn(scenario, entry, fork)
    };
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let data = ground.read();
    let all = [
        ("x/one", "ant"),
        ("x/one", "bee"),
        ("x/two", "ant"),
        ("x/two", "bee"),
    ];
    assert_eq!(counted(&data), all);
    let allocation = &data.allocations[0];
    let numbers = (
        allocation.operations,
        allocation.allocations,
        allocation.bytes,
    );
    assert_eq!(numbers, (1_000, 500, 8_000));
    assert_eq!(allocation.peak_live_bytes, 64);
    // Per scenario: 5 processes in the first fork, 4 in the second, 2 to count.
    assert_eq!(started.into_inner(), 2 * (5 + 4 + 2));
    assert_eq!(data.windows.len(), 2 * 6 * 4, "windows are timed ones only");
}

fn an_implementation_that_cannot_be_counted_keeps_its_number() {
    let ground = Ground::new();
    let plan = counting(&ground, &entries(&["ant", "uncountable"]));
    let mut told = Vec::new();
    let mut watch = |event: &Event<'_>| {
        if let Event::Uncounted {
            scenario,
            implementation,
            why,
        } = event
        {
            told.push(format!("{scenario} {implementation}: {why}"));
        }
    };
    let summary = run(&plan, &ground.run_folder(), spawn, &mut watch).unwrap();
    let data = ground.read();
    assert_whole(&data, &plan);
    assert_eq!((summary.failures, data.failures.len()), (0, 0));
    assert_eq!(counted(&data), [("x/one", "ant"), ("x/two", "ant")]);
    assert_eq!(
        told,
        [
            "x/one uncountable: not while it is watched",
            "x/two uncountable: not while it is watched"
        ]
    );
}

fn a_run_cut_off_anywhere_counts_each_implementation_once() {
    let whole = Ground::new();
    let names = entries(&["ant", "bee"]);
    let plan = counting(&whole, &names);
    run(&plan, &whole.run_folder(), spawn, &mut Silent).unwrap();
    let lines = whole.lines();
    let allocations = |n: &usize| lines[*n].contains("\"allocation\"");
    // Killed before each of them, amid each, after each, and before the end of the run.
    for first in (0..lines.len()).filter(allocations) {
        for torn in [0, 20, lines[first].len()] {
            let ground = Ground::new();
            let plan = counting(&ground, &names);
            fs::create_dir(ground.run_folder()).unwrap();
            let cut = lines[..first].concat() + &lines[first][..torn];
            fs::write(ground.records(), cut).unwrap();
            let resumed = resume(&plan, &ground.run_folder(), spawn, &mut Silent);
            assert!(resumed.expect("it can be resumed").is_some());
            let data = ground.read();
            assert_whole(&data, &plan);
            assert_eq!(counted(&data).len(), 4);
        }
    }
}
