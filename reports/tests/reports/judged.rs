//! What the page and the tables say about proofs, and which numbers they call the best.

use std::slice;

use flowmeter_records::{FailureKind, Proof, RunData, Uncontended, Verdict};
use flowmeter_reports::statistics::{Quantity, Standing};
use flowmeter_reports::{Checked, Style, cmp_table, estimate, rank_rows, rank_table};

use crate::fixture::{self, Shape, page, section};

/// Gives the fixture's only failed check that verdict instead.
fn with_verdict(verdict: Verdict) -> RunData {
    let mut run = fixture::run(&Shape::default());
    let failed = run.proofs.iter_mut().find(|p| p.verdict == Verdict::Fail);
    let proof = failed.expect("the fixture has one");
    proof.verdict = verdict;
    proof.detail = Some("no answer within 60 s".to_owned());
    run
}

#[test]
fn bursts_are_not_told_as_a_stream() {
    let mut run = fixture::run(&Shape::default());
    let first = |run: &RunData| {
        let page = page(run);
        let verdict = section(&page, "verdict");
        let row = verdict.split("<tr><td>").nth(1).expect("a row");
        row.to_owned()
    };
    // It comes before channels/spsc-64 and has the same threads and capacity.
    let bursts = "channels/mpmc-64-1x1";
    let params = &mut run
        .scenarios
        .get_mut(bursts)
        .expect("the fixture has it")
        .params;
    params.insert("workload".to_owned(), "burst".to_owned());
    let beside_bursts = first(&run);
    run.scenarios.remove(bursts);
    run.windows.retain(|window| window.scenario != bursts);
    assert_eq!(beside_bursts, first(&run));
}

#[test]
fn a_check_that_hung_is_shown_as_hung() {
    let run = with_verdict(Verdict::Hung);
    let page = page(&run);
    let proofs = section(&page, "proofs");
    assert!(
        proofs.contains(
            "<td class=\"hung\" title=\"undecided: no answer, nor when it was repeated alone, twice\">\
         <a href=\"#f1\">? hung</a>"
        ),
        "{proofs}"
    );
    assert!(proofs.contains("<div class=\"counterexample undecided\" id=\"f1\">"));
    assert!(proofs.contains(
        "<b>flume</b> is undecided: it hung twice alone, in <b>a1-exclusive</b> in the world std: no answer within 60 s"
    ));
    assert!(proofs.contains("? hung: no answer, nor when"));
    let verdict = section(&page, "verdict");
    assert!(
        verdict.contains("a1-exclusive of <b>flume</b> is undecided: it hung twice alone"),
        "{verdict}"
    );
    assert!(
        !verdict.contains("failed") && !verdict.contains("All "),
        "{verdict}"
    );
    let badge = "<span class=\"badge hung\" title=\"3 properties held: c1-conservation, c2-order, c6-close; \
                 hung twice alone: a1-exclusive\">hung 1, ✓ 3</span>";
    assert!(section(&page, "ranking").contains(badge));
    let estimates = estimate(slice::from_ref(&run)).unwrap();
    assert!(rank_table(&estimates, 100, Style::Plain).contains("hung 1, ✓ 3"));
    let rows = rank_rows(&estimates);
    let flume = rows.iter().find(|row| row.implementation == "flume");
    let json = serde_json::to_value(flume.unwrap()).unwrap();
    assert_eq!(
        json["checked"][0]["hung"],
        serde_json::json!(["a1-exclusive"])
    );
    assert!(json["checked"][0]["failed"].is_null(), "{json}");
}

#[test]
fn a_cell_whose_proof_is_undecided_is_not_said_to_have_failed() {
    for (verdict, kind, word) in [
        (Verdict::Fail, FailureKind::Proof, "proof failed"),
        (Verdict::Hung, FailureKind::Proof, "proof failed"),
        (Verdict::Inconclusive, FailureKind::Unproved, "unproved"),
    ] {
        let mut run = with_verdict(verdict);
        let scenario = "channels/spsc-64";
        let mut failure = run.failures[0].clone();
        failure.scenario = scenario.to_owned();
        failure.implementation = "flume".to_owned();
        failure.kind = kind;
        failure.message = "a1-exclusive: no answer within 60 s".to_owned();
        run.failures.push(failure);
        let estimates = estimate(slice::from_ref(&run)).unwrap();
        let cell = estimates.cell(scenario, "flume").unwrap();
        assert_eq!(cell.failed(), Some(word));
        assert!(cell.error().unwrap().starts_with(&format!("{word}: a1")));
        assert!(section(&page(&run), "heat").contains(&format!(">{word}")));
    }
}

