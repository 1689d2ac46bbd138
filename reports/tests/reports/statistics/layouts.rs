//! How far layouts move a cell, in a run where they move one.

use flowmeter_records::RunData;
use flowmeter_reports::{Moved, Style, layouts_table, moved};

use crate::fixture::{self, Shape};

const SCENARIO: &str = "channels/spsc-1";

/// A run of 6 forks in 3 layouts. In the last of them `mutex` is half as fast in one scenario.
fn run() -> RunData {
    let mut run = fixture::run(&Shape {
        implementations: 3,
        scenarios: 2,
        forks: 6,
        rounds_per_fork: 2,
        noise: 0.002,
        histograms: false,
        failures: false,
        ..Shape::default()
    });
    run.run.layouts = 3;
    for w in &mut run.windows {
        let is_moved = w.scenario == SCENARIO && w.implementation == "mutex";
        if is_moved && !w.placebo && w.fork % 3 == 2 {
            w.value *= 0.5;
        }
    }
    run
}

fn is_moved(cell: &Moved) -> bool {
    cell.scenario == SCENARIO && cell.implementation == "mutex"
}

#[test]
fn what_a_layout_moves_is_told_from_what_forks_differ_by() {
    let cells = moved(&run()).unwrap();
    assert_eq!(cells.len(), 6);
    assert!(is_moved(&cells[0]), "{cells:?}");
    for cell in &cells {
        let expected = if is_moved(cell) { 1.0 } else { 0.0 };
        assert_eq!(cell.layouts, 3);
        // All forks drift together, a little.
        assert!((cell.between - expected).abs() < 0.2, "{cell:?}");
        assert!(cell.within.unwrap() < 0.2, "{cell:?}");
    }
}

#[test]
fn one_layout_moves_nothing_and_has_no_table() {
    let mut run = run();
    run.run.layouts = 1;
    assert_eq!(moved(&run).unwrap(), []);
    assert_eq!(layouts_table(&[], 100, Style::Plain), "");
}

#[test]
fn a_layout_of_one_fork_has_no_spread_of_its_own() {
    let mut run = run();
    run.run.layouts = 6;
    let cells = moved(&run).unwrap();
    assert!(cells.iter().all(|cell| cell.within.is_none()), "{cells:?}");
    let table = layouts_table(&cells, 100, Style::Plain);
    assert!(
        table.contains("6 layouts of one build differ by up to 1"),
        "{table}"
    );
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
}
