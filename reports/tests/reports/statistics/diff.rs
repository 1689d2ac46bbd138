//! Two runs of one build, and of a build that is slower in one place.

use std::collections::{BTreeMap, BTreeSet};

use flowmeter_harness::caps::Origin;
use flowmeter_records::{Failure, FailureKind, Measure, RunData};
use flowmeter_reports::statistics::{Diff, Verdict, diff};
use rand_pcg::Pcg32;

use crate::fixture::{self, Shape, normal};

/// The threshold of a change in these tests, a share.
const RELEVANT: f64 = 0.05;

/// More than a hundred cells with the same true values each time.
fn truth() -> RunData {
    let shape = Shape {
        implementations: 9,
        scenarios: 23,
        forks: 10,
        rounds_per_fork: 3,
        noise: 0.0,
        histograms: false,
        failures: false,
        ..Shape::default()
    };
    let mut run = fixture::run(&shape);
    // Five of them may change; four crates have the same versions.
    for name in ["kanal", "flume", "tokio-mpsc"] {
        let it = run.implementations.get_mut(name).expect("it takes part");
        it.origin = Origin::Own;
    }
    // The fixture's own noise repeats exactly, so it does not act as drift.
    let mut first = BTreeMap::new();
    for window in &mut run.windows {
        let cell = (&window.scenario, &window.implementation, window.placebo);
        window.value = *first.entry(cell).or_insert(window.value);
    }
    run
}

/// The same on another day: each scenario, round, process and window is a little slower or faster, and so is the
/// whole run.
fn on_day(day: u64, truth: &RunData) -> RunData {
    on_restless_day(day, truth, |_| 0.0)
}

/// In addition each cell is slower or faster, by a cause that forks do not show: by so much in each scenario.
fn on_restless_day(day: u64, truth: &RunData, restless: impl Fn(&str) -> f64) -> RunData {
    let mut run = truth.clone();
    let mut rng = Pcg32::new(day, 0xDA7);
    let mut of = BTreeMap::new();
    let today = 0.05 * normal(&mut rng);
    for window in &mut run.windows {
        let mut drawn =
            |key: String, spread: f64| *of.entry(key).or_insert_with(|| spread * normal(&mut rng));
        let (scenario, fork) = (&window.scenario, window.fork);
        let mut log = today + drawn(scenario.clone(), 0.05);
        log += drawn(format!("{scenario} {}", window.round), 0.1);
        let implementation = format!("{scenario} {} {}", window.implementation, window.placebo);
        log += drawn(implementation.clone(), restless(scenario));
        log += drawn(format!("{implementation} {fork}"), 0.015);
        log += drawn(format!("{implementation} {fork} {}", window.round), 0.03);
        window.value *= log.exp();
    }
    run
}

fn slow_down(run: &mut RunData, scenario: &str, implementation: &str, factor: f64) {
    let up = run.scenarios[scenario].measure == Measure::Throughput;
    for w in &mut run.windows {
        if w.scenario == scenario && w.implementation == implementation && !w.placebo {
            w.value *= if up { 1.0 / factor } else { factor };
        }
    }
}

fn compared(base: RunData, new: RunData) -> Diff {
    diff(&[base, new], RELEVANT).expect("they are of the same scenarios")
}

fn called(diff: &Diff) -> Vec<(&str, &str, Verdict)> {
    let quiet = [Verdict::Level, Verdict::Unjudged];
    let changed = diff.changes.iter().filter(|c| !quiet.contains(&c.verdict));
    changed
        .map(|c| (&*c.scenario, &*c.implementation, c.verdict))
        .collect()
}

#[test]
fn two_runs_of_one_build_differ_in_nothing() {
    let truth = truth();
    for day in 0..3 {
        let diff = compared(on_day(2 * day, &truth), on_day(2 * day + 1, &truth));
        assert!(diff.count(Verdict::Level) >= 100, "{diff:?}");
        assert_eq!(diff.unjudged, None);
        assert_eq!(called(&diff), []);
        for change in &diff.changes {
            let says_why = change.why.is_some();
            assert_eq!(says_why, change.verdict == Verdict::Unjudged, "{change:?}");
        }
    }
}

#[test]
fn what_differs_between_runs_and_not_between_forks_is_no_change() {
    let truth = truth();
    for day in 0..3 {
        let [base, new] = [2 * day, 2 * day + 1].map(|day| on_restless_day(day, &truth, |_| 0.03));
        assert_eq!(called(&compared(base, new)), []);
    }
}

