//! What the estimates promise, on runs whose truth is known.

mod fixture;

use fixture::Shape;
use flowmeter_harness::record::{Failure, FailureKind, RunData};
use flowmeter_reports::statistics::{Outcome, Ranking, Standing, View};
use flowmeter_reports::{Estimates, Style, estimate, estimates_of, rank_table};

fn estimated(run: &RunData) -> Estimates {
    estimate(std::slice::from_ref(run)).expect("the fixture is sound")
}

fn small(seed: u64) -> Shape {
    Shape {
        implementations: 4,
        scenarios: 8,
        seed,
        histograms: false,
        failures: false,
        ..Shape::default()
    }
}

/// Sets every value of an implementation in a scenario.
fn set(run: &mut RunData, scenario: &str, implementation: &str, of: impl Fn(u32) -> f64) {
    for w in &mut run.windows {
        if w.scenario == scenario && w.implementation == implementation && !w.placebo {
            w.value = of(w.round);
        }
    }
}

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
fn the_best_has_one_and_nobody_has_more() {
    for seed in 0..5 {
        let estimates = estimated(&fixture::run(&Shape {
            scenarios: 30,
            ..small(seed)
        }));
        for cells in estimates.cells.chunk_by(|a, b| a.scenario == b.scenario) {
            let numbers: Vec<_> = cells.iter().filter_map(|c| c.measured()).collect();
            let best: Vec<_> = numbers
                .iter()
                .filter(|m| m.standing == Standing::Best)
                .collect();
            assert_eq!(best.len(), 1);
            assert_eq!((best[0].ratio, best[0].ratio_hi), (1.0, 1.0));
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
    assert_eq!(best.standing, Standing::Best);
    assert!((best.ratio_lo - 0.9).abs() < 1e-6, "{}", best.ratio_lo);
    assert_eq!((best.ratio_hi, other.ratio_hi), (1.0, 1.0));
    assert!((other.ratio_lo - 1.0 / 1.1).abs() < 1e-6, "{other:?}");
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
    // The weather changes by a factor of ten from round to round; the ratio does not.
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
    assert_eq!(standing(&run, "mutex"), (Standing::Best, 1.0));
    assert_eq!(standing(&run, "condvar").0, Standing::Slower);
    assert_eq!(standing(&run, "crossbeam-channel").0, Standing::AtMost);
    let rows = flowmeter_reports::cmp_rows(&estimated(&run));
    let bounds = rows.iter().filter(|r| r.scenario == scenario && r.at_most);
    assert_eq!(bounds.count(), 2);
    // With bounds alone there is nobody to be called the best.
    for w in run.windows.iter_mut().filter(|w| w.scenario == scenario) {
        w.generator_p99_nanos = Some(w.value as u64);
    }
    let estimates = estimated(&run);
    let cells = estimates.cells.iter().filter(|c| c.scenario == scenario);
    let mut numbers = cells.filter_map(|c| c.measured());
    assert!(numbers.all(|m| m.standing == Standing::AtMost));
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

fn all_cells<'a>(estimates: &'a Estimates, group: &str) -> &'a Ranking {
    let mut rankings = estimates.rankings.iter();
    rankings
        .find(|r| r.group == group && r.view == View::All)
        .unwrap()
}

#[test]
fn ties_share_a_tier_and_the_next_one_starts_where_intervals_part() {
    let mut run = fixture::run(&small(1));
    for w in &mut run.windows {
        // Two alike in front, two alike far behind: each is ahead of its like in every other round.
        let ahead_in = |parity: u32| 1.0 + 0.01 * f64::from((w.round + parity) % 2);
        w.value = match &*w.implementation {
            "mutex" => 1e6 * ahead_in(0),
            "kanal" => 1e6 * ahead_in(1),
            "condvar" => 4e5 * ahead_in(0),
            _ => 4e5 * ahead_in(1),
        };
    }
    let estimates = estimated(&run);
    let ranking = all_cells(&estimates, "channels");
    let tier = |name: &str| {
        ranking
            .ranks
            .iter()
            .find(|r| r.implementation == name)
            .unwrap()
            .tier
    };
    assert_eq!((tier("mutex"), tier("kanal")), (1, 1));
    assert_eq!((tier("condvar"), tier("crossbeam-channel")), (2, 2));
}

#[test]
fn an_exploratory_run_has_one_tier() {
    let run = fixture::run(&Shape {
        forks: 1,
        rounds_per_fork: 5,
        ..small(1)
    });
    let estimates = estimated(&run);
    let ranks = |r: &Ranking| r.ranks.iter().all(|rank| rank.tier == 1);
    assert!(estimates.rankings.iter().all(ranks));
}

#[test]
fn entrants_within_the_noise_of_the_placebos_share_a_tier() {
    let mut run = fixture::run(&small(1));
    for w in &mut run.windows {
        // Three percent apart in every round, and the placebo is off by so much.
        w.value = match (&*w.implementation, w.placebo) {
            ("mutex", false) => 1e6,
            ("mutex", true) => 0.95e6,
            ("kanal", _) => 0.97e6,
            _ => 5e5,
        } * (1.0 + 1e-4 * f64::from(w.round));
    }
    let of = |run: &RunData| {
        let estimates = estimated(run);
        let ranking = all_cells(&estimates, "channels");
        let tiers = ranking.ranks.iter().map(|r| r.tier);
        tiers.collect::<Vec<_>>()
    };
    assert_eq!(of(&run), [1, 1, 2, 2]);
    for w in run.windows.iter_mut().filter(|w| w.placebo) {
        w.value *= 1.0 / 0.95;
    }
    assert_eq!(of(&run), [1, 2, 3, 3]);
    run.windows.retain(|w| !w.placebo);
    assert_eq!(of(&run), [1, 1, 1, 1], "the noise is unknown");
}

#[test]
fn partial_entrants_stand_last_with_their_coverage() {
    let mut run = fixture::run(&small(1));
    run.windows
        .retain(|w| w.implementation != "mutex" || w.scenario == "channels/spsc-64");
    let estimates = estimated(&run);
    let ranking = all_cells(&estimates, "channels");
    let last = ranking.ranks.last().unwrap();
    assert_eq!(
        (&*last.implementation, last.cells, ranking.cells),
        ("mutex", 1, 8)
    );
    assert!(
        ranking.ranks[..3]
            .iter()
            .all(|r| ranking.complete(r) && r.tier < last.tier)
    );
}

#[test]
fn one_cell_that_survived_is_no_ratio_to_show() {
    let mut run = fixture::run(&small(1));
    set(&mut run, "channels/spsc-64", "mutex", |_| 1e9);
    run.windows.retain(|w| match &*w.implementation {
        "mutex" => w.scenario == "channels/spsc-64",
        "kanal" => w.scenario != "channels/spsc-64",
        _ => true,
    });
    let estimates = estimated(&run);
    let ranking = all_cells(&estimates, "channels");
    let partial: Vec<_> = ranking.ranks[2..].iter().collect();
    assert_eq!(
        partial.iter().map(|r| r.cells).collect::<Vec<_>>(),
        [7, 1],
        "by coverage, whatever the ratio"
    );
    assert_eq!(partial[1].ratio, 1.0);
    assert!(ranking.telling(partial[0]) && !ranking.telling(partial[1]));
    let table = rank_table(&estimates, 100, Style::Plain);
    let line = table.lines().find(|l| l.contains("mutex")).unwrap();
    assert!(
        line.contains("too few cells") && !line.contains("1.00"),
        "{line}"
    );
}

#[test]
fn several_runs_pool_their_rounds() {
    let (one, two) = (fixture::run(&small(1)), fixture::run(&small(2)));
    let pooled = estimate(&[one, two]).unwrap();
    assert_eq!(pooled.sources.len(), 2);
    assert!(
        pooled
            .cells
            .iter()
            .all(|c| c.measured().unwrap().rounds == 60)
    );
}

#[test]
fn entries_that_never_met_in_a_round_have_no_ratio() {
    let (mut one, mut two) = (fixture::run(&small(1)), fixture::run(&small(2)));
    one.windows.retain(|w| w.implementation != "kanal");
    two.windows.retain(|w| w.implementation == "kanal");
    let estimates = estimate(&[one, two]).unwrap();
    let kanal = estimates.cell("channels/spsc-64", "kanal").unwrap();
    assert!(kanal.error().unwrap().contains("no round together with"));
}

#[test]
fn runs_that_mean_different_things_by_one_name_are_refused() {
    let (one, mut two) = (fixture::run(&small(1)), fixture::run(&small(2)));
    two.scenarios.get_mut("channels/spsc-64").unwrap().unit = "ns".to_owned();
    let error = estimate(&[one, two]).unwrap_err().to_string();
    assert!(
        error.contains("channels/spsc-64 is not the same"),
        "{error}"
    );
    assert!(
        estimate(&[])
            .unwrap_err()
            .to_string()
            .contains("no run was named")
    );
}

#[test]
fn estimates_survive_their_file_to_the_last_digit() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = fixture::run(&Shape {
        histograms: true,
        failures: true,
        ..small(1)
    });
    run.folder = folder.path().to_owned();
    let estimates = estimated(&run);
    estimates.write(folder.path()).unwrap();
    assert_eq!(Estimates::read(folder.path()).unwrap(), estimates);
    assert_eq!(estimates_of(std::slice::from_ref(&run)).unwrap(), estimates);
    // Those of another method are passed over.
    let other = Estimates {
        method: 1,
        ..estimates.clone()
    };
    other.write(folder.path()).unwrap();
    assert_eq!(estimates_of(std::slice::from_ref(&run)).unwrap(), estimates);
    // Once the run has gone on, the file is stale and passed over.
    run.rounds.pop();
    assert_ne!(estimates_of(std::slice::from_ref(&run)).unwrap(), estimates);
}

#[test]
fn a_foreign_or_unwritable_file_of_estimates_is_one_clear_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Estimates::read(folder.path()).unwrap_err().to_string();
    assert!(missing.contains("estimates.json"), "{missing}");
    std::fs::write(folder.path().join("estimates.json"), "{\"schema\":1}").unwrap();
    let foreign = Estimates::read(folder.path()).unwrap_err().to_string();
    assert!(
        foreign.contains("not a file of estimates of this build"),
        "{foreign}"
    );
    assert_eq!(foreign.lines().count(), 1);
    let unwritable = estimated(&fixture::run(&small(1))).write(&folder.path().join("no/such"));
    assert!(
        unwritable
            .unwrap_err()
            .to_string()
            .contains("estimates.json")
    );
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
