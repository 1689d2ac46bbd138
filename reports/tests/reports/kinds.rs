//! The page and the tables for timers, pipelines, limiters and executors.

use flowmeter_records::{Failure, FailureKind, Implementation, RunData, Verdict, Window};
use flowmeter_reports::statistics::{Outcome, Quantity, Standing, View};
use flowmeter_reports::{
    Estimates, Style, cmp_rows, cmp_table, estimate, rank_rows, rank_table, render,
};

use crate::fixture::{self, Shape, kinds};

/// A run of a few channels and of all other kinds.
fn run() -> RunData {
    let shape = Shape {
        implementations: 3,
        scenarios: 3,
        ..Shape::default()
    };
    let mut run = fixture::run(&shape);
    kinds::add(&shape, &mut run);
    run
}

fn estimated(run: &RunData) -> Estimates {
    estimate(std::slice::from_ref(run)).expect("the fixture is sound")
}

fn page(run: &RunData) -> String {
    render(std::slice::from_ref(run), &estimated(run)).expect("the page renders")
}

/// The figure with a title that begins like this.
fn figure<'a>(page: &'a str, title: &str) -> &'a str {
    let figures = page.split("<figure ").skip(1);
    let mut figures = figures.map(|f| &f[..f.find("</figure>").expect("it ends")]);
    let begins = |f: &&str| f.contains(&format!("<b>{title}"));
    figures
        .find(begins)
        .unwrap_or_else(|| panic!("no figure {title}"))
}

/// A part of the page, between its heading and the next section.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let begin = page
        .find(&format!("<section id={id}>"))
        .expect("it is there");
    &page[begin..begin + page[begin..].find("</section>").expect("it ends")]
}

#[test]
fn a_reference_is_nobodys_best_and_in_no_ranking() {
    let estimates = estimated(&run());
    let cell = |name: &str| estimates.cell("timers/late-16", name).unwrap();
    let heap = cell("heap").measured().unwrap();
    // The reference has a better number, so heap is the first of the implementations and not the
    // best.
    assert_eq!((heap.standing, heap.ratio), (Standing::First, 1.0));
    let sleep = cell("os-sleep").measured().unwrap();
    assert_eq!(sleep.standing, Standing::Reference);
    assert!((1.8..2.2).contains(&sleep.ratio), "{}", sleep.ratio);
    assert!(sleep.ratio_lo < sleep.ratio && sleep.ratio < sleep.ratio_hi);
    assert!(
        rank_rows(&estimates)
            .iter()
            .all(|row| row.implementation != "os-sleep")
    );
    let timers = |r: &&_| matches!(r, flowmeter_reports::statistics::Ranking { group, view: View::All, .. } if group == "timers");
    let ranking = estimates.rankings.iter().find(timers).unwrap();
    assert_eq!(ranking.cells, 3);
    assert!(ranking.ranks.iter().all(|rank| rank.cells == 3));
    let shared = estimates
        .rankings
        .iter()
        .any(|r| r.group == "timers" && r.view != View::All);
    assert!(!shared, "all but the reference share every cell");
}

#[test]
fn references_alone_are_compared_with_each_other() {
    let mut run = run();
    run.windows
        .retain(|w| w.scenario != "timers/late-16" || w.implementation == "os-sleep");
    let estimates = estimated(&run);
    let cell = estimates.cell("timers/late-16", "os-sleep").unwrap();
    assert!(matches!(&cell.outcome, Outcome::Measured(m) if m.standing == Standing::Reference));
    let mut scenarios = estimates.rankings.iter().flat_map(|r| &r.scenarios);
    assert!(
        scenarios.all(|name| name != "timers/late-16"),
        "a cell of references alone is in no ranking"
    );
}