#[test]
fn what_a_published_crate_does_not_promise_stands_in_a_table_of_its_own() {
    let mut run = with_verdict(Verdict::Pass);
    let mut broken = Proof {
        implementation: "flume".to_owned(),
        property: "c9-cancel".to_owned(),
        verdict: Verdict::NotPromisedBroken,
        detail: Some("a take: C9: a value was lost\nthread 1: put(0)".to_owned()),
        replay: Some("cargo flowmeter check -i '^flume$' -p '^c9-cancel$'".to_owned()),
        ..run.proofs[0].clone()
    };
    run.proofs.push(broken.clone());
    broken.property = "c4-waiter-fifo".to_owned();
    broken.verdict = Verdict::NotPromisedUnbroken;
    run.proofs.push(broken);
    let page = page(&run);
    let proofs = section(&page, "proofs");
    let table = &proofs[proofs.find("What you give up").expect("a table")..];
    assert!(
        table.contains("c9-cancel</a> a take: C9: a value was lost</p>"),
        "{table}"
    );
    assert!(table.contains("<td class=none>c4-waiter-fifo"), "{table}");
    assert!(
        table.contains("<b>flume</b> does not promise, and broke, <b>c9-cancel</b>"),
        "{table}"
    );
    assert!(table.contains("thread 1: put(0)"), "its history");
    let verdict = section(&page, "verdict");
    assert!(!verdict.contains("failed"), "{verdict}");
    let badges = section(&page, "ranking");
    assert!(badges.contains("✓") && !badges.contains("✗ 1"), "{badges}");
}

#[test]
fn a_check_that_broke_off_is_neither_failed_nor_undecided() {
    let page = page(&with_verdict(Verdict::Error));
    let proofs = section(&page, "proofs");
    assert!(proofs.contains("title=\"the check broke off\"") && proofs.contains(">error</a>"));
    assert!(proofs.contains("has no verdict: the check broke off in <b>a1-exclusive"));
    assert!(section(&page, "ranking").contains(">error 1, ✓ 3</span>"));
    let verdict = section(&page, "verdict");
    assert!(verdict.contains("is without a verdict, since the check broke off"));
    assert!(
        !verdict.contains("failed") && !verdict.contains("hung"),
        "{verdict}"
    );
}

/// Blocking and async channels, each in a group of its own, with a property of each form.
fn of_both_forms(verdict: Verdict) -> RunData {
    let mut run = fixture::run(&Shape {
        scenarios: 22,
        failures: false,
        ..Shape::default()
    });
    for scenario in run.scenarios.values_mut() {
        if scenario.form == "async" {
            scenario.group = "channels-async".to_owned();
        }
    }
    run.groups.push("channels-async".to_owned());
    let of_conservation = run
        .proofs
        .iter()
        .filter(|p| p.property == "c1-conservation");
    let awaited: Vec<Proof> = of_conservation.cloned().collect();
    run.proofs.extend(awaited.into_iter().map(|proof| Proof {
        property: "c1-conservation-async".to_owned(),
        verdict: match &*proof.implementation {
            "kanal" => verdict,
            _ => Verdict::Pass,
        },
        ..proof
    }));
    run
}

#[test]
fn a_badge_is_of_the_form_that_its_numbers_are_of() {
    let run = of_both_forms(Verdict::Fail);
    let page = page(&run);
    let ranking = section(&page, "ranking");
    let badges = |group: &str| {
        let begin = ranking.find(&format!("<h3>{group}</h3>")).unwrap();
        let of_group = ranking[begin..].split("<div class=tabs>").next().unwrap();
        let of_kanal = &of_group[of_group.find("kanal <span").expect("it is ranked")..];
        of_kanal[..of_kanal.find("<td").unwrap()].to_owned()
    };
    let (blocking, awaited) = (badges("Channels"), badges("Channels, async"));
    assert!(
        blocking.contains(">✓ 4</span>") && !blocking.contains('✗'),
        "{blocking}"
    );
    assert!(awaited.contains(">✗ 1, ✓ 3</span>"), "{awaited}");
    assert!(
        awaited.contains("failed: c1-conservation-async") && !awaited.contains("conservation,")
    );
    let of = |form| Checked::in_form(slice::from_ref(&run), "kanal", form);
    assert_eq!(of("async").failed, ["c1-conservation-async"]);
    assert_eq!(of("mixed").failed, of("async").failed, "threads meet tasks");
    assert_eq!(of("callback").held, of("blocking").held);
    assert!(
        of("async").held.contains(&"c6-close".to_owned()),
        "of every form"
    );
    assert!(!of("async").held.contains(&"c1-conservation".to_owned()));
}

