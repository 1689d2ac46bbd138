//! Rounds, forks, windows, their order, and the progress that is reported meanwhile.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use flowmeter_measure::budget::Budget;
use flowmeter_measure::order::order_of_round;
use flowmeter_measure::protocol::decode_histogram;
use flowmeter_measure::{Entry, Event, Settled, Silent, Standing, resume, run, run_in_looks};

use flowmeter_records::RunData;

use crate::fakes::ALLOCATION_NANOS;
use crate::field::{Ground, assert_whole, entries, only_window, plan, spawn};
use crate::tests;

tests![
    every_entry_has_one_window_in_every_round,
    windows_follow_the_seeded_order,
    one_window_at_a_time,
    all_others_are_stopped_in_a_window,
    a_fork_is_a_generation_of_processes,
    all_entries_draw_from_the_same_seed,
    a_slowed_copy_is_told_so_and_told_apart,
    two_builds_are_timed_one_after_the_other_and_told_apart,
    latencies_reach_the_records,
    an_interrupt_from_the_terminal_does_not_reach_a_implementation,
    what_a_implementation_prints_does_no_harm,
    progress_counts_down_to_nothing,
    a_budget_too_small_drops_the_least_important,
    what_is_settled_at_a_look_gets_no_more_forks,
    when_all_is_settled_there_is_no_further_look,
    a_fork_ends_early_where_windows_are_longer_than_asked,
];

fn mixed() -> Vec<Entry> {
    let mut mixed = entries(&["ant", "bee", "cat"]);
    mixed.push(Entry::placebo("bee"));
    mixed
}

fn every_entry_has_one_window_in_every_round() {
    let ground = Ground::new();
    let plan = plan(ground.path(), &["x/one", "x/two"], &mixed());
    let summary = run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let data = ground.read();
    assert_whole(&data, &plan);
    assert_eq!(summary.windows, 2 * 6 * 4);
    assert_eq!(summary.failures, 0);
    let window = &data.windows[0];
    assert_eq!(window.nanos, 1_000, "as long as planned");
    assert_eq!(window.cpu_nanos, Some(10), "after the planned ramp");
    #[cfg(target_os = "linux")]
    assert!(window.peak_bytes.is_some_and(|bytes| bytes > 100_000));
}