#[test]
fn a_reference_is_shown_as_one() {
    let run = run();
    let estimates = estimated(&run);
    let table = rank_table(&estimates, 100, Style::Plain);
    assert!(
        table.contains("for reference, in no ranking: os-sleep\n"),
        "{table}"
    );
    let table = cmp_table(&estimates, 100, Style::Plain);
    let line = table.lines().find(|l| l.contains("os-sleep")).unwrap();
    assert!(line.ends_with("  reference"), "{line}");
    let of_late = |row: &&flowmeter_reports::CmpRow| row.cell.scenario == "timers/late-16";
    let rows = cmp_rows(&estimates);
    let names: Vec<_> = rows
        .iter()
        .filter(of_late)
        .map(|r| (&*r.cell.implementation, r.reference))
        .collect();
    assert_eq!(
        names,
        [("heap", false), ("tokio-sleep", false), ("os-sleep", true)]
    );
    let page = page(&run);
    assert!(section(&page, "ranking").contains("For reference, in no ranking: os-sleep."));
    assert!(section(&page, "heat").contains("os-sleep<small>reference</small>"));
    assert!(section(&page, "heat").contains("<td class=hr"));
    let verdict = section(&page, "verdict");
    assert!(!verdict.contains("os-sleep"), "{verdict}");
}

#[test]
fn lateness_is_drawn_as_a_distribution_with_the_systems_sleep_dashed() {
    let page = page(&run());
    let chart = figure(&page, "How late timers fire: left and up is better");
    assert!(chart.contains("os-sleep (system&#39;s sleep)"), "{chart}");
    let drawn = |class: &str| chart.matches(&format!("<path class={class} d")).count();
    assert_eq!(
        drawn("f1") + drawn("f0") + drawn("f2"),
        2,
        "its curve and its legend"
    );
    assert_eq!(
        ["r0", "r1", "r2"].map(drawn).iter().sum::<usize>(),
        1,
        "one tells when it noticed"
    );
    assert!(chart.contains("data-l=") && chart.contains("<desc>How late"));
    assert!(chart.contains("<th>p50") && chart.contains("<th>p99<") && chart.contains("<th>early"));
    assert!(
        chart.contains("None of 180\u{202f}000 firings came before its deadline."),
        "{chart}"
    );
}

#[test]
fn an_early_firing_is_said_in_red_and_in_no_curve() {
    let mut run = run();
    let of = |run: &RunData| {
        let estimates = estimated(run);
        let mut lateness = estimates.lateness.iter();
        lateness
            .find(|c| c.implementation == "heap")
            .unwrap()
            .clone()
    };
    let before = of(&run);
    for w in &mut run.windows {
        if let (Some(lateness), "heap", false) =
            (&mut w.findings.lateness, &*w.implementation, w.placebo)
        {
            lateness.early = 2;
        }
    }
    let after = of(&run);
    assert_eq!((after.early, before.early), (60, 0));
    assert_eq!((&after.called, after.count), (&before.called, before.count));
    let page = page(&run);
    let chart = figure(&page, "How late timers fire");
    assert!(chart.contains(
        "<p class=failed>heap: 60 of 60\u{202f}060 firings came before their deadline; they are in no curve."
    ), "{chart}");
    assert!(chart.contains("<td class=fail>✗ 60") && !chart.contains("None of"));
}

#[test]
fn lateness_of_rounds_that_are_not_complete_counts_for_nothing() {
    let mut run = run();
    let count = |run: &RunData| estimated(run).lateness.iter().map(|c| c.count).sum::<u64>();
    let all = count(&run);
    run.rounds
        .retain(|r| r.scenario != "timers/late-16" || r.round % 2 == 0);
    assert_eq!(count(&run) * 2, all);
}

#[test]
fn tasks_in_flight_are_drawn_against_the_bound_that_each_claims() {
    let page = page(&run());
    let chart = figure(&page, "Tasks in flight, 4 asked for");
    for words in [
        ">core_async: bound n + 2 = 6, peak 6 at it, mean 5.5<",
        ">unordered: bound n = 4, peak 4 at it, mean 3.5<",
        "first complete round",
        "<path class=b d",
        "<desc>Tasks in flight",
        ">done<",
    ] {
        assert!(chart.contains(words), "{words}: {chart}");
    }
    assert!(!chart.contains("class=fail"));
}