#[test]
fn a_ranking_of_both_forms_has_a_badge_for_each() {
    let mut run = of_both_forms(Verdict::Hung);
    for scenario in run.scenarios.values_mut() {
        scenario.group = "channels".to_owned();
    }
    let table = rank_table(&estimate(&[run]).unwrap(), 120, Style::Plain);
    let of_kanal = table.lines().find(|line| line.contains("kanal")).unwrap();
    assert!(
        of_kanal.contains("async: hung 1, ✓ 3; blocking: ✓ 4"),
        "{of_kanal}"
    );
}

/// No property holds of `kanal` when tasks await, and it is by far the fastest there.
fn unproved() -> RunData {
    let mut run = of_both_forms(Verdict::Hung);
    run.proofs
        .retain(|p| p.implementation != "kanal" || p.property.ends_with("-async"));
    run.proofs.push(Proof {
        implementation: "kanal".to_owned(),
        property: "c1-conservation".to_owned(),
        verdict: Verdict::Pass,
        ..run.proofs[0].clone()
    });
    let forms: std::collections::BTreeMap<String, String> = (run.scenarios.iter())
        .map(|(name, scenario)| (name.clone(), scenario.form.clone()))
        .collect();
    for w in &mut run.windows {
        if w.implementation == "kanal" && forms[&w.scenario] == "async" {
            w.value *= 100.0;
        }
    }
    run
}

#[test]
fn what_is_unproved_is_not_ranked_and_nowhere_the_best() {
    let run = unproved();
    let estimates = estimate(slice::from_ref(&run)).unwrap();
    let scenario = "channels/async-spsc-64";
    let of = |name: &str| estimates.cell(scenario, name).unwrap();
    let fast = of("kanal").measured().unwrap();
    assert!(
        fast.ratio > 10.0 && fast.standing == Standing::Unproved,
        "{fast:?}"
    );
    assert_eq!(
        of("kanal").unproved.as_deref(),
        Some("hung twice alone: c1-conservation-async")
    );
    let cells = estimates
        .cells
        .iter()
        .filter(|c| c.scenario == scenario && c.competes());
    let ratios: Vec<f64> = cells.filter_map(|c| Some(c.measured()?.ratio)).collect();
    assert!(
        ratios.contains(&1.0) && ratios.iter().all(|r| *r <= 1.0),
        "{ratios:?}"
    );
    let standing = |c: &flowmeter_reports::statistics::Cell| c.measured().map(|m| m.standing);
    let of_async = estimates
        .cells
        .iter()
        .filter(|c| c.group == "channels-async");
    assert!(
        of_async
            .clone()
            .all(|c| standing(c) != Some(Standing::Best)),
        "its number is better"
    );
    let blocking = estimates.cell("channels/spsc-64", "kanal").unwrap();
    assert!(blocking.competes(), "of that form it is proved");

    let mut rows = rank_rows(&estimates);
    rows.retain(|row| row.quantity == Quantity::Speed);
    let row = |group: &str| {
        rows.iter()
            .find(|r| r.group == group && r.implementation == "kanal")
    };
    let last = rows.iter().rfind(|r| r.group == "channels-async");
    assert_eq!(row("channels-async"), last);
    assert!(!row("channels-async").unwrap().ranked && row("channels").unwrap().ranked);
    let reason = row("channels-async").unwrap().unproved.as_deref();
    assert!(reason.unwrap().contains("hung"));

    let table = rank_table(&estimates, 100, Style::Plain);
    let below = &table[table.find("below: unproved, not ranked").expect("a line")..];
    let line = below.lines().nth(1).unwrap();
    for said in ["–", "kanal", "unproved, hung 1"] {
        assert!(line.contains(said), "{line}");
    }
    assert!(below.contains("kanal is unproved: hung twice alone: c1-conservation-async"));
    let table = cmp_table(&estimates, 120, Style::Plain);
    let of_scenario = &table[table.find(scenario).unwrap()..];
    let line = of_scenario.lines().find(|l| l.contains("kanal")).unwrap();
    assert!(line.contains("unproved: hung twice alone"), "{line}");
    let of_scenario = &of_scenario[..of_scenario.find("\n\n").unwrap()];
    assert!(!of_scenario.contains("best"), "{of_scenario}");

    let page = page(&run);
    let ranking = section(&page, "ranking");
    let below = &ranking[ranking
        .find("unproved: nothing was proved in the form")
        .expect("a line")..];
    let row = &below[..below.find("\n<").unwrap()];
    assert!(
        row.contains("kanal") && row.contains("<b>unproved</b>"),
        "{row}"
    );
    assert!(
        row.contains("hung twice alone: c1-conservation-async"),
        "{row}"
    );
    assert!(section(&page, "heat").contains("unproved: hung twice alone: c1-conservation-async"));
    let verdict = section(&page, "verdict");
    let leads = &verdict[verdict.find("<td>async channels, ").unwrap()..];
    let leads = &leads[..leads.find("\n").unwrap()];
    assert!(!leads.contains("kanal"), "{leads}");
}

