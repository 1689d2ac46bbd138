//! What is concluded of two builds in one run, and what rankings see of it.

use flowmeter_records::{Build, Failure, FailureKind, GivenUp, Measure, RunData};
use flowmeter_reports::{
    Call, Pair, Style, estimate, given_up, paired, paired_markdown, paired_table, render,
};

use super::estimated;
use crate::fixture::{self, Shape};

const SCENARIO: &str = "channels/spsc-64";

/// A run of 8 forks in which the base build is the same code as this one, but for `mutex` in one scenario: there this
/// build is a tenth slower.
fn run() -> RunData {
    let mut run = fixture::run(&Shape {
        implementations: 4,
        scenarios: 8,
        forks: 8,
        rounds_per_fork: 2,
        noise: 0.01,
        histograms: false,
        failures: false,
        ..Shape::default()
    });
    let bases: Vec<_> = run
        .windows
        .iter()
        .filter(|w| !w.placebo)
        .map(|w| {
            let mut base = w.clone();
            base.build = Some(Build::Base);
            base.value *= 1.0 + 0.002 * f64::from(w.round % 5) - 0.004;
            base
        })
        .collect();
    for w in &mut run.windows {
        if w.scenario == SCENARIO && w.implementation == "mutex" && !w.placebo {
            w.value *= 0.9;
        }
    }
    run.windows.extend(bases);
    run
}

fn failure(build: Option<Build>) -> Failure {
    Failure {
        scenario: SCENARIO.to_owned(),
        implementation: "mutex".to_owned(),
        placebo: false,
        slowed_percent: None,
        build,
        fork: 0,
        round: None,
        kind: FailureKind::Protocol,
        message: "it does not know the parameter shape".to_owned(),
    }
}

fn pair(run: &RunData) -> Pair {
    let pairs = paired(run, 0.05).unwrap().pairs;
    let is_it = |pair: &Pair| pair.scenario == SCENARIO && pair.implementation == "mutex";
    pairs.into_iter().find(is_it).expect("it was entered")
}

#[test]
fn a_changed_cell_is_called_and_no_other() {
    let run = run();
    let paired = paired(&run, 0.05).unwrap();
    assert_eq!(paired.pairs.len(), 32);
    assert_eq!(paired.count(Call::Slower), 1);
    assert_eq!(paired.count(Call::Level), 31);
    let pair = pair(&run);
    assert_eq!((pair.verdict, pair.forks), (Call::Slower, 8));
    assert!((pair.ratio.unwrap() - 0.9).abs() < 0.01, "{pair:?}");
    assert!(pair.ratio_lo < pair.ratio && pair.ratio < pair.ratio_hi);
    assert!(pair.p.unwrap() < 0.001, "{pair:?}");
}

#[test]
fn above_one_is_better_where_less_is_better() {
    let mut run = run();
    let scenario = run.scenarios.get_mut(SCENARIO).expect("it is there");
    scenario.measure = Measure::Cost;
    for w in &mut run.windows {
        if w.scenario == SCENARIO && w.build.is_none() {
            w.value *= 0.8;
        }
    }
    let pairs = paired(&run, 0.05).unwrap().pairs;
    let of: Vec<_> = pairs
        .iter()
        .filter(|pair| pair.scenario == SCENARIO)
        .collect();
    assert!(of.iter().all(|pair| pair.verdict == Call::Faster), "{of:?}");
    assert!(of.iter().all(|pair| pair.ratio.unwrap() > 1.2));
}

#[test]
fn a_build_without_a_number_is_a_row_with_its_reason() {
    let mut run = run();
    run.failures.push(failure(Some(Build::Base)));
    let gained = pair(&run);
    assert_eq!((gained.verdict, gained.base), (Call::Gained, None));
    assert!(gained.new.is_some());
    assert_eq!(
        gained.why.as_deref(),
        Some("base build: it does not know the parameter shape")
    );
    run.failures.push(failure(None));
    assert_eq!(pair(&run).verdict, Call::NoNumber);
    run.failures.remove(0);
    let lost = pair(&run);
    assert_eq!((lost.verdict, lost.new), (Call::Lost, None));
    assert!(lost.verdict.is_regression());
}

