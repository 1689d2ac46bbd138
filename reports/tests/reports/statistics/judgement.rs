//! What is called slower, and what is not.

use flowmeter_records::RunData;
use flowmeter_reports::Estimates;
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
    assert!(standings.filter(|s| *s == Standing::Level).count() > 10);
}

#[test]
fn nothing_is_called_slower_without_a_placebo() {
    let mut run = fixture::run(&small(1));
    let slower = |e: &Estimates| {
        let numbers = e.cells.iter().filter_map(|c| c.measured());
        numbers.filter(|m| m.standing == Standing::Slower).count()
    };
    assert!(slower(&estimated(&run)) > 10);
    run.windows.retain(|w| !w.placebo);
    assert_eq!(slower(&estimated(&run)), 0);
}

#[test]
fn an_effect_within_the_placebos_is_not_called_one() {
    let mut run = fixture::run(&small(1));
    let scenario = "channels/spsc-64";
    for name in ["kanal", "crossbeam-channel"] {
        set(&mut run, scenario, name, |_| 1e5);
    }
    // One percent apart in every round: the interval excludes 1.
    set(&mut run, scenario, "condvar", |round| {
        1e6 + f64::from(round)
    });
    set(&mut run, scenario, "mutex", |round| {
        0.99e6 + f64::from(round)
    });
    let standing = |run: &RunData| {
        let estimates = estimated(run);
        estimates
            .cell(scenario, "mutex")
            .unwrap()
            .measured()
            .unwrap()
            .standing
    };
    for (off, expected) in [(1.02, Standing::Level), (1.001, Standing::Slower)] {
        for w in run
            .windows
            .iter_mut()
            .filter(|w| w.scenario == scenario && w.placebo)
        {
            w.value = (0.99e6 + f64::from(w.round)) * off;
        }
        assert_eq!(standing(&run), expected, "the placebo is off by {off}");
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