fn windows_follow_the_seeded_order() {
    let ground = Ground::new();
    let plan = plan(ground.path(), &["x/one"], &mixed());
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let seen = ground.read().windows;
    let seen = seen.iter().map(|w| (w.implementation.as_str(), w.placebo));
    let entries = &plan.planned_scenarios[0].entries;
    let expected = (0..6).flat_map(|round| {
        let order = order_of_round(plan.run.seed, "x/one", round, entries.len());
        order
            .into_iter()
            .map(|i| (entries[i].implementation.as_str(), entries[i].placebo))
    });
    assert_eq!(seen.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

fn one_window_at_a_time() {
    // Each fake refuses a window in which it is not alone.
    let ground = Ground::new();
    let plan = plan(ground.path(), &["x/one"], &mixed());
    let summary = run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    assert_eq!(summary.failures, 0, "{:?}", ground.read().failures);
}

fn all_others_are_stopped_in_a_window() {
    // Each fake waits in its window until the others are stopped.
    let ground = Ground::new();
    let watching = [Entry::new("watches"), Entry::placebo("watches")];
    let mut plan = plan(ground.path(), &["x/one"], &watching);
    plan.run.forks = 1;
    let summary = run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    assert_eq!(summary.failures, 0, "{:?}", ground.read().failures);
}

fn a_fork_is_a_generation_of_processes() {
    let ground = Ground::new();
    let plan = plan(ground.path(), &["x/one"], &entries(&["ant", "bee"]));
    let started = RefCell::new(Vec::new());
    let counting = |scenario: &str, entry: &Entry, fork: u32| {
        started
            .borrow_mut()
            .push((entry.implementation.clone(), fork));
        spawn(scenario, entry, fork)
    };
    run(&plan, &ground.run_folder(), counting, &mut Silent).unwrap();
    let both = |fork| ["ant", "bee"].map(|name| (name.to_owned(), fork));
    assert_eq!(started.into_inner(), [both(0), both(1)].concat());
    let forks: Vec<_> = ground
        .read()
        .rounds
        .iter()
        .map(|r| (r.fork, r.round))
        .collect();
    assert_eq!(forks, [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5)]);
}

fn all_entries_draw_from_the_same_seed() {
    let ground = Ground::new();
    let plan = plan(ground.path(), &["x/one"], &mixed());
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let data = ground.read();
    // The value of each fake derives from the seed that it received.
    let value = |entry: &Entry, round| only_window(&data, "x/one", entry, round).unwrap().value;
    let entries = &plan.planned_scenarios[0].entries;
    for round in 0..6 {
        let first = value(&entries[0], round);
        assert!(entries.iter().all(|e| value(e, round) == first));
    }
    assert!((1..6).any(|round| value(&entries[0], round) != value(&entries[0], 0)));
}

fn a_slowed_copy_is_told_so_and_told_apart() {
    let ground = Ground::new();
    let slowed = Entry {
        slowed_percent: Some(10),
        ..Entry::new("ant")
    };
    let plan = plan(
        ground.path(),
        &["x/one"],
        &[Entry::new("ant"), slowed.clone()],
    );
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let data = ground.read();
    assert_whole(&data, &plan);
    let operations = |entry: &Entry| only_window(&data, "x/one", entry, 0).unwrap().operations;
    assert_eq!(operations(&Entry::new("ant")), 1_000);
    assert_eq!(operations(&slowed), 1_010);
}

fn two_builds_are_timed_one_after_the_other_and_told_apart() {
    let ground = Ground::new();
    let names = ["ant", "bee", "cat"];
    let pairs = names.map(|name| [Entry::new(name), Entry::base(name)]);
    let plan = plan(ground.path(), &["x/one"], &pairs.concat());
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let data = ground.read();
    assert_whole(&data, &plan);
    for pair in data.windows.chunks(2) {
        let [one, other] = pair else {
            panic!("windows come in pairs");
        };
        assert_eq!(one.implementation, other.implementation);
        assert_ne!(one.build, other.build);
    }
}

fn latencies_reach_the_records() {
    let ground = Ground::new();
    let plan = plan(ground.path(), &["x/one"], &entries(&["latency"]));
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let data = ground.read();
    let latency = data.windows[0].latency.as_ref().expect("it has latencies");
    let histogram = decode_histogram(&latency.response).unwrap();
    assert_eq!((histogram.len(), histogram.max() / 10), (1, 424));
    let window = &data.windows[0];
    assert_eq!(window.unsustained, Some(0.02), "a disturbed window is kept");
    assert_eq!(window.generator_p99_nanos, Some(77));
}

fn an_interrupt_from_the_terminal_does_not_reach_a_implementation() {
    let ground = Ground::new();
    let plan = plan(ground.path(), &["x/one"], &entries(&["out-of-reach"]));
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let data = ground.read();
    assert_eq!(data.failures, []);
    assert_whole(&data, &plan);
}

fn what_a_implementation_prints_does_no_harm() {
    let ground = Ground::new();
    let plan = plan(ground.path(), &["x/one"], &entries(&["prints", "ant"]));
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    assert_whole(&ground.read(), &plan);
}

fn progress_counts_down_to_nothing() {
    let ground = Ground::new();
    let plan = plan(
        ground.path(),
        &["x/one", "x/two"],
        &entries(&["ant", "lies"]),
    );
    let mut told: Vec<Standing> = Vec::new();
    let mut begun = Vec::new();
    let mut watch = |event: &Event<'_>| match event {
        Event::Window { standing, .. } | Event::Failure { standing, .. } => told.push(*standing),
        Event::Scenario {
            name, index, of, ..
        } => begun.push((name.to_string(), *index, *of)),
        _ => {}
    };
    run(&plan, &ground.run_folder(), spawn, &mut watch).unwrap();
    assert_eq!(
        begun,
        [("x/one".to_owned(), 0, 2), ("x/two".to_owned(), 1, 2)]
    );
    assert_eq!(
        told.len(),
        12 + 2,
        "a window a round and scenario, and two lies"
    );
    let falls = |pair: &[Standing]| pair[0].to_come > pair[1].to_come;
    assert!(told.windows(2).all(falls), "{told:?}");
    let last = told.last().unwrap();
    assert_eq!((last.done, last.to_come), (12, 0));
    assert_eq!(last.time_left, Duration::ZERO);
    assert!(told[0].time_left > Duration::ZERO);
}

