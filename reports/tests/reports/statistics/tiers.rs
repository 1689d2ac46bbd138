//! The ranking: tiers, coverage.

use flowmeter_records::RunData;
use flowmeter_reports::statistics::{Ranking, Standing, View};
use flowmeter_reports::{Estimates, Style, rank_table};

use super::{estimated, set, small};
use crate::fixture::{self, Shape};

fn all_cells<'a>(estimates: &'a Estimates, group: &str) -> &'a Ranking {
    let mut rankings = estimates.rankings.iter();
    rankings
        .find(|r| r.group == group && r.view == View::All)
        .unwrap()
}

#[test]
fn ties_share_a_tier_and_the_next_one_starts_where_all_are_slower() {
    let mut run = fixture::run(&small(1));
    for w in &mut run.windows {
        // Two alike in front, two alike far behind: within a pair each is ahead in every other
        // round.
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
fn two_cells_are_no_ranking() {
    for (cells, ranked) in [(2, false), (3, true)] {
        let run = fixture::run(&Shape {
            scenarios: cells,
            noise: 0.01,
            ..small(1)
        });
        let estimates = estimated(&run);
        let ranking = all_cells(&estimates, "channels");
        assert_eq!(ranking.is_ranked(), ranked);
        assert_eq!(ranking.ranks.iter().all(|rank| rank.tier == 1), !ranked);
    }
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
fn entrants_within_the_margin_share_a_tier() {
    let mut run = fixture::run(&small(1));
    let mut of = |behind: f64| {
        for w in &mut run.windows {
            w.value = match &*w.implementation {
                "mutex" => 1e6,
                "kanal" => behind * 1e6,
                _ => 5e5,
            } * (1.0 + 1e-4 * f64::from(w.round));
        }
        let estimates = estimated(&run);
        let ranking = all_cells(&estimates, "channels");
        let ranks = ranking.ranks.iter().map(|r| (r.tier, r.standing));
        ranks.collect::<Vec<_>>()
    };
    let (level, slower) = (Standing::Level, Standing::Slower);
    assert_eq!(of(0.97), [(1, level), (1, level), (2, slower), (2, slower)]);
    let best = (1, Standing::Best);
    assert_eq!(of(0.9), [best, (2, slower), (3, slower), (3, slower)]);
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

/// Makes most of an implementation's numbers in a scenario its generator's lateness.
fn bound(run: &mut RunData, scenario: &str, implementation: &str) {
    let windows = run.windows.iter_mut();
    for w in windows.filter(|w| w.scenario == scenario && w.implementation == implementation) {
        w.generator_p99_nanos = Some((w.value * 0.6) as u64);
    }
}

#[test]
fn a_bound_tells_no_cells_apart() {
    let scenarios = ["channels/spsc-0", "channels/spsc-1", "channels/spsc-64"];
    let mut run = fixture::run(&Shape {
        scenarios: 3,
        implementations: 2,
        ..small(1)
    });
    for w in &mut run.windows {
        w.value = match &*w.implementation {
            "mutex" => 1e6,
            _ => 5e5,
        } * (1.0 + 1e-4 * f64::from(w.round));
    }
    let tier = |run: &RunData, name: &str| {
        let estimates = estimated(run);
        let ranking = all_cells(&estimates, "channels");
        let mut ranks = ranking.ranks.iter();
        let rank = ranks.find(|r| r.implementation == name).unwrap();
        (rank.tier, rank.bounds)
    };
    assert_eq!(tier(&run, "condvar"), (2, 0));
    let mut slower = run.clone();
    bound(&mut slower, scenarios[0], "condvar");
    assert_eq!(tier(&slower, "condvar"), (2, 1), "the other cells tell");
    bound(&mut slower, scenarios[1], "condvar");
    bound(&mut slower, scenarios[2], "condvar");
    assert_eq!(tier(&slower, "condvar"), (1, 3), "it may be as fast");
    let mut faster = run;
    for scenario in scenarios {
        bound(&mut faster, scenario, "mutex");
    }
    assert_eq!(tier(&faster, "mutex"), (1, 3));
    let table = rank_table(&estimated(&faster), 100, Style::Plain);
    assert_eq!(table.matches("≥ 1.00").count(), 1, "{table}");
    assert_eq!(
        tier(&faster, "condvar"),
        (1, 0),
        "no exact number is faster"
    );
}