#[test]
fn a_restless_scenario_is_not_called_and_does_not_hide_a_change_elsewhere() {
    let truth = truth();
    let restless = |scenario: &str| match scenario.contains("4x") {
        true => 0.2,
        false => 0.0,
    };
    let many = truth.scenarios.keys().filter(|name| restless(name) > 0.1);
    assert!(many.count() >= 4, "a few of them are restless");
    let mut slower = truth.clone();
    slow_down(&mut slower, "channels/spsc-64", "kanal", 1.1);
    for day in 0..3 {
        let on = |day, truth| on_restless_day(day, truth, restless);
        let base = on(2 * day, &truth);
        assert_eq!(called(&compared(base.clone(), on(2 * day + 1, &truth))), []);
        let cell = ("channels/spsc-64", "kanal", Verdict::Regression);
        assert_eq!(called(&compared(base, on(2 * day + 1, &slower))), [cell]);
    }
}

#[test]
fn controls_are_not_judged_and_without_them_nothing_is() {
    let truth = truth();
    let slowed = |name| {
        let mut slower = truth.clone();
        slow_down(&mut slower, "channels/spsc-64", name, 2.0);
        on_day(1, &slower)
    };
    let base = on_day(0, &truth);
    assert_eq!(called(&compared(base.clone(), slowed("crossfire"))), []);
    let cell = ("channels/spsc-64", "kanal", Verdict::Regression);
    assert_eq!(called(&compared(base.clone(), slowed("kanal"))), [cell]);
    let mut rebuilt = slowed("kanal");
    rebuilt.run.machine.rustc = "rustc 1.96.0".to_owned();
    let diff = compared(base, rebuilt);
    assert_eq!(called(&diff), []);
    let why = diff.unjudged.as_deref().expect("no crate is the same code");
    assert!(
        why.contains("no cell of code that is the same in both runs"),
        "{why}"
    );
    let of_cell = diff.changes.iter().find(|c| c.implementation == "kanal");
    assert_eq!(of_cell.unwrap().why.as_deref(), Some(why));
}

#[test]
fn a_scenario_with_two_controls_is_not_judged_and_the_others_are() {
    let mut truth = truth();
    let mut crates = truth.implementations.values();
    let crates = crates.by_ref().filter(|it| it.origin == Origin::Peer);
    let kept: Vec<String> = crates.take(2).map(|it| it.name.clone()).collect();
    let implementations = truth.implementations.clone();
    truth.windows.retain(|w| {
        let own = implementations[&w.implementation].origin == Origin::Own;
        w.scenario != "channels/spsc-64" || own || kept.contains(&w.implementation)
    });
    let mut slower = truth.clone();
    for scenario in ["channels/spsc-64", "channels/spsc-1"] {
        slow_down(&mut slower, scenario, "kanal", 2.0);
    }
    let diff = compared(on_day(0, &truth), on_day(1, &slower));
    let cell = ("channels/spsc-1", "kanal", Verdict::Regression);
    assert_eq!(called(&diff), [cell]);
    let mut alone = diff.changes.iter();
    let alone = alone.find(|c| c.scenario == "channels/spsc-64" && c.implementation == "kanal");
    let alone = alone.unwrap();
    assert_eq!((alone.verdict, alone.drift), (Verdict::Unjudged, None));
    let why = alone.why.as_deref().unwrap();
    assert!(why.contains("fewer than three others"), "{why}");
}

/// The cells that may have changed: those of the five implementations that are no controls.
fn ours(run: &RunData) -> Vec<(String, String)> {
    let own = |name: &&String| run.implementations[*name].origin == Origin::Own;
    let names: Vec<&String> = run.implementations.keys().filter(own).collect();
    let cells = run.scenarios.keys().flat_map(|scenario| {
        let measured = |name: &&&String| {
            let mut windows = run.windows.iter();
            windows.any(|w| w.scenario == *scenario && w.implementation == ***name)
        };
        let names = names.iter().filter(measured);
        names.map(|name| (scenario.clone(), (*name).clone()))
    });
    cells.collect()
}