fn a_budget_too_small_drops_the_least_important() {
    let ground = Ground::new();
    let mut plan = plan(
        ground.path(),
        &["x/one", "x/two", "x/three"],
        &entries(&["ant"]),
    );
    // Not even one scenario of 6 windows of 50 ms fits. The first scenario is measured all the same.
    plan.budget = Some(Budget {
        total: Duration::from_millis(100),
        longest_window: Duration::from_secs(1),
    });
    let mut dropped = Vec::new();
    let mut watch = |event: &Event<'_>| {
        if let Event::Dropped { scenario } = event {
            dropped.push(scenario.to_string());
        }
    };
    let summary = run(&plan, &ground.run_folder(), spawn, &mut watch).unwrap();
    assert_eq!(dropped, ["x/two", "x/three"]);
    assert_eq!((summary.dropped, summary.windows), (2, 6));
    let data = ground.read();
    assert!(
        data.windows.iter().all(|w| w.nanos == 50_000_000),
        "the shortest window"
    );
}

fn what_is_settled_at_a_look_gets_no_more_forks() {
    let ground = Ground::new();
    let mut all = vec![Entry::new("ant"), Entry::base("ant")];
    all.extend(entries(&["bee", "lies"]));
    let mut plan = plan(ground.path(), &["x/one", "x/two"], &all);
    (plan.run.forks, plan.run.looks) = (8, 3);
    plan.allocation_window = Some(Duration::from_nanos(ALLOCATION_NANOS));
    let seen = RefCell::new(Vec::new());
    let settled = |run: &RunData| {
        seen.borrow_mut().push(run.rounds.len());
        Settled::from([("x/one".to_owned(), "ant".to_owned())])
    };
    let folder = ground.run_folder();
    let summary = run_in_looks(&plan, &folder, spawn, settled, &mut Silent).unwrap();
    let data = ground.read();
    // Two forks of three rounds for each scenario, then two more, then four more.
    assert_eq!(seen.into_inner(), [12, 24]);
    assert_eq!(data.rounds.len(), 48);
    let windows = |scenario: &str, name: &str| {
        let all = data.windows.iter();
        all.filter(|w| w.scenario == scenario && w.implementation == name)
            .count()
    };
    assert_eq!(windows("x/one", "ant"), 2 * 6, "both builds end");
    assert_eq!(windows("x/one", "bee"), 24);
    assert_eq!(windows("x/two", "ant"), 2 * 24);
    assert_eq!(summary.windows, data.windows.len() as u64);
    let forks: BTreeSet<u32> = data.rounds.iter().map(|round| round.fork).collect();
    assert_eq!(forks, (0..8).collect());
    assert_eq!(summary.failures, 2, "what fails is one row a scenario");
    assert_eq!(data.allocations.len(), 4, "counted once");
    let error = resume(&plan, &folder, spawn, &mut Silent).unwrap_err();
    assert!(error.to_string().contains("several times"), "{error}");
}

fn when_all_is_settled_there_is_no_further_look() {
    let ground = Ground::new();
    let mut plan = plan(ground.path(), &["x/one"], &entries(&["ant"]));
    (plan.run.forks, plan.run.looks) = (8, 3);
    let settled = |_: &RunData| Settled::from([("x/one".to_owned(), "ant".to_owned())]);
    let mut looks = 0;
    let mut count = |event: &Event<'_>| looks += u32::from(matches!(event, Event::Look { .. }));
    let folder = ground.run_folder();
    let summary = run_in_looks(&plan, &folder, spawn, settled, &mut count).unwrap();
    assert_eq!((summary.windows, looks), (6, 0));
}

fn a_fork_ends_early_where_windows_are_longer_than_asked() {
    let ground = Ground::new();
    let mut plan = plan(ground.path(), &["x/one"], &entries(&["ant", "bee"]));
    // Windows of the fakes are as long as asked: 1 us.
    plan.fork_limit = Some(Duration::from_micros(2));
    run(&plan, &ground.run_folder(), spawn, &mut Silent).unwrap();
    let rounds = ground.read().rounds.into_iter();
    let rounds: Vec<_> = rounds.map(|round| (round.fork, round.round)).collect();
    assert_eq!(rounds, [(0, 0), (0, 1), (1, 3), (1, 4)]);
}
