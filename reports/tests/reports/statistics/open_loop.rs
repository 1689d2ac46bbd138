//! Scenarios at a given rate: disturbed windows, bounds, percentiles.

use flowmeter_records::RunData;
use flowmeter_reports::estimate;
use flowmeter_reports::statistics::Standing;

use super::{estimated, set, small};
use crate::fixture::{self, Shape};

/// A run of one latency scenario, with its name.
fn latency_run() -> (RunData, &'static str) {
    let run = fixture::run(&Shape {
        scenarios: 23,
        ..small(1)
    });
    (run, "channels/latency-10000")
}

#[test]
fn a_fifth_of_windows_may_fall_short_of_the_rate() {
    let (mut run, scenario) = latency_run();
    let outcome = |run: &mut RunData, short: u32| {
        for w in run.windows.iter_mut() {
            let its = w.scenario == scenario && w.implementation == "kanal" && !w.placebo;
            w.unsustained = (its && w.round < short).then_some(0.07);
        }
        estimated(run).cell(scenario, "kanal").unwrap().clone()
    };
    let disturbed = outcome(&mut run, 6);
    let number = disturbed.measured().expect("6 of 30 is a fifth");
    assert_eq!(number.disturbance().unwrap(), "6 of 30 windows disturbed");
    let unsustained = outcome(&mut run, 7);
    assert_eq!(unsustained.measured(), None);
    assert_eq!(
        unsustained.error().unwrap(),
        "cannot sustain 10\u{202f}000 messages/s (7 of 30 windows)"
    );
}

#[test]
fn what_the_generator_limits_is_a_bound_and_neither_best_nor_slower() {
    let (mut run, scenario) = latency_run();
    for (name, value) in [("mutex", 4e3), ("condvar", 8e3), ("kanal", 1e3)] {
        set(&mut run, scenario, name, |_| value);
    }
    set(&mut run, scenario, "crossbeam-channel", |_| 64e3);
    for w in run.windows.iter_mut().filter(|w| w.scenario == scenario) {
        let late = matches!(&*w.implementation, "kanal" | "crossbeam-channel");
        w.generator_p99_nanos = Some((w.value * if late { 0.6 } else { 0.4 }) as u64);
    }
    for w in run.windows.iter_mut().filter(|w| w.placebo) {
        w.value = 4e3 + f64::from(w.round);
    }
    let standing = |run: &RunData, name: &str| {
        let estimates = estimated(run);
        let number = estimates.cell(scenario, name).unwrap().measured().cloned();
        let number = number.unwrap();
        (number.standing, number.ratio)
    };
    assert_eq!(standing(&run, "kanal"), (Standing::AtMost, 1.0));
    // The true value may lie anywhere below a bound, so it is not told apart from the leading
    // number.
    assert_eq!(standing(&run, "mutex"), (Standing::Undecided, 1.0));
    assert_eq!(standing(&run, "condvar").0, Standing::Slower);
    assert_eq!(standing(&run, "crossbeam-channel").0, Standing::AtMost);
    let rows = flowmeter_reports::cmp_rows(&estimated(&run));
    let bounds = rows
        .iter()
        .filter(|r| r.cell.scenario == scenario && r.cell.at_most);
    assert_eq!(bounds.count(), 2);
    // If all numbers are bounds, none is called the best.
    for w in run.windows.iter_mut().filter(|w| w.scenario == scenario) {
        w.generator_p99_nanos = Some(w.value as u64);
    }
    let estimates = estimated(&run);
    let cells = estimates.cells.iter().filter(|c| c.scenario == scenario);
    let mut numbers = cells.filter_map(|c| c.measured());
    assert!(numbers.all(|m| m.standing == Standing::AtMost));
}

#[test]
fn a_torn_histogram_is_one_clear_sentence() {
    let mut run = fixture::run(&Shape {
        histograms: true,
        scenarios: 25,
        ..small(1)
    });
    let torn = run
        .windows
        .iter_mut()
        .filter_map(|w| w.latency.as_mut())
        .next()
        .unwrap();
    torn.response.truncate(40);
    let error = estimate(&[run]).unwrap_err().to_string();
    assert!(error.contains("the response histogram of"), "{error}");
    assert!(error.contains("channels/latency-10000, round 0"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn percentiles_with_fewer_than_ten_samples_above_are_left_out() {
    let run = fixture::run(&Shape {
        histograms: true,
        scenarios: 25,
        forks: 1,
        rounds_per_fork: 1,
        ..small(1)
    });
    let estimates = estimated(&run);
    let curve = &estimates.latencies[0];
    assert_eq!(curve.count, 2_000);
    assert!(
        curve
            .response
            .iter()
            .all(|p| (1.0 - p.quantile) * 2_000.0 >= 10.0)
    );
    assert_eq!(curve.response.last().unwrap().quantile, 0.995);
    assert!(curve.response.is_sorted_by_key(|p| p.nanos));
}

#[test]
fn a_stall_of_one_window_counts_in_the_tail() {
    let mut run = fixture::run(&Shape {
        histograms: true,
        scenarios: 25,
        ..small(1)
    });
    let scenario = "channels/latency-10000";
    let number = |run: &RunData| {
        let estimates = estimated(run);
        let curves = estimates.latencies.iter();
        let mut of = curves.filter(|c| c.scenario == scenario && c.implementation == "kanal");
        let tails = of.next().unwrap().tails.clone();
        let cell = estimates.cell(scenario, "kanal").unwrap();
        (cell.measured().unwrap().clone(), tails)
    };
    let (before, tails) = number(&run);
    assert_eq!(
        tails.iter().map(|t| t.quantile).collect::<Vec<_>>(),
        [0.5, 0.99, 0.999, 1.0]
    );
    assert_eq!(tails[1].nanos, before.median);
    assert!(tails.is_sorted_by_key(|t| t.nanos as u64));
    assert!(tails.iter().all(|t| t.lo <= t.nanos && t.nanos <= t.hi));
    let windows = run.windows.iter_mut();
    let mut its = windows.filter(|w| w.scenario == scenario && w.implementation == "kanal");
    its.nth(7).unwrap().latency.as_mut().unwrap().response = fixture::stalled(1_000_000_000);
    let (after, _) = number(&run);
    assert!(before.median < 1e6 && after.median > 9e8, "{after:?}");
    assert!(after.hi >= after.median && after.lo < 1e7, "{after:?}");
}
