//! Medians, ratios to the best and their intervals.

use flowmeter_records::{Failure, FailureKind};
use flowmeter_reports::statistics::{Outcome, Standing};

use super::{estimated, set, small};
use crate::fixture::{self, Shape};

#[test]
fn the_interval_of_a_true_ratio_of_one_holds_one_in_about_95_percent() {
    let (mut holding, mut all, mut widths) = (0, 0, Vec::new());
    for seed in 0..16 {
        let estimates = estimated(&fixture::run(&Shape {
            implementations: 1,
            scenarios: 30,
            seed,
            histograms: false,
            failures: false,
            ..Shape::default()
        }));
        holding += estimates.placebos.iter().filter(|t| t.holds_one()).count();
        all += estimates.placebos.len();
        widths.extend(estimates.placebos.iter().map(|t| t.half_width));
    }
    assert_eq!(all, 480);
    let share = f64::from(holding as u32) / 480.0;
    assert!((0.90..=0.995).contains(&share), "{share}");
    assert!(widths.iter().all(|w| *w > 0.0));
}

#[test]
fn the_best_has_one_and_no_other_has_more() {
    for seed in 0..5 {
        let estimates = estimated(&fixture::run(&Shape {
            scenarios: 30,
            ..small(seed)
        }));
        for cells in estimates.cells.chunk_by(|a, b| a.scenario == b.scenario) {
            let numbers: Vec<_> = cells.iter().filter_map(|c| c.measured()).collect();
            let of = |standing| numbers.iter().filter(move |m| m.standing == standing);
            let first: Vec<_> = numbers.iter().filter(|m| m.ratio == 1.0).collect();
            assert_eq!(first.len(), 1);
            assert_eq!(first[0].ratio_hi, 1.0);
            // The best is alone, and without one at least two are not slower.
            let slower = of(Standing::Slower).count();
            let is_first_best = matches!(first[0].standing, Standing::Best | Standing::First);
            assert_eq!(is_first_best, slower + 1 == numbers.len());
            assert!(numbers.iter().all(|m| m.ratio <= 1.0 && m.ratio > 0.0));
            let holds = |lo: f64, x: f64, hi: f64| lo <= x && x <= hi;
            assert!(
                numbers
                    .iter()
                    .all(|m| { holds(m.ratio_lo, m.ratio, m.ratio_hi) && m.ratio_hi <= 1.0 })
            );
            assert!(numbers.iter().all(|m| m.lo <= m.median && m.median <= m.hi));
        }
    }
}

#[test]
fn the_best_of_two_that_lead_in_turn_is_as_uncertain_as_the_other() {
    let mut run = fixture::run(&small(3));
    let scenario = "channels/spsc-64";
    for name in ["kanal", "crossbeam-channel"] {
        set(&mut run, scenario, name, |_| 1e5);
    }
    set(&mut run, scenario, "condvar", |_| 1e6);
    // Ahead by a tenth in three forks of five, behind by a tenth in the others.
    set(&mut run, scenario, "mutex", |round| {
        if round < 18 { 1.1e6 } else { 0.9e6 }
    });
    let estimates = estimated(&run);
    let number = |name| estimates.cell(scenario, name).unwrap().measured().unwrap();
    let (best, other) = (number("mutex"), number("condvar"));
    let standings = (best.standing, other.standing);
    assert_eq!(standings, (Standing::Undecided, Standing::Undecided));
    assert_eq!((best.ratio_hi, other.ratio_hi), (1.0, 1.0));
    assert!(best.ratio_lo < 0.95 && other.ratio_lo < 0.95, "{other:?}");
}

#[test]
fn where_lower_is_better_the_lowest_is_the_best() {
    let mut run = fixture::run(&Shape {
        scenarios: 27,
        ..small(3)
    });
    let scenario = "channels/ping-pong";
    for (name, value) in [("mutex", 800.0), ("condvar", 400.0), ("kanal", 1600.0)] {
        set(&mut run, scenario, name, |_| value);
    }
    set(&mut run, scenario, "crossbeam-channel", |_| 500.0);
    let estimates = estimated(&run);
    let ratio = |name| {
        estimates
            .cell(scenario, name)
            .unwrap()
            .measured()
            .unwrap()
            .ratio
    };
    assert!((ratio("condvar") - 1.0).abs() < 1e-12);
    assert!((ratio("crossbeam-channel") - 0.8).abs() < 1e-12);
    assert!((ratio("mutex") - 0.5).abs() < 1e-12);
    assert!((ratio("kanal") - 0.25).abs() < 1e-12);
}

#[test]
fn a_ratio_is_the_median_of_ratios_within_rounds() {
    let mut run = fixture::run(&small(3));
    let scenario = "channels/spsc-64";
    // The drift changes by a factor of ten from round to round; the ratio does not.
    let weather = |round: u32| 10_f64.powi(round as i32 % 3) * 1e6;
    for (name, share) in [
        ("mutex", 1.0),
        ("condvar", 0.9),
        ("kanal", 0.3),
        ("crossbeam-channel", 0.2),
    ] {
        set(&mut run, scenario, name, |round| weather(round) * share);
    }
    let estimates = estimated(&run);
    let m = estimates
        .cell(scenario, "condvar")
        .unwrap()
        .measured()
        .unwrap();
    assert!((m.ratio - 0.9).abs() < 1e-12);
    assert!((m.ratio_lo - 0.9).abs() < 1e-9 && (m.ratio_hi - 0.9).abs() < 1e-9);
}

#[test]
fn a_cell_with_any_failure_has_no_number() {
    let mut run = fixture::run(&small(1));
    run.failures.push(Failure {
        slowed_percent: None,
        build: None,
        scenario: "channels/spsc-64".to_owned(),
        implementation: "kanal".to_owned(),
        placebo: false,
        fork: 4,
        round: Some(29),
        kind: FailureKind::Count,
        message: "took 999 of 1000".to_owned(),
    });
    let estimates = estimated(&run);
    let cell = estimates.cell("channels/spsc-64", "kanal").unwrap();
    assert!(matches!(
        cell.outcome,
        Outcome::Failed {
            kind: FailureKind::Count,
            rounds: 30,
            ..
        }
    ));
    assert_eq!(
        cell.error().unwrap(),
        "wrong count: took 999 of 1000 (30 rounds were timed)"
    );
    let json = serde_json::to_value(flowmeter_reports::cmp_rows(&estimates)).unwrap();
    let row = json
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["error"].is_string())
        .unwrap();
    for key in [
        "median",
        "lo",
        "hi",
        "ratio_to_best",
        "ratio_lo",
        "ratio_hi",
    ] {
        assert!(row[key].is_null(), "{key}");
    }
}

#[test]
fn an_unfinished_round_does_not_count() {
    let mut run = fixture::run(&small(1));
    let before = estimated(&run);
    run.rounds.retain(|r| r.round != 29);
    let cut = estimated(&run);
    assert_eq!(before.cells[0].measured().unwrap().rounds, 30);
    assert_eq!(cut.cells[0].measured().unwrap().rounds, 29);
    run.windows.retain(|w| w.round != 29);
    assert_eq!(estimated(&run).cells, cut.cells);
}