#[test]
fn a_peak_above_the_bound_is_a_failure_in_words() {
    let mut run = run();
    let of_pipeline = |w: &&mut Window| {
        w.findings.in_flight.is_some() && w.implementation == "unordered" && w.round == 7
    };
    for w in run.windows.iter_mut().filter(of_pipeline) {
        w.findings.in_flight.as_mut().unwrap().peak = 5;
    }
    let page = page(&run);
    let chart = figure(&page, "Tasks in flight, 4 asked for");
    assert!(chart.contains(
        "<p class=failed>unordered had 5 tasks in flight, and claims at most n = 4: its bound (P1) does not hold."
    ), "{chart}");
    assert!(chart.contains("<td class=fail>✗ 5, above its bound"));
    assert!(
        chart.contains(">unordered: bound n = 4, peak 5 above it")
            && chart.contains("<text class=x "),
        "red in the picture too"
    );
}

#[test]
fn a_peak_below_the_bound_is_said() {
    let mut run = run();
    for w in &mut run.windows {
        if let Some(in_flight) = &mut w.findings.in_flight {
            in_flight.peak = 3;
        }
    }
    let page = page(&run);
    let chart = figure(&page, "Tasks in flight, 4 asked for");
    assert!(chart.contains("bound n + 2 = 6, peak 3 below it"));
}

#[test]
fn levels_too_close_to_tell_apart_are_left_to_the_words() {
    let mut run = run();
    for w in &mut run.windows {
        if let Some(in_flight) = &mut w.findings.in_flight {
            (in_flight.parallelism, in_flight.peak) = (64, 64);
        }
    }
    let page = page(&run);
    let chart = figure(&page, "Tasks in flight, 64 asked for");
    assert!(
        chart.contains("bound n + 2 = 66, peak 64 below it"),
        "{chart}"
    );
    assert_eq!(chart.matches(">64</text>").count(), 2);
    assert!(!chart.contains(">66</text>"));
}

#[test]
fn full_periods_are_held_against_what_each_promises() {
    let mut run = run();
    let said = |run: &RunData| {
        let page = page(run);
        figure(&page, "Fullest 10.0 ms against the 100 allowed").to_owned()
    };
    let chart = said(&run);
    assert!(
        chart.contains("<td>governor<td>199<td>1.990<td>199<td>burst and rate (rate-bound)<td>30"),
        "{chart}"
    );
    assert!(
        chart.contains("<td>semaphore<td>100<td>1.000<td>100<td>every period (window-bound)<td>30")
    );
    assert!(chart.contains("No limiter was seen above what it promises."));
    assert!(chart.contains("What is promised is when the permit was granted"));
    for w in &mut run.windows {
        if let (Some(excess), "semaphore", 3) =
            (&mut w.findings.excess, &*w.implementation, w.round)
        {
            excess.worst = 103;
        }
    }
    let chart = said(&run);
    assert!(
        chart.contains("Seen above what it promises: semaphore by 3."),
        "{chart}"
    );
    assert!(
        chart.contains("<td>103<td>1.030<td>100<"),
        "the worst, and the median of the rounds"
    );
}

#[test]
fn a_cell_without_a_number_has_no_curve_and_no_strip() {
    let mut run = run();
    for (scenario, implementation) in [
        ("timers/late-16", "heap"),
        ("pipelines/tasks-4", "core_async"),
        ("limiters/steady-4", "governor"),
    ] {
        run.failures.push(Failure {
            scenario: scenario.to_owned(),
            implementation: implementation.to_owned(),
            placebo: false,
            slowed_percent: None,
            build: None,
            fork: 0,
            round: Some(1),
            kind: FailureKind::Hang,
            message: "no answer".to_owned(),
        });
    }
    let estimates = estimated(&run);
    assert!(
        estimates
            .lateness
            .iter()
            .all(|c| c.implementation != "heap")
    );
    assert!(
        estimates
            .flights
            .iter()
            .all(|f| f.implementation != "core_async")
    );
    assert!(
        estimates
            .periods
            .iter()
            .all(|p| p.implementation != "governor")
    );
    let page = page(&run);
    assert!(figure(&page, "How late timers fire").contains("No number: heap: hung"));
}

