//! The guarantees of the page and the tables.

use std::slice;
use std::time::{Duration, Instant};

use flowmeter_harness::caps::Origin;
use flowmeter_harness::sync::cost::{Counts, Pace};
use flowmeter_records::{
    Allocation, Counters, FailureKind, Holds, Measure, ModelledCost, Round, RunData, SeedClaim,
    Uncontended, Window, read_run,
};
use flowmeter_reports::statistics::{Quantity, Standing};
use flowmeter_reports::{
    Checked, SELF_CHECKED, Style, Texts, cmp_rows, cmp_table, estimate, machines, rank_rows,
    rank_table, render, render_machines,
};

use crate::fixture::{self, Shape, page, section};

/// The same run with each name replaced.
fn renamed(run: &RunData, from: &str, to: &str) -> RunData {
    let mut run = run.clone();
    let mut it = run.implementations.remove(from).expect("it takes part");
    it.name = to.to_owned();
    run.implementations.insert(to.to_owned(), it);
    for w in run.windows.iter_mut().filter(|w| w.implementation == from) {
        w.implementation = to.to_owned();
    }
    for p in run.proofs.iter_mut().filter(|p| p.implementation == from) {
        p.implementation = to.to_owned();
    }
    for f in run.failures.iter_mut().filter(|f| f.implementation == from) {
        f.implementation = to.to_owned();
    }
    run
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let run = fixture::run(&Shape::default());
    assert_eq!(page(&run), page(&run.clone()));
}

#[test]
fn estimates_read_back_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [fixture::run(&Shape::default())];
    let estimates = estimate(&runs).unwrap();
    estimates.write(folder.path()).unwrap();
    let read = flowmeter_reports::Estimates::read(folder.path()).unwrap();
    assert_eq!(
        render(&runs, &read).unwrap(),
        render(&runs, &estimates).unwrap()
    );
}

#[test]
fn twelve_implementations_and_sixty_scenarios_stay_below_500_kb() {
    let run = fixture::run(&Shape {
        implementations: 12,
        scenarios: 60,
        ..Shape::default()
    });
    assert_eq!(run.scenarios.len(), 60);
    let page = page(&run);
    assert!(page.len() < 500_000, "{} bytes", page.len());
}

/// What `report` does: reads the records, finds the estimates beside them, writes the page.
#[test]
fn a_page_of_twelve_in_sixty_scenarios_is_written_within_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let run = fixture::run(&Shape {
        implementations: 12,
        scenarios: 60,
        ..Shape::default()
    });
    std::fs::write(folder.path().join("records.jsonl"), fixture::lines(&run)).unwrap();
    let written = read_run(folder.path()).unwrap();
    estimate(&[written]).unwrap().write(folder.path()).unwrap();
    let write = |name: &str| {
        let began = Instant::now();
        let all = machines(vec![read_run(folder.path()).unwrap()]).unwrap();
        let page = render_machines(&all, &Texts::default()).unwrap();
        std::fs::write(folder.path().join(name), &page).unwrap();
        (began.elapsed(), page)
    };
    // The machine may be busy once or twice.
    let mut all: Vec<_> = ["a.html", "b.html", "c.html"].map(write).into();
    all.sort_by_key(|(took, _)| *took);
    // An unoptimised build beside other work takes more than a second.
    let limit = Duration::from_secs(if cfg!(debug_assertions) { 4 } else { 1 });
    assert!(all[0].0 < limit, "{:?}", all[0].0);
    assert!(all.iter().all(|(_, page)| *page == all[0].1));
    assert!(all[0].1.len() < 500_000);
}

