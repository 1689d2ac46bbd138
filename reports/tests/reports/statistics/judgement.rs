//! What is called slower, and what is not.

use flowmeter_reports::statistics::Standing;

use super::{estimated, set, small};
use crate::fixture::{self, Shape};

#[test]
fn nothing_is_called_slower_in_an_exploratory_run() {
    let run = fixture::run(&Shape {
        forks: 1,
        rounds_per_fork: 5,
        ..small(1)
    });
    let estimates = estimated(&run);
    assert!(estimates.exploratory);
    let standings = estimates
        .cells
        .iter()
        .filter_map(|c| c.measured())
        .map(|m| m.standing);
    assert!(standings.clone().all(|s| s != Standing::Slower));
    assert!(standings.filter(|s| *s == Standing::Undecided).count() > 10);
}

#[test]
fn a_verdict_does_not_depend_on_the_placebo() {
    let mut run = fixture::run(&small(1));
    let cells = estimated(&run).cells;
    let called = cells.iter().filter_map(|c| c.measured());
    assert!(called.filter(|m| m.standing == Standing::Slower).count() > 10);
    run.windows.retain(|w| !w.placebo);
    assert_eq!(estimated(&run).cells, cells);
}

#[test]
fn an_effect_below_the_margin_is_not_called_one() {
    let mut run = fixture::run(&small(1));
    let scenario = "channels/spsc-64";
    for name in ["kanal", "crossbeam-channel"] {
        set(&mut run, scenario, name, |_| 1e5);
    }
    set(&mut run, scenario, "condvar", |round| {
        1e6 + f64::from(round)
    });
    // Behind by as much in every round: the interval excludes 1.
    for (behind, expected) in [(0.97, Standing::Level), (0.93, Standing::Slower)] {
        set(&mut run, scenario, "mutex", |round| {
            behind * 1e6 + f64::from(round)
        });
        let estimates = estimated(&run);
        let mutex = estimates.cell(scenario, "mutex").unwrap();
        let mutex = mutex.measured().unwrap();
        assert!(mutex.ratio_hi < 1.0);
        assert_eq!(mutex.standing, expected, "{behind}");
    }
}

#[test]
fn a_slowed_copy_is_noticed_and_kept_apart() {
    let mut run = fixture::run(&Shape {
        noise: 0.01,
        ..small(1)
    });
    let copies: Vec<_> = run
        .windows
        .iter()
        .filter(|w| w.implementation == "kanal" && !w.placebo)
        .map(|w| {
            let mut copy = w.clone();
            copy.slowed_percent = Some(10);
            copy.value *= 0.9 * (1.0 + 0.003 * f64::from(w.round % 3));
            copy
        })
        .collect();
    let cells = estimated(&run).cells;
    run.windows.extend(copies);
    let estimates = estimated(&run);
    assert_eq!(estimates.cells, cells, "cells do not see copies");
    assert_eq!(estimates.slowed.len(), 8);
    assert!(
        estimates
            .slowed
            .iter()
            .all(|copy| copy.percent == 10 && copy.called_slower)
    );
}