#[test]
fn rankings_do_not_see_the_base_build() {
    let with = run();
    let mut without = with.clone();
    without.windows.retain(|w| w.build.is_none());
    let mut failing = with.clone();
    failing.failures.push(failure(Some(Build::Base)));
    let of = |run: &RunData| {
        let estimates = estimated(run);
        (
            estimates.cells,
            estimates.rankings,
            estimates.placebos,
            estimates.slowed,
        )
    };
    assert_eq!(of(&with), of(&without));
    assert_eq!(of(&failing), of(&without));
}

#[test]
fn a_slowed_build_stands_for_this_one_where_it_alone_was_entered() {
    let mut run = run();
    for w in run.windows.iter_mut().filter(|w| w.build.is_none()) {
        w.slowed_percent = Some(10);
    }
    run.windows.retain(|w| !w.placebo);
    assert_eq!(pair(&run).verdict, Call::Slower);
}

#[test]
fn one_fork_decides_nothing() {
    let mut run = run();
    run.windows.retain(|w| w.fork == 0);
    run.rounds.retain(|round| round.fork == 0);
    let pair = pair(&run);
    assert_eq!(pair.verdict, Call::Undecided);
    assert_eq!(
        pair.why.as_deref(),
        Some("one fork alone shows no variation")
    );
}

#[test]
fn tables_show_the_slower_first_and_count_all() {
    let paired = paired(&run(), 0.05).unwrap();
    let sentence = "32 cells: 1 slower, 31 without a difference beyond 5.0 %.";
    let table = paired_table(&paired, 100, Style::Plain);
    let rows: Vec<&str> = table.lines().collect();
    assert!(
        rows[1].contains(SCENARIO) && rows[1].ends_with("slower"),
        "{table}"
    );
    assert_eq!(rows.last(), Some(&sentence), "{table}");
    let mut cut_off = run();
    let end = cut_off.end.as_mut().expect("it came to its end");
    end.dropped = vec!["timers/churn-1k".to_owned()];
    let cut_off = paired_markdown(&flowmeter_reports::paired(&cut_off, 0.05).unwrap());
    assert!(cut_off.contains("1 scenario was dropped"), "{cut_off}");
    let markdown = paired_markdown(&paired);
    let rows: Vec<&str> = markdown.lines().collect();
    assert_eq!((rows[0], rows.len()), (sentence, 5), "{markdown}");
    assert!(
        rows[4].starts_with("| channels/spsc-64 | `mutex` | -10.0 %"),
        "{markdown}"
    );
}

#[test]
fn what_a_base_build_gives_up_is_said_below_its_cells_and_on_the_page() {
    let mut run = run();
    run.run.against = Some("flowmeter-timed".to_owned());
    let page = |run: &RunData| {
        let runs = std::slice::from_ref(run);
        render(runs, &estimate(runs).unwrap()).unwrap()
    };
    assert!(page(&run).contains("<h3>Two builds</h3>"));
    let gives_up = |promise: &str, crates: &[&str]| GivenUp {
        promise: promise.to_owned(),
        says: "values are lost".to_owned(),
        crates: crates.iter().map(|&name| name.to_owned()).collect(),
    };
    run.run.without = vec![
        gives_up("cancel-safe", &["kanal", "flume"]),
        gives_up("waiter-fifo", &[]),
    ];
    let said = [
        "The base build gives up cancel-safe: values are lost. Crates registered without it: kanal, flume.",
        "The base build gives up waiter-fifo: values are lost.",
    ];
    let paired = paired(&run, 0.05).unwrap();
    assert_eq!(given_up(&paired), said);
    let (markdown, page) = (paired_markdown(&paired), page(&run));
    for said in said {
        assert!(markdown.contains(said), "{markdown}");
        assert!(page.contains(said));
    }
    assert!(page.contains("<h3>What promises cost</h3>"));
    assert!(page.contains("<b>-10.0 %</b>"));
}