#[test]
fn the_page_asks_the_network_for_nothing() {
    let page = page(&fixture::run(&Shape::default()));
    for hint in [
        "http://", "https://", "src=", "@import", "url(", "<link", "//cdn",
    ] {
        assert!(!page.contains(hint), "{hint}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn no_name_becomes_markup() {
    let hostile = "<script>alert(1)</script>\"'&--><img src=x onerror=alert(2)>";
    let run = fixture::run(&Shape::default());
    let mut run = renamed(&renamed(&run, "kanal", hostile), "std-mpsc", "</svg><b>x");
    run.run.command = hostile.to_owned();
    run.run.machine.cpu = hostile.to_owned();
    for scenario in run.scenarios.values_mut() {
        scenario.title = hostile.to_owned();
        scenario.why = hostile.to_owned();
        scenario.unit = hostile.to_owned();
        scenario.axes.family = format!("{}{hostile}", scenario.axes.family);
    }
    for proof in &mut run.proofs {
        proof.detail = Some(hostile.to_owned());
        proof.replay = Some(hostile.to_owned());
    }
    for failure in &mut run.failures {
        failure.message = hostile.to_owned();
    }
    run.seed_claims.push(SeedClaim {
        seed: hostile.to_owned(),
        claim: hostile.to_owned(),
        implementation: hostile.to_owned(),
        origin: Origin::Foreign,
        expected: hostile.to_owned(),
        seen: hostile.to_owned(),
        holds: Holds::Version,
        note: Some(hostile.to_owned()),
    });
    let page = page(&run);
    for hint in ["<script>alert", "<img", "</svg><b>", "-->"] {
        assert!(!page.contains(hint), "{hint}");
    }
    assert_eq!(page.matches("<script").count(), 1, "ours alone");
    assert!(page.contains("alert(1)"), "the name is shown, as text");
}

#[test]
fn a_failure_stands_where_the_number_would() {
    let run = fixture::run(&Shape::default());
    let page = page(&run);
    assert!(page.contains("hung: no answer within 10 s; killed (1 round was timed)"));
    assert!(page.contains(">void<") && page.contains("class=hx"));
    assert!(page.contains("failed <b>a1-exclusive</b>"));
    assert!(page.contains("<a href=\"#f1\">✗"), "its cell leads there");
    assert!(page.contains("one alts committed two clauses"));
}

/// Twelve implementations, of which the last two are in other languages and have no properties.
fn with_foreigners() -> RunData {
    let mut run = fixture::run(&Shape {
        implementations: 12,
        scenarios: 4,
        ..Shape::default()
    });
    run.proofs.retain(|proof| {
        let implementation = &run.implementations[&proof.implementation];
        implementation.origin != Origin::Foreign
    });
    run
}

#[test]
fn another_language_is_self_checked_and_the_page_says_what_that_is() {
    let run = with_foreigners();
    let page = page(&run);
    assert!(page.contains(">self-checked</span>") && !page.contains(">unproved</span>"));
    assert!(page.contains("Self-checked: its own process proved what it timed"));
    assert!(page.contains("in no row, since core.async, go are self-checked: its own process"));
    let estimates = estimate(slice::from_ref(&run)).unwrap();
    for table in [rank_table, cmp_table] {
        let table = table(&estimates, 100, Style::Plain);
        assert!(
            table.ends_with(&format!("foreign: {SELF_CHECKED}\n")),
            "{table}"
        );
        assert!(table.lines().all(|line| line.chars().count() <= 100));
    }
    let nobody = fixture::run(&Shape::default());
    let estimates = estimate(slice::from_ref(&nobody)).unwrap();
    assert!(!rank_table(&estimates, 100, Style::Plain).contains("self-checked"));
}

#[test]
fn a_process_that_found_itself_wrong_is_not_self_checked() {
    let mut run = with_foreigners();
    let of = |run: &RunData, name: &str| Checked::of(slice::from_ref(run), name);
    assert!(of(&run, "go").is_self_checked());
    let mut failure = run.failures[0].clone();
    failure.implementation = "go".to_owned();
    failure.kind = FailureKind::Count;
    let what = format!("its own proof in {}", failure.scenario);
    run.failures.push(failure);
    assert_eq!(of(&run, "go").failed, [what]);
    assert!(!of(&run, "go").is_self_checked());
    run.windows.clear();
    assert_eq!(of(&run, "core.async"), Checked::default());
    assert!(of(&run, "mutex").is_proved());
}

#[test]
fn every_section_is_there_and_every_chart_has_its_command_and_its_data() {
    let page = page(&fixture::run(&Shape::default()));
    for section in [
        "verdict",
        "ranking",
        "proofs",
        "heat",
        "charts",
        "cost",
        "claims",
        "mutants",
        "machine",
        "reproduce",
        "history",
    ] {
        assert!(
            page.contains(&format!("<section id={section}>")),
            "{section}"
        );
    }
    let charts = page.matches("<figure ").count();
    assert!(charts > 10, "{charts}");
    assert_eq!(page.matches("<table class=data>").count(), charts);
    assert_eq!(page.matches("<desc>").count(), charts);
    assert!(page.matches("cargo flowmeter measure -s").count() >= charts);
    assert!(page.matches("<p class=meta>placebo 0.").count() >= charts);
    assert!(page.contains("messages/s"));
    // Single windows: as dots, and their range in the table.
    let drawn = page.matches("<path class=d").count();
    assert!(drawn > 10, "{drawn}");
    assert!(page.contains("<th>all windows"));
    // The version of a published crate.
    assert!(page.contains("<td class=quiet>peer 0."), "a version");
}

#[test]
fn a_chart_is_measured_again_as_it_was_measured() {
    let mut run = fixture::run(&Shape {
        scenarios: 2,
        implementations: 2,
        failures: false,
        ..Shape::default()
    });
    let said = |run: &RunData| {
        let page = page(run);
        let begin = page.find("cargo flowmeter measure -s").unwrap();
        let end = begin + page[begin..].find('<').unwrap();
        page[begin..end].replace("&#39;", "'")
    };
    assert_eq!(
        said(&run),
        "cargo flowmeter measure -s '^channels/spsc-' -i '^(condvar|mutex)$' --forks 5 --rounds 6 \
         --window 50 --seed 1"
    );
    // A budget had shortened the windows; the machine was pinned, and a copy was slowed.
    run.run.budget_seconds = Some(60);
    run.run.pinning = "one-core".to_owned();
    run.run.slowed_percent = Some(10);
    run.run.seed = 7;
    run.run.scenario_dir = Some("my load".to_owned());
    run.run.foreign_dir = Some("--resume".to_owned());
    for w in &mut run.windows {
        w.nanos = 31_400_000;
    }
    assert!(
        said(&run).ends_with(
            "--window 31 --seed 7 --pin 'one-core' --slowed 10 --scenario-dir='my load' --foreign-dir='--resume'"
        ),
        "{}",
        said(&run)
    );
    let mut longer = run.clone();
    longer.run.rounds = 9;
    let both = [run.clone(), longer, run];
    let page = render(&both, &estimate(&both).unwrap()).unwrap();
    let charts = page.matches("<figure ").count();
    assert_eq!(
        page.matches("cargo flowmeter measure -s").count(),
        2 * charts
    );
}

#[test]
fn a_share_of_its_own_capacity_is_an_axis_and_the_rate_a_cost() {
    let mut run = fixture::run(&Shape::default());
    // As if the three fixed rates had been shares.
    let shares = [(10_000, 25), (100_000, 50), (1_000_000, 75)];
    for scenario in run.scenarios.values_mut() {
        let rate = scenario.axes.rate.take();
        let mut shares = shares.iter();
        scenario.axes.load_percent = shares.find(|(of, _)| rate == Some(*of)).map(|(_, p)| *p);
    }
    let of_a_share = |name: &str| name.starts_with("channels/latency-");
    for window in &mut run.windows {
        window.findings.bare_nanos = Some(1.25);
        window.findings.counters = Some(Counters {
            instructions: 64 * window.operations,
            cache_misses: window.operations / 4,
        });
        window.findings.offered = of_a_share(&window.scenario).then_some(2_500_000.0);
    }
    let page = page(&run);
    let estimates = estimate(slice::from_ref(&run)).unwrap();
    let of_shares = estimates
        .cells
        .iter()
        .filter(|cell| of_a_share(&cell.scenario));
    let standings: Vec<Standing> = of_shares
        .filter_map(|it| Some(it.measured()?.standing))
        .collect();
    assert!(!standings.is_empty() && standings.iter().all(|it| *it == Standing::OwnLoad));
    let mut rankings = estimates.rankings.iter();
    let ranking = rankings
        .find(|it| it.quantity == Quantity::OwnLoad)
        .unwrap();
    assert!(ranking.cells == 3 && !ranking.is_ranked(), "{ranking:?}");
    let charts = section(&page, "charts");
    assert!(charts.contains("offered load, of its own capacity"));
    assert!(charts.contains(">25 %<") && charts.contains(">75 %<"));
    let cost = section(&page, "cost");
    assert!(
        cost.contains("own loop takes 1.25 ns an operation"),
        "{cost}"
    );
    assert!(
        cost.contains("Instructions<small>") && cost.contains("<td>64<td>"),
        "{cost}"
    );
    let tables: Vec<&str> = cost.split("<details").skip(1).collect();
    assert_eq!(
        tables
            .iter()
            .filter(|it| it.contains("Offered<small>"))
            .count(),
        3
    );
    assert!(
        tables.iter().any(|it| it.contains("data-v=2.50e6>2.5 M")),
        "{cost}"
    );
}

#[test]
fn costs_and_uncontended_costs_are_shown_but_not_beside_a_failure() {
    let mut run = fixture::run(&Shape::default());
    let failed = ("channels/spsc-1", "std-mpsc");
    for (scenario, implementation, nanos) in [
        ("channels/uncontended", "mutex", 41.0),
        ("channels/not-timed", "kanal", 27.5),
        (failed.0, failed.1, 123.4),
    ] {
        run.uncontended.push(Uncontended {
            scenario: scenario.to_owned(),
            implementation: implementation.to_owned(),
            nanos,
            lo: nanos - 1.0,
            hi: nanos + 1.0,
        });
    }
    for (scenario, implementation) in [("channels/spsc-1", "mutex"), failed] {
        run.allocations.push(Allocation {
            scenario: scenario.to_owned(),
            implementation: implementation.to_owned(),
            operations: 1000,
            allocations: 2500,
            bytes: 77_700,
            peak_live_bytes: 1536,
        });
    }
    for (scenario, implementation) in [("channels/spsc-1", "mutex"), failed] {
        for (pace, wakes) in Pace::ALL.into_iter().zip([123, 456]) {
            run.modelled_costs.push(ModelledCost {
                scenario: scenario.to_owned(),
                implementation: implementation.to_owned(),
                pace,
                messages: 200,
                counts: Some(Counts {
                    wakes,
                    allocations: Some(2 * wakes),
                    ..Counts::default()
                }),
                error: None,
            });
        }
    }
    let page = page(&run);
    assert!(page.contains("<b>41.0 ns</b><small>40.0–42.0 ns</small>"));
    assert!(page.contains("channels/not-timed") && page.contains("<b>27.5 ns</b>"));
    assert!(page.contains("cargo bench -- &#39;^channels/not-timed/&#39;"));
    assert!(!page.contains("123 ns"), "it hung");
    for text in [
        ">2.5<",
        ">77.7 B<",
        ">1.5 KiB",
        "0.61 / 2.28",
        "1.23 / 4.56",
    ] {
        assert_eq!(page.matches(text).count(), 1, "{text}");
    }
    assert!(page.contains("How evenly threads of one side take turns: right is better"));
    assert!(page.contains("Gave up its core") && page.contains(">4 MiB"));
}

fn claimed(implementation: &str, seen: &str, holds: Holds, note: Option<&str>) -> SeedClaim {
    SeedClaim {
        seed: "001.txt".to_owned(),
        claim: "10,000 timeouts in 6 ms".to_owned(),
        implementation: implementation.to_owned(),
        origin: Origin::Own,
        expected: "6 of them".to_owned(),
        seen: seen.to_owned(),
        holds,
        note: note.map(str::to_owned),
    }
}

#[test]
fn claims_stand_beside_what_was_seen_and_the_last_word_counts() {
    let mut run = fixture::run(&Shape::default());
    assert!(page(&run).contains("cargo flowmeter claims --into RUN"));
    run.seed_claims = vec![
        claimed("heap", "no value came", Holds::No, None),
        claimed("delay_queue", "6 channels", Holds::Yes, None),
        claimed("heap", "10000 channels", Holds::Differs, Some("as T7 says")),
        claimed(
            "wheel",
            "10000 channels",
            Holds::Differs,
            Some("as T7 says"),
        ),
        claimed("lost", "a panic", Holds::No, None),
    ];
    let page = page(&run);
    assert!(!page.contains("cargo flowmeter claims") && !page.contains("no value came"));
    assert!(page.contains("6 channels<td><span class=\"badge pass\">yes"));
    assert!(page.contains("<td>heap, wheel<td class=quiet>own<td>10000 channels"));
    assert!(page.contains("<small>as T7 says</small><td><span class=\"badge none\">differs"));
    assert!(page.contains("a panic<td><span class=\"badge fail\">NO"));
}

#[test]
fn a_property_has_its_statement_and_an_article_its_title() {
    let mut run = fixture::run(&Shape {
        scenarios: 3,
        ..Shape::default()
    });
    run.seed_claims = vec![claimed("heap", "10000 channels", Holds::Yes, None)];
    let all = machines(vec![run]).unwrap();
    let with = |texts: &Texts| render_machines(&all, texts).unwrap();
    let without = with(&Texts::default());
    assert!(!without.contains("What these properties state") && !without.contains("It states"));
    assert!(without.contains(">001.txt</h3>"));
    let page = with(&Texts {
        statements: [("a1-exclusive", "One clause & no other.")].into(),
        titles: [("001.txt", "On timeouts")].into(),
    });
    assert!(section(&page, "claims").contains("<h3 title=\"001.txt\">On timeouts</h3>"));
    let proofs = section(&page, "proofs");
    let statement = "One clause &#38; no other.";
    for shown in [
        format!("<th title=\"{statement}\">A1<small>"),
        format!("<th>a1-exclusive<td>{statement}"),
        format!("<p class=meta>It states: {statement}</p>"),
    ] {
        assert_eq!(proofs.matches(&shown).count(), 1, "{shown}: {proofs}");
    }
}

#[test]
fn cells_that_are_held_out_are_ranked_beside_the_tuned_ones() {
    let mut run = fixture::run(&Shape {
        implementations: 3,
        scenarios: 30,
        failures: false,
        ..Shape::default()
    });
    let of_group = |run: &RunData, group: &str| {
        let scenarios = run.scenarios.values().filter(|s| s.group == group);
        scenarios.cloned().collect::<Vec<_>>()
    };
    let name = |name: &str| name.replacen("channels/", "channels-held-out/", 1);
    for mut scenario in of_group(&run, "channels") {
        scenario.name = name(&scenario.name);
        scenario.group = "channels-held-out".to_owned();
        run.scenarios.insert(scenario.name.clone(), scenario);
    }
    run.groups = ["channels", "alts", "channels-held-out"]
        .map(str::to_owned)
        .into();
    let windows = run.windows.clone().into_iter();
    run.windows.extend(windows.map(|w| Window {
        scenario: name(&w.scenario),
        ..w
    }));
    let rounds = run.rounds.clone().into_iter();
    run.rounds.extend(rounds.map(|round| Round {
        scenario: name(&round.scenario),
        ..round
    }));
    let rows = rank_rows(&estimate(slice::from_ref(&run)).unwrap());
    let mut groups: Vec<&str> = rows.iter().map(|row| &*row.group).collect();
    groups.dedup();
    assert_eq!(groups[..2], ["channels", "channels-held-out"]);
    let page = page(&run);
    assert!(section(&page, "ranking").contains("<h3>Channels, held out</h3>"));
    assert!(section(&page, "verdict").contains("<td>channels, held out, "));
}

#[test]
fn an_unoptimised_build_is_said_before_anything_else_and_calls_nothing_faster() {
    let mut run = fixture::run(&Shape {
        scenarios: 3,
        failures: false,
        ..Shape::default()
    });
    let said = "unoptimised build: these are no figures";
    let tables = |run: &RunData| {
        let estimates = estimate(slice::from_ref(run)).unwrap();
        assert_eq!(estimates.exploratory, run.run.unoptimised);
        [rank_table, cmp_table].map(|table| table(&estimates, 100, Style::Plain))
    };
    assert!(tables(&run).iter().all(|table| !table.contains(said)));
    assert!(!page(&run).contains("unoptimised build"));
    run.run.unoptimised = true;
    for table in tables(&run) {
        assert!(table.starts_with(&format!("{said}\n\n")), "{table}");
    }
    let page = page(&run);
    let warning = page.find("<p class=warning>").unwrap();
    assert!(page[warning..].contains(&format!("is of an {said}. Measure it")));
    let first = "cannot call any implementation faster, since it is of an unoptimised build";
    assert!(page.contains(first));
    assert!(
        page.contains(" windows · unoptimised</p>"),
        "under the title"
    );
    let charts = page.matches("<figure ").count();
    assert_eq!(
        page.matches(", unoptimised, seed 1</p>").count(),
        charts + 1
    );
}

#[test]
fn an_exploratory_run_says_so() {
    let page = page(&fixture::run(&Shape {
        forks: 1,
        rounds_per_fork: 5,
        ..Shape::default()
    }));
    assert!(page.contains("Exploratory: 1 fork of 5 rounds"));
    assert!(page.contains("too short to call any implementation faster: 1 fork of 5 rounds."));
}

/// A run of one scenario that measures a cost in that unit.
fn costs_in(unit: &str) -> RunData {
    let mut run = fixture::run(&Shape {
        scenarios: 1,
        failures: false,
        ..Shape::default()
    });
    for scenario in run.scenarios.values_mut() {
        scenario.measure = Measure::Cost;
        scenario.unit = unit.to_owned();
    }
    run
}

#[test]
fn less_of_something_is_not_called_fast() {
    let verdict = |unit| {
        let page = page(&costs_in(unit));
        let end = page.find("<section id=ranking>").unwrap();
        page[page.find("<section id=verdict>").unwrap()..end].to_owned()
    };
    for unit in ["wake-ups", "B", "ns CPU"] {
        let verdict = verdict(unit);
        assert!(!verdict.contains(" as fast as "), "{verdict}");
        assert!(
            verdict.contains(" takes ") && verdict.contains(" times as much"),
            "{verdict}"
        );
    }
    assert!(verdict("ns").contains(" times as fast as "));
}

/// A run with placebos that were so many times as good as their originals in every round.
fn placebo_off_by(factor: f64, scenarios: usize) -> RunData {
    let mut run = fixture::run(&Shape {
        scenarios,
        failures: false,
        ..Shape::default()
    });
    let of = |w: &Window| {
        (
            w.scenario.clone(),
            w.fork,
            w.round,
            w.implementation.clone(),
        )
    };
    let windows = run.windows.clone();
    for placebo in run.windows.iter_mut().filter(|w| w.placebo) {
        let itself = windows.iter().find(|w| !w.placebo && of(w) == of(placebo));
        placebo.value = itself.expect("it was timed").value * factor;
    }
    run
}

#[test]
fn a_run_in_which_the_same_code_differs_says_so_first() {
    let sick = placebo_off_by(1.0 / 0.9, 8);
    let estimates = estimate(slice::from_ref(&sick)).unwrap();
    let said = "nhealthy run: 8 of 8 placebos exclude 1";
    let page_of_it = page(&sick);
    let verdict = section(&page_of_it, "verdict");
    let first = verdict.find(&format!("<p class=warning>U{said}")).unwrap();
    assert!(first < verdict.find("<table").unwrap(), "{verdict}");
    assert!(section(&page_of_it, "machine").contains(said));
    for table in [cmp_table, rank_table] {
        let table = table(&estimates, 120, Style::Plain);
        assert!(table.starts_with(&format!("u{said}")), "{table}");
    }
    let sound = placebo_off_by(1.0, 8);
    let said = "0 of 8 placebos exclude 1";
    assert!(section(&page(&sound), "verdict").contains(&format!("; {said}.")));
    let table = cmp_table(&estimate(&[sound]).unwrap(), 100, Style::Plain);
    assert!(table.ends_with(&format!("health: {said}\n")), "{table}");
    assert!(table.contains("placebo 1.00–1.00"), "{table}");
}

#[test]
fn a_head_has_the_unit_of_its_cells() {
    // Times of microseconds; the heads must not say nanoseconds.
    for unit in ["ns", "ns CPU"] {
        let mut run = costs_in(unit);
        for w in &mut run.windows {
            w.value /= 1e3;
        }
        let page = page(&run);
        let heat = section(&page, "heat");
        assert!(heat.contains(" µs<small>"), "{heat}");
        let time = if unit == "ns" {
            "↓ time, placebo "
        } else {
            "↓ CPU time, placebo "
        };
        assert!(heat.contains(time) && !heat.contains("↓ ns"), "{heat}");
        let table = cmp_table(&estimate(&[run]).unwrap(), 100, Style::Plain);
        let head = table.lines().next().unwrap();
        assert!(
            !head.contains("ns") && head.contains("time, lower is better"),
            "{head}"
        );
    }
    let mut run = fixture::run(&Shape::default());
    for scenario in run.scenarios.values_mut() {
        scenario.measure = Measure::Cost;
        scenario.unit = "ns".to_owned();
    }
    let page = page(&run);
    let heads: Vec<&str> = page
        .split("<th>median and 95 % interval, ")
        .skip(1)
        .collect();
    assert!(heads.len() > 2 && heads.iter().all(|head| head.starts_with("time<")));
}

#[test]
fn what_was_dropped_is_named() {
    let mut run = fixture::run(&Shape::default());
    run.end.as_mut().unwrap().dropped = vec!["alts/wide".to_owned(), "alts/wider".to_owned()];
    let page = page(&run);
    assert!(page.contains(
        "2 scenarios dropped for want of time, and not measured: alts/wide, alts/wider."
    ));
}

#[test]
fn a_run_without_a_single_number_is_still_a_page() {
    let mut run = fixture::run(&Shape {
        scenarios: 3,
        ..Shape::default()
    });
    run.windows.clear();
    run.rounds.clear();
    run.failures.clear();
    run.proofs.clear();
    run.noise.clear();
    run.end = None;
    let page = page(&run);
    assert!(page.contains("No implementation has a number"));
    assert!(page.contains("No property was checked"));
    assert!(page.contains("was cut off before its end"));
}

#[test]
fn three_hundred_implementations_are_drawn_too() {
    let run = fixture::run(&Shape {
        implementations: 300,
        scenarios: 2,
        forks: 1,
        rounds_per_fork: 5,
        ..Shape::default()
    });
    assert!(page(&run).contains("contestant-299"));
}

#[test]
fn tables_fit_their_width() {
    let long = "a-very-long-name-of-an-implementation-that-no-author-would-choose";
    let run = renamed(
        &fixture::run(&Shape {
            implementations: 12,
            scenarios: 60,
            ..Shape::default()
        }),
        "mutex",
        long,
    );
    let estimates = estimate(&[run]).unwrap();
    for width in [100, 79, 60] {
        for table in [
            rank_table(&estimates, width, Style::Plain),
            cmp_table(&estimates, width, Style::Plain),
        ] {
            let widest = table.lines().max_by_key(|l| l.chars().count()).unwrap();
            assert!(widest.chars().count() <= width, "{width}: {widest:?}");
            assert!(!table.contains('\x1b'));
        }
    }
    assert!(rank_table(&estimates, 100, Style::Colour).contains("\x1b[32m"));
    assert!(cmp_table(&estimates, 100, Style::Plain).contains("no number: hung"));
}

#[test]
fn a_name_cannot_move_the_cursor() {
    let run = renamed(&fixture::run(&Shape::default()), "kanal", "kan\x1b[2Jal\n");
    let estimates = estimate(&[run]).unwrap();
    assert!(!cmp_table(&estimates, 100, Style::Plain).contains('\x1b'));
    assert!(!rank_table(&estimates, 100, Style::Plain).contains('\x1b'));
}

#[test]
fn the_keys_of_the_json_rows_are_stable() {
    let estimates = estimate(&[fixture::run(&Shape::default())]).unwrap();
    let keys = |value: serde_json::Value| -> Vec<String> {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    let rank = serde_json::to_value(&rank_rows(&estimates)[0]).unwrap();
    assert_eq!(rank["tier"], 1);
    let expected = [
        "cells",
        "checked",
        "group",
        "hi",
        "implementation",
        "lo",
        "origin",
        "quantity",
        "ratio_to_best",
        "tier",
        "verdict",
    ];
    assert_eq!(keys(rank), expected);
    let cmp = serde_json::to_value(&cmp_rows(&estimates)[0]).unwrap();
    assert_eq!(cmp["ratio_to_best"], 1.0);
    assert_eq!(cmp["better"], "higher");
    let expected = [
        "better",
        "error",
        "hi",
        "implementation",
        "lo",
        "median",
        "origin",
        "ratio_hi",
        "ratio_lo",
        "ratio_to_best",
        "scenario",
        "unit",
        "verdict",
    ];
    assert_eq!(keys(cmp), expected);
}

#[test]
fn a_torn_run_is_read_to_where_it_tore_and_a_foreign_one_is_one_clear_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("records.jsonl");
    let text = fixture::lines(&fixture::run(&Shape {
        scenarios: 3,
        ..Shape::default()
    }));
    std::fs::write(&file, &text[..text.len() - 30]).unwrap();
    let torn = read_run(folder.path()).unwrap();
    assert!(torn.torn && torn.end.is_none());
    assert!(page(&torn).contains("was cut off"));
    std::fs::write(
        &file,
        text.clone() + "{\"record\":\"of-tomorrow\",\"x\":[1]}\n",
    )
    .unwrap();
    let newer = read_run(folder.path()).unwrap();
    assert!(newer.end.is_some() && newer.windows.len() >= torn.windows.len());
    for foreign in ["{\"hello\":1}\n", "not json at all\n", ""] {
        std::fs::write(&file, foreign).unwrap();
        let error =
            flowmeter_reports::ReportError::from(read_run(folder.path()).unwrap_err()).to_string();
        assert!(error.contains("records.jsonl"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_cell_with_two_modes_shows_both() {
    let shape = Shape {
        noise: 0.01,
        ..Shape::default()
    };
    let mut run = fixture::run(&shape);
    assert!(!page(&run).contains("two modes"));
    let scenario = "channels/spsc-64";
    let its = run.windows.iter_mut();
    let its = its.filter(|w| w.scenario == scenario && w.implementation == "mutex" && !w.placebo);
    for w in its {
        w.value = if w.round % 3 == 0 { 4e6 } else { 6e6 } + f64::from(w.round);
    }
    let page = page(&run);
    let found = page.find("two modes: ").expect("a remark");
    let remark = &page[found..found + 60];
    assert!(
        remark.starts_with("two modes: 4.00 M in 10 windows, 6.00 M in 20"),
        "{remark}"
    );
}