#[test]
fn a_run_without_a_proof_ranks_nothing_and_shows_its_numbers() {
    let mut run = fixture::run(&Shape {
        scenarios: 6,
        failures: false,
        ..Shape::default()
    });
    run.proofs.clear();
    let estimates = estimate(slice::from_ref(&run)).unwrap();
    let rows = rank_rows(&estimates);
    assert!(!rows.is_empty() && rows.iter().all(|row| !row.ranked));
    let numbers = estimates.cells.iter().filter_map(|c| c.measured());
    assert!(numbers.clone().count() > 20);
    assert!(
        numbers
            .clone()
            .all(|m| m.standing == Standing::Unproved && m.ratio <= 1.0)
    );
    let page = page(&run);
    assert!(section(&page, "verdict").contains("nothing was proved of any"));
    assert!(section(&page, "verdict").contains("Nothing was proved in this run"));
    assert!(section(&page, "ranking").contains("<b>unproved</b>"));
    assert!(!section(&page, "heat").contains("> best<"));
}

/// Two implementations ahead of all others, and not told apart: each is ahead in every other round.
fn neck_and_neck() -> RunData {
    let mut run = fixture::run(&Shape {
        implementations: 4,
        scenarios: 3,
        failures: false,
        ..Shape::default()
    });
    for w in &mut run.windows {
        let ahead_in = |parity: u32| 1.0 + 0.02 * f64::from((w.round + parity) % 2);
        w.value = match &*w.implementation {
            "mutex" => 1e6 * ahead_in(0),
            "condvar" => 1e6 * ahead_in(1),
            _ => 4e5 * ahead_in(0),
        };
    }
    run
}

#[test]
fn where_the_leading_intervals_overlap_none_is_the_best() {
    let run = neck_and_neck();
    let page = page(&run);
    let heat = section(&page, "heat");
    let rows = &heat[heat.find("<tbody>").unwrap()..];
    assert_eq!(
        rows.matches("<br>indistinguishable").count(),
        6,
        "two in each of three rows"
    );
    assert!(!rows.contains("best"), "{rows}");
    let verdict = section(&page, "verdict");
    assert!(verdict.contains("<td>indistinguishable"), "{verdict}");
    assert!(!verdict.contains("times as fast"), "{verdict}");
    let estimates = estimate(slice::from_ref(&run)).unwrap();
    let table = cmp_table(&estimates, 100, Style::Plain);
    assert!(!table.contains("best"), "{table}");
    assert_eq!(table.matches("indistinguishable").count(), 6);
    let mut parted = run;
    for w in parted
        .windows
        .iter_mut()
        .filter(|w| w.implementation == "condvar")
    {
        w.value *= 0.8;
    }
    let table = cmp_table(&estimate(&[parted]).unwrap(), 100, Style::Plain);
    assert_eq!(table.matches("  best\n").count(), 3, "{table}");
    assert!(!table.contains("indistinguishable"), "{table}");
}

#[test]
fn where_intervals_of_criterion_overlap_none_is_bold() {
    let mut run = neck_and_neck();
    let estimate = |implementation: &str, nanos: f64| Uncontended {
        scenario: "channels/uncontended".to_owned(),
        implementation: implementation.to_owned(),
        nanos,
        lo: nanos - 1.0,
        hi: nanos + 1.0,
    };
    run.uncontended = vec![estimate("mutex", 40.0), estimate("condvar", 41.5)];
    let overlapping = page(&run);
    let cost = section(&overlapping, "cost");
    assert!(!cost.contains("<b>40.0 ns") && cost.matches("<small>indistinguishable").count() == 2);
    run.uncontended[1] = estimate("condvar", 43.0);
    let apart = page(&run);
    let cost = section(&apart, "cost");
    assert!(cost.contains("<b>40.0 ns</b>") && !cost.contains("<small>indistinguishable"));
}