#[test]
fn a_tenth_is_called_in_however_many_of_our_cells_it_is() {
    let truth = truth();
    let cells = ours(&truth);
    assert!(cells.len() >= 80, "{}", cells.len());
    for (day, share) in [(0, 4), (1, 2), (2, 1)] {
        let mut slower = truth.clone();
        let regressed: BTreeSet<_> = cells.iter().step_by(share).cloned().collect();
        for w in &mut slower.windows {
            // Its second entry is the same code.
            let cell = (w.scenario.clone(), w.implementation.clone());
            let up = slower.scenarios[&w.scenario].measure == Measure::Throughput;
            if regressed.contains(&cell) {
                w.value *= if up { 1.0 / 1.1 } else { 1.1 };
            }
        }
        let diff = compared(on_day(2 * day, &truth), on_day(2 * day + 1, &slower));
        let called = called(&diff);
        let right = called.iter().filter(|(scenario, name, verdict)| {
            let cell = ((*scenario).to_owned(), (*name).to_owned());
            *verdict == Verdict::Regression && regressed.contains(&cell)
        });
        let (right, wrong) = (right.count(), called.len());
        let wrong = wrong - right;
        assert!(
            right * 10 >= regressed.len() * 9 && wrong * 20 <= called.len(),
            "one in {share}: of {} regressed cells {right} are called, and {wrong} others",
            regressed.len()
        );
    }
}

#[test]
fn beside_two_others_nothing_is_judged() {
    let mut truth = truth();
    let kept = ["kanal", "flume", "mutex"];
    truth.windows.retain(|w| kept.contains(&&*w.implementation));
    let mut slower = truth.clone();
    slow_down(&mut slower, "channels/spsc-64", "kanal", 3.0);
    let diff = compared(on_day(0, &truth), on_day(1, &slower));
    assert_eq!(called(&diff), []);
    assert_eq!(diff.count(Verdict::Level), 0);
    assert!(diff.changes.iter().all(|change| change.drift.is_none()));
}

#[test]
fn a_tenth_slower_in_one_cell_of_a_hundred_is_called_and_nothing_else() {
    let truth = truth();
    let mut scenarios = truth.scenarios.values();
    let latency = scenarios.find(|s| s.measure == Measure::Latency);
    let latency = latency.expect("the fixture has one").name.clone();
    for (day, scenario) in [(0, "channels/spsc-64"), (1, &*latency)] {
        let mut slower = truth.clone();
        slow_down(&mut slower, scenario, "kanal", 1.1);
        let (base, new) = (on_day(2 * day, &truth), on_day(2 * day + 1, &slower));
        let there = compared(base.clone(), new.clone());
        assert_eq!(called(&there), [(scenario, "kanal", Verdict::Regression)]);
        let cell = there.changes.iter().find(|c| c.verdict.is_regression());
        let ratio = cell.unwrap().ratio.unwrap();
        assert!((0.86..0.96).contains(&ratio), "{ratio}");
        let back = compared(new, base);
        assert_eq!(called(&back), [(scenario, "kanal", Verdict::Improvement)]);
    }
}

#[test]
fn what_is_not_worth_a_word_is_not_called() {
    let truth = truth();
    let mut slower = truth.clone();
    slow_down(&mut slower, "channels/spsc-64", "kanal", 1.1);
    let runs = [on_day(0, &truth), on_day(1, &slower)];
    assert_eq!(called(&diff(&runs, 0.2).unwrap()), []);
}

#[test]
fn what_slows_all_alike_is_drift() {
    let truth = truth();
    let mut slower = truth.clone();
    let names: Vec<String> = truth.implementations.keys().cloned().collect();
    for name in &names {
        slow_down(&mut slower, "channels/spsc-64", name, 1.5);
    }
    let diff = compared(truth, slower);
    assert_eq!(called(&diff), []);
    let cell = diff
        .changes
        .iter()
        .find(|c| c.scenario == "channels/spsc-64")
        .unwrap();
    assert!((cell.drift.unwrap() - 1.0 / 1.5).abs() < 1e-9);
    assert!((cell.ratio.unwrap() - 1.0).abs() < 1e-9);
    assert!((cell.new.unwrap() / cell.base.unwrap() - 1.0 / 1.5).abs() < 1e-9);
}

