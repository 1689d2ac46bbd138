//! Several runs in one page: machines are separate, and builds of one machine are its history.

use flowmeter_records::{Attack, Failure, FailureKind, Proof, RunData, Verdict};
use flowmeter_reports::{Texts, machines, render_machines};

use crate::fixture::{self, Shape};

const EARLIER: &str = "fedcba9876543210fedcba9876543210fedcba98";

fn shape() -> Shape {
    Shape {
        implementations: 5,
        scenarios: 6,
        forks: 10,
        rounds_per_fork: 2,
        noise: 0.01,
        failures: false,
        ..Shape::default()
    }
}

fn run(seed: u64) -> RunData {
    fixture::run(&Shape { seed, ..shape() })
}

/// The same windows on another day.
fn another_day(run: &RunData, commit: &str) -> RunData {
    let mut day = run.clone();
    day.run.started = "2026-11-21T11:39:00Z".to_owned();
    day.run.commit = commit.to_owned();
    day
}

fn elsewhere(mut run: RunData) -> RunData {
    run.run.machine.cpu = "Neoverse-N1".to_owned();
    run
}

fn page(runs: Vec<RunData>) -> String {
    render_machines(
        &machines(runs).expect("the fixture is sound"),
        &Texts::default(),
    )
    .expect("the page renders")
}

fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let begin = page.find(&format!("<section id={id}>")).expect("a section");
    &page[begin..begin + page[begin..].find("</section>").expect("it ends")]
}

#[test]
fn machines_stand_apart_and_nothing_is_averaged() {
    let here = run(1);
    let mut there = elsewhere(run(1));
    for window in &mut there.windows {
        window.value *= 2.0;
    }
    let median = |run: &RunData| {
        let estimates = flowmeter_reports::estimate(std::slice::from_ref(run)).unwrap();
        let cell = estimates.cell("channels/spsc-64", "mutex").unwrap();
        cell.measured().unwrap().median
    };
    let both = machines(vec![here.clone(), there.clone()]).unwrap();
    let seen: Vec<f64> = both
        .iter()
        .map(|machine| {
            let cell = machine.estimates().cell("channels/spsc-64", "mutex");
            cell.unwrap().measured().unwrap().median
        })
        .collect();
    assert_eq!(seen, [median(&here), median(&there)]);
    let page = render_machines(&both, &Texts::default()).unwrap();
    for id in [
        "verdict", "ranking", "proofs", "heat", "charts", "cost", "machine",
    ] {
        let headings = section(&page, id).matches("<h3 class=machine>").count();
        assert_eq!(headings, 2, "{id}");
    }
    assert!(section(&page, "ranking").contains("<table class=\"across sort\">"));
    assert!(section(&page, "history").contains("One run of a machine has no history"));
    assert!(page.contains("2 runs on 2 machines"));
}

#[test]
fn machines_of_one_processor_have_names_of_their_own() {
    let mut bare = run(1);
    bare.run.machine.hypervisor = "none".to_owned();
    let all = machines(vec![run(1), bare]).unwrap();
    assert_eq!(all.len(), 2);
    assert!(
        all[1].name().contains("hypervisor none"),
        "{}",
        all[1].name()
    );
    assert_ne!(all[0].name(), all[1].name());
}

#[test]
fn a_single_machine_has_no_heading_and_the_same_page_as_ever() {
    let alone = run(1);
    let estimates = flowmeter_reports::estimate(std::slice::from_ref(&alone)).unwrap();
    let as_ever = flowmeter_reports::render(std::slice::from_ref(&alone), &estimates).unwrap();
    assert_eq!(page(vec![alone]), as_ever);
    assert!(!as_ever.contains("<h3 class=machine>"));
}

#[test]
fn every_id_is_there_once() {
    let page = page(vec![run(1), elsewhere(run(2))]);
    let ids = page.split(" id=").skip(1);
    let ids = ids.map(|rest| rest.split(['>', ' ']).next().unwrap().trim_matches('"'));
    let mut ids: Vec<&str> = ids.collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    assert!(ids.iter().any(|id| id.starts_with("m2-c-")));
}

#[test]
fn what_got_slower_stands_in_history_and_nothing_else_does() {
    let before = run(1);
    let mut after = another_day(&before, EARLIER);
    for window in &mut after.windows {
        if window.implementation == "condvar" && window.scenario == "channels/spsc-64" {
            window.value *= 0.8;
        }
    }
    let page = page(vec![after, before]);
    let history = section(&page, "history");
    assert!(
        history
            .contains("2026-11-20T11:39:00Z (0123456789ab) → 2026-11-21T11:39:00Z (fedcba987654)"),
        "{history}"
    );
    let rows = history.matches("<tr><td>").count();
    assert_eq!(rows, 1, "{history}");
    assert!(history.contains("<td>channels/spsc-64<td class=name>condvar"));
    assert!(history.contains("<td class=\"fail\">slower"));
    assert!(section(&page, "verdict").contains("1 run of an earlier one stands in History alone"));
}

#[test]
fn runs_of_one_build_are_one_sample_and_say_so_in_history() {
    let first = run(1);
    let again = another_day(&run(2), &first.run.commit);
    let all = machines(vec![first, again]).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].latest().len(), 2);
    let page = render_machines(&all, &Texts::default()).unwrap();
    assert!(section(&page, "history").contains("not told apart"));
    assert!(!section(&page, "verdict").contains("History alone"));
}