#[test]
fn each_kind_has_a_matrix_of_its_own_properties() {
    let mut run = run();
    // A property of another kind, which no timer claims, gets no column there.
    let mut stray = run.proofs[0].clone();
    stray.implementation = "heap".to_owned();
    stray.verdict = Verdict::Unclaimed;
    run.proofs.push(stray);
    let page = page(&run);
    let proofs = section(&page, "proofs");
    let matrix = |kind: &str| {
        let begin = proofs.find(&format!("<h3>{kind}</h3>")).expect("a heading");
        &proofs[begin..begin + proofs[begin..].find("</table>").expect("it ends")]
    };
    assert!(matrix("Timers").contains("T1<small>") && matrix("Timers").contains("heap"));
    assert!(!matrix("Timers").contains("C1<small>") && !matrix("Timers").contains("P1<small>"));
    assert!(matrix("Channels").contains("C1<small>") && !matrix("Channels").contains("heap"));
    assert!(
        matrix("Pipelines").contains("P1<small>") && matrix("Pipelines").contains("core_async")
    );
    assert!(matrix("Limiters").contains("L1<small>") && matrix("Executors").contains("G1<small>"));
}

#[test]
fn kinds_share_no_heat_map_and_colours_begin_anew_with_each() {
    let mut run = run();
    let page_before = page(&run);
    let heat = section(&page_before, "heat");
    assert_eq!(heat.matches("<table class=\"heat").count(), 5);
    assert!(heat.contains("<span class=\"swatch m0\"></span>heap"));
    assert!(heat.contains("<span class=\"swatch m0\"></span>core_async"));
    // A folder of scenarios from outside the project may hold several kinds.
    for scenario in run.scenarios.values_mut() {
        if scenario.group == "pipelines" || scenario.group == "limiters" {
            scenario.group = "mixture".to_owned();
        }
    }
    run.groups.push("mixture".to_owned());
    let page = page(&run);
    let heat = section(&page, "heat");
    assert!(
        heat.contains("<h3>Mixture: pipelines</h3>") && heat.contains("<h3>Mixture: limiters</h3>")
    );
    let limiters = &heat[heat.find("<h3>Mixture: limiters").unwrap()..];
    let limiters = &limiters[..limiters.find("</table>").unwrap()];
    assert!(
        limiters.contains("steady-64")
            && !limiters.contains("flow-8")
            && !limiters.contains("core_async")
    );
}

#[test]
fn the_verdict_has_a_row_for_each_group_and_each_cell_of_a_small_one() {
    let mut run = run();
    let page_before = page(&run);
    let verdict = section(&page_before, "verdict");
    assert!(
        verdict.contains("<td>timers, 3 cells<td><b>heap</b> 1.00 ("),
        "{verdict}"
    );
    assert!(
        verdict.contains("<td><b>tokio-sleep</b> 0.20<td>"),
        "{verdict}"
    );
    assert!(verdict.find("<td>channels, ").unwrap() < verdict.find("<td>timers, ").unwrap());
    for small in ["pipelines/", "limiters/", "executors/spawn"] {
        let of_group = verdict
            .split("<tr><td>")
            .filter(|row| row.starts_with(small));
        let mut of_group = of_group.peekable();
        assert!(of_group.peek().is_some(), "{small}: {verdict}");
        assert!(of_group.all(|row| row.contains("<td>too few cells for a ranking")));
    }
    let rows = verdict.matches("<tr><td>").count();
    run.run.exploratory = true;
    let page = page(&run);
    let verdict = section(&page, "verdict");
    assert_eq!(verdict.matches("<tr><td>").count(), rows, "{verdict}");
    assert!(!verdict.contains("<th>Next") && !verdict.contains("tokio-sleep</b> 0.20<td>"));
    assert!(
        verdict.contains("<td>timers, 3 cells<td><b>heap</b> 1.00 ("),
        "{verdict}"
    );
}