#[test]
fn a_number_that_is_gone_is_a_regression_and_one_that_came_is_none() {
    let truth = truth();
    let mut failing = on_day(1, &truth);
    failing.failures.push(Failure {
        slowed_percent: None,
        build: None,
        scenario: "channels/spsc-64".to_owned(),
        implementation: "kanal".to_owned(),
        placebo: false,
        fork: 0,
        round: Some(3),
        kind: FailureKind::Hang,
        message: "no answer within 10 s; killed".to_owned(),
    });
    let there = compared(on_day(0, &truth), failing.clone());
    let cell = ("channels/spsc-64", "kanal");
    assert_eq!(called(&there), [(cell.0, cell.1, Verdict::Lost)]);
    assert!(Verdict::Lost.is_regression());
    let gone = there.changes.iter().find(|c| c.verdict == Verdict::Lost);
    assert!(gone.unwrap().why.as_deref().unwrap().contains("no answer"));
    let back = compared(failing, on_day(0, &truth));
    assert_eq!(called(&back), [(cell.0, cell.1, Verdict::Gained)]);
    assert!(!Verdict::Gained.is_regression());
}

#[test]
fn a_control_that_fails_now_is_no_regression() {
    let truth = truth();
    let mut failing = on_day(1, &truth);
    let mut all = failing.implementations.values();
    let crates = all.find(|it| it.origin == Origin::Peer);
    let implementation = crates.expect("four are the same in both runs").name.clone();
    failing.failures.push(Failure {
        slowed_percent: None,
        build: None,
        scenario: "channels/spsc-64".to_owned(),
        implementation: implementation.clone(),
        placebo: false,
        fork: 0,
        round: Some(3),
        kind: FailureKind::Hang,
        message: "no answer within 10 s; killed".to_owned(),
    });
    let diff = compared(on_day(0, &truth), failing);
    assert_eq!(called(&diff), []);
    let mut cells = diff.changes.iter();
    let cell =
        cells.find(|c| c.scenario == "channels/spsc-64" && c.implementation == implementation);
    let cell = cell.expect("it had a number");
    assert_eq!((cell.verdict, cell.new), (Verdict::Unjudged, None));
    let why = cell
        .why
        .as_deref()
        .expect("nothing is said without a reason");
    assert!(
        why.contains("the same code in both runs") && why.contains("no answer"),
        "{why}"
    );
}

#[test]
fn what_only_one_run_has_is_said_so() {
    let truth = truth();
    let mut fewer = on_day(1, &truth);
    fewer.windows.retain(|w| w.implementation != "flume");
    fewer.scenarios.remove("channels/spsc-64");
    fewer.windows.retain(|w| w.scenario != "channels/spsc-64");
    let diff = compared(on_day(0, &truth), fewer);
    let mut called = called(&diff);
    called.retain(|(scenario, implementation, _)| {
        *scenario != "channels/spsc-64" && *implementation != "flume"
    });
    assert_eq!(called, []);
    assert!(diff.count(Verdict::OnlyBase) > 6);
}

#[test]
fn runs_of_two_machines_and_short_ones_call_nothing() {
    let truth = truth();
    let mut slower = truth.clone();
    slow_down(&mut slower, "channels/spsc-64", "kanal", 3.0);
    let mut elsewhere = slower.clone();
    elsewhere.run.machine.cores = 64;
    let diff = compared(truth.clone(), elsewhere);
    assert!(
        diff.unjudged
            .as_deref()
            .unwrap()
            .contains("different machines")
    );
    assert_eq!(called(&diff), []);
    let of_cells = diff
        .changes
        .iter()
        .filter(|c| c.verdict == Verdict::Unjudged);
    let reasons: BTreeSet<_> = of_cells.map(|c| c.why.clone()).collect();
    assert_eq!(
        reasons,
        BTreeSet::from([diff.unjudged.clone()]),
        "each says it"
    );
    slower.run.exploratory = true;
    let diff = compared(truth, slower);
    assert!(diff.unjudged.as_deref().unwrap().contains("exploratory"));
    assert_eq!(called(&diff), []);
}

#[test]
fn nothing_is_called_a_change_of_an_unoptimised_build() {
    let truth = truth();
    let mut slower = truth.clone();
    slow_down(&mut slower, "channels/spsc-64", "kanal", 3.0);
    for side in [0, 1] {
        let mut runs = [truth.clone(), slower.clone()];
        runs[side].run.unoptimised = true;
        let [base, new] = runs;
        let diff = compared(base, new);
        let why = diff.unjudged.as_deref().unwrap();
        let said = "of an unoptimised build: these are no figures";
        assert!(why.contains(said) && !why.contains("exploratory"), "{why}");
        assert_eq!(called(&diff), []);
    }
}