#[test]
fn builds_with_changes_in_no_commit_are_never_one_sample() {
    let first = another_day(&run(1), "0123456789ab-dirty");
    let mut again = first.clone();
    again.run.started = "2026-11-22T11:39:00Z".to_owned();
    let all = machines(vec![first, again]).unwrap();
    assert_eq!(all[0].latest().len(), 1);
    assert_eq!(all[0].runs().len(), 2);
}

#[test]
fn an_optimised_build_of_a_commit_and_an_unoptimised_one_are_two() {
    let mut first = run(1);
    let again = another_day(&run(2), &first.run.commit);
    first.run.unoptimised = true;
    let all = machines(vec![first, again]).unwrap();
    assert_eq!((all[0].latest().len(), all[0].runs().len()), (1, 2));
    let page = render_machines(&all, &Texts::default()).unwrap();
    assert!(section(&page, "history").contains("unoptimised build"));
    assert!(!section(&page, "verdict").contains("unoptimised"));
}

#[test]
fn scenarios_that_changed_their_meaning_are_said_and_no_error() {
    let before = run(1);
    let mut after = another_day(&before, EARLIER);
    for scenario in after.scenarios.values_mut() {
        scenario.unit = "items/s".to_owned();
    }
    let page = page(vec![before, after]);
    assert!(section(&page, "history").contains("Nothing is said: the scenario"));
}

#[test]
fn shards_of_verdicts_on_copies_of_a_run_are_one_run() {
    let whole = run(1);
    let mut copies = [whole.clone(), whole.clone()];
    let proof = |property: &str, verdict| Proof {
        property: property.to_owned(),
        world: "loom".to_owned(),
        verdict,
        detail: (verdict == Verdict::Fail).then(|| "C4: a waiter was overtaken".to_owned()),
        ..whole.proofs[0].clone()
    };
    copies[0].proofs.push(proof("c3-capacity", Verdict::Pass));
    let failed = proof("c4-waiters", Verdict::Fail);
    copies[1].failures.push(Failure {
        scenario: "channels/spsc-64".to_owned(),
        implementation: failed.implementation.clone(),
        placebo: false,
        slowed_percent: None,
        build: None,
        fork: 0,
        round: None,
        kind: FailureKind::Proof,
        message: "c4-waiters under loom: a waiter was overtaken".to_owned(),
    });
    let name = failed.implementation.clone();
    copies[1].proofs.push(failed);
    let all = machines(copies.into()).unwrap();
    let run = &all[0].latest();
    assert_eq!(run.len(), 1);
    assert_eq!(run[0].windows.len(), whole.windows.len());
    assert_eq!(run[0].proofs.len(), whole.proofs.len() + 2);
    let cell = all[0].estimates().cell("channels/spsc-64", &name).unwrap();
    assert!(cell.measured().is_none(), "no proof, no number");
    let page = render_machines(&all, &Texts::default()).unwrap();
    let proofs = section(&page, "proofs");
    assert!(
        proofs.contains("C3<small>capacity</small><small>loom") && proofs.contains("C4<small>")
    );
    assert!(
        proofs.contains("<a href=\"#f1\">✗"),
        "the cell leads to what was seen"
    );
    assert!(proofs.contains("id=\"f1\"><b>"));
}

#[test]
fn mutants_show_the_properties_that_killed_them_and_survivors_in_red() {
    let mut run = run(1);
    assert!(
        section(&page(vec![run.clone()]), "mutants").contains("cargo flowmeter mutants --into RUN")
    );
    let attack = |mutant: &str, equivalent, killed| Attack {
        mutant: mutant.to_owned(),
        family: "missed wake-up".to_owned(),
        equivalent,
        killed,
        verdict: if killed { Verdict::Fail } else { Verdict::Pass },
        by: "c3-capacity".to_owned(),
        world: killed.then(|| "shuttle".to_owned()),
        check: None,
        executions: 12,
        seconds: 0.5,
        detail: None,
    };
    run.attacks = vec![
        attack("mutex-one", false, false),
        attack("mutex-two", false, true),
        attack("mutex-three", true, false),
        attack("mutex-one", false, true),
        attack("mutex-four", false, false),
    ];
    let page = page(vec![run]);
    let mutants = section(&page, "mutants");
    assert!(mutants.contains(
        "3 mutants and 1 equivalent rewrite: 3 of 4 attacks went as they should, in 48 executions."
    ));
    assert_eq!(mutants.matches("<p class=failed>").count(), 1);
    assert!(mutants.contains("mutex-four survived c3-capacity"));
    assert!(mutants.contains("<span class=\"badge pass\">no alarm"));
}

#[test]
fn cores_that_were_farther_in_some_rounds_are_a_warning_with_both_distances() {
    let steady = run(1);
    let warning = "The distance of two cores changed: a cache line took 115 ns to 230 ns";
    let is_warned = |run: &RunData| page(vec![run.clone()]).contains(warning);
    assert!(!is_warned(&steady));
    let far_in = |every: usize| {
        let mut run = steady.clone();
        for round in run.rounds.iter_mut().step_by(every) {
            round.core_round_trip_nanos = Some(230.0);
        }
        run
    };
    assert!(is_warned(&far_in(10)));
    // One round in forty is an interruption.
    assert!(!is_warned(&far_in(40)));
}