/// Phrases that a run without conclusions must not contain.
const CONCLUSIONS: [&str; 5] = [
    " times as fast",
    " times as much",
    "leads",
    "comes first",
    "best",
];

#[test]
fn a_run_that_may_not_conclude_says_so_first_and_then_only_what_was_seen() {
    for (exploratory, unoptimised) in [(true, false), (false, true), (true, true)] {
        let mut run = run();
        run.run.exploratory = exploratory;
        run.run.unoptimised = unoptimised;
        let page = page(&run);
        let verdict = section(&page, "verdict");
        let sentences = &verdict[verdict.find("<p class=warning>This run").unwrap()..];
        let first = sentences.split("</p>").next().unwrap();
        assert!(first.contains("call any implementation faster"), "{first}");
        assert_eq!(first.contains("too short"), exploratory, "{first}");
        assert_eq!(first.contains("unoptimised"), unoptimised, "{first}");
        for said in CONCLUSIONS {
            assert!(!sentences.contains(said), "{said}: {sentences}");
        }
        assert!(
            sentences.contains("<b>heap</b> 1.00 (") && sentences.contains(" messages/s ("),
            "means and medians with their intervals: {sentences}"
        );
    }
}

#[test]
fn a_group_of_fewer_than_three_cells_shows_them_and_no_order() {
    let run = run();
    let estimates = estimated(&run);
    let table = rank_table(&estimates, 100, Style::Plain);
    let few = &table[table
        .find("limiters: 2 cells, too few for a ranking")
        .unwrap()..];
    let few = &few[..few.find("\n\n").unwrap_or(few.len())];
    assert!(
        few.contains("limiters/steady-4") && few.contains("M grants/s"),
        "{few}"
    );
    assert!(!few.contains("tier") && !few.contains("ratio"), "{few}");
    assert!(table.contains("timers: geometric mean"), "{table}");
    for row in rank_rows(&estimates) {
        let few = row.quantity == Quantity::TailLatency;
        let ranked = matches!(&*row.group, "timers" | "channels") && !few;
        assert_eq!(row.ranked, ranked, "{row:?}");
        assert!(ranked || row.tier == 1, "{row:?}");
    }
    let page = page(&run);
    let ranking = section(&page, "ranking");
    let group = |name: &str| {
        let begin = ranking.find(&format!("<h3>{name}</h3>")).unwrap();
        ranking[begin..].split("<div class=tabs>").next().unwrap()
    };
    let limiters = group("Limiters");
    assert!(limiters.contains("Over 2 cells: too few for a ranking"));
    assert!(limiters.contains("<td>limiters/steady-64<td class=name>"));
    assert!(!limiters.contains("<th class=n>Tier") && !limiters.contains("<th class=n>Ratio"));
    assert!(group("Timers").contains("<th class=n>Tier"));
}

#[test]
fn a_quantity_is_ranked_alone_a_ceiling_is_kept_or_not_and_an_excess_is_compared_as_such() {
    let mut run = run();
    let excess = "pipelines/tasks-4";
    for (values, of_ideal) in [([1.10, 1.20], false), ([1.01, 1.20], true)] {
        if of_ideal {
            let rate = &mut run.scenarios.get_mut(excess).unwrap().axes.rate;
            *rate = Some(1_000);
        }
        for w in run.windows.iter_mut().filter(|w| w.scenario == excess) {
            let is_slow = w.implementation != "core_async";
            w.value = values[usize::from(is_slow)] + 0.001 * f64::from(w.round % 3);
        }
        let estimates = estimated(&run);
        let cell = |name: &str| estimates.cell(excess, name).unwrap().measured().unwrap();
        let rankings = estimates.rankings.iter();
        let of = rankings.filter(|r| r.scenarios.contains(&excess.to_owned()));
        let quantities: Vec<Quantity> = of.map(|r| r.quantity).collect();
        let slow = cell("unordered");
        let page = page(&run);
        if of_ideal {
            assert_eq!(quantities, [Quantity::Ceiling]);
            assert_eq!(cell("core_async").standing, Standing::Reached);
            assert_eq!(slow.standing, Standing::Missed);
            assert!(section(&page, "heat").contains("<small><b>missed</b> </small>"));
            assert!(section(&page, "verdict").contains("1 of 2 keep the ceiling"));
        } else {
            assert_eq!(quantities, [Quantity::Excess]);
            assert!(
                (slow.ratio - 0.5).abs() < 0.01,
                "a half, and not 0.92: {slow:?}"
            );
            assert!(section(&page, "heat").contains("20.1 %<small>"));
        }
    }
    let cpu = rank_rows(&estimated(&run)).into_iter();
    let cpu = cpu.filter(|row| row.quantity == Quantity::CpuTime && row.group == "channels");
    assert!(cpu.count() > 0, "windows have CPU time");
}

#[test]
fn what_varies_is_an_axis_and_a_limit_is_none() {
    let page = page(&run());
    let chart = figure(&page, "Cost against timers armed: lower is better");
    assert!(chart.contains("<th>0<th>1 k"), "{chart}");
    figure(&page, "What limiters do: higher is better");
    assert!(!page.contains("against acquirers") && !page.contains("offered load"));
}

#[test]
fn twelve_of_each_kind_in_sixty_scenarios_stay_below_525_kb() {
    let shape = Shape {
        implementations: 12,
        scenarios: 51,
        forks: 2,
        ..Shape::default()
    };
    let mut run = fixture::run(&shape);
    kinds::add(&shape, &mut run);
    assert_eq!(run.scenarios.len(), 60);
    // A pipeline with an ever-changing number in flight, and eleven more of each kind.
    for w in &mut run.windows {
        if let Some(in_flight) = &mut w.findings.in_flight {
            in_flight.timeline = (0..120).map(|i| (i * 800_000, 1 + i * 7 % 4)).collect();
        }
    }
    for first in ["heap", "core_async", "semaphore", "tokio"] {
        for n in 1..12 {
            let name = format!("{first}-{n}");
            let it = run.implementations[first].clone();
            let windows = run
                .windows
                .iter()
                .filter(|w| w.implementation == first && !w.placebo);
            let windows: Vec<_> = windows.cloned().collect();
            run.windows.extend(windows.into_iter().map(|w| Window {
                implementation: name.clone(),
                ..w
            }));
            run.implementations
                .insert(name.clone(), Implementation { name, ..it });
        }
    }
    let page = page(&run);
    assert!(page.len() < 525_000, "{} bytes", page.len());
}

#[test]
fn the_page_of_all_kinds_is_the_same_each_time_and_every_chart_is_complete() {
    let run = run();
    let page_of = page(&run);
    assert_eq!(page_of, page(&run.clone()));
    let charts = page_of.matches("<figure ").count();
    assert_eq!(page_of.matches("<desc>").count(), charts);
    assert_eq!(page_of.matches("<table class=data>").count(), charts);
    for group in ["Timers", "Pipelines", "Limiters", "Executors"] {
        let times = page_of.matches(&format!("<h3>{group}</h3>")).count();
        assert_eq!(
            times, 5,
            "{group}: ranking, correctness, heat map, charts, cost"
        );
    }
    let estimates = estimated(&run);
    for table in [
        rank_table(&estimates, 100, Style::Plain),
        cmp_table(&estimates, 100, Style::Plain),
    ] {
        assert!(table.lines().all(|l| l.chars().count() <= 100), "{table}");
    }
}
