//! Verdicts as tables and text.

use comfy_table::{
    Cell as TableCell, CellAlignment, ColumnConstraint, ContentArrangement, Table, presets,
};
use flowmeter_harness::caps::Kind;
use flowmeter_records::{Bound, Proof, Verdict};

use super::output::width;
use crate::descriptions::Owed;

/// A cell and its result.
pub(super) type Judged = (Owed, Proof);

/// More columns of implementations do not fit the width of a table.
const PER_TABLE: usize = 6;

const LEGEND: &str =
    "pass: held in so many executions; full: in the whole space within the bound; *: a note below;
open: undecided; hung: failed, no answer, nor when repeated alone, twice; n/a: not in that world;
-: not claimed, and no model; (broken): not promised and broken; (-): not promised, not seen broken";

/// For each world and kind: properties down, implementations across, in as many tables as needed. An implementation
/// without models in a world has no column there.
pub(super) fn tables(judged: &[Judged]) -> String {
    let mut text = String::new();
    for world in distinct(judged.iter().map(|(cell, _)| cell.world)) {
        for kind in Kind::ALL {
            let here: Vec<&Judged> = judged
                .iter()
                .filter(|(cell, _)| cell.world == world && cell.property.kind() == *kind)
                .collect();
            let present = here
                .iter()
                .filter(|(_, proof)| proof.verdict != Verdict::NotInstrumentable);
            let implementations = distinct(present.map(|(cell, _)| cell.implementation));
            for implementations in implementations.chunks(PER_TABLE) {
                text.push_str(&table(world, &here, implementations).to_string());
                text.push_str("\n\n");
            }
        }
    }
    text + LEGEND
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

fn table(world: &str, judged: &[&Judged], implementations: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width() as u16);
    let corner = format!("under {world}");
    table.set_header(std::iter::once(corner.as_str()).chain(implementations.iter().copied()));
    for property in distinct(judged.iter().map(|(cell, _)| cell.property.name)) {
        let marks = implementations.iter().map(|implementation| {
            let cells = judged.iter().filter(|(cell, _)| {
                cell.implementation == *implementation && cell.property.name == property
            });
            TableCell::new(marks(cells.map(|(_, proof)| proof)))
                .set_alignment(CellAlignment::Center)
        });
        table.add_row(std::iter::once(TableCell::new(property)).chain(marks));
    }
    if let Some(properties) = table.column_mut(0) {
        properties.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
}

/// The mark of a cell. A property that is claimed in part has a second line, if the rest was seen broken.
fn marks<'a>(proofs: impl Iterator<Item = &'a Proof>) -> String {
    let proofs: Vec<&Proof> = proofs.collect();
    let shown = proofs.iter().enumerate();
    let shown =
        shown.filter(|(index, proof)| *index == 0 || proof.verdict != Verdict::NotPromisedUnbroken);
    let marks: Vec<String> = shown.map(|(_, proof)| mark(proof)).collect();
    marks.join("\n")
}

fn mark(proof: &Proof) -> String {
    let note = if proof.detail.is_some() { "*" } else { "" };
    match proof.verdict {
        Verdict::Pass if proof.complete => format!("full {}{note}", short(proof.executions)),
        Verdict::Pass => format!("pass {}{note}", short(proof.executions)),
        verdict => word(verdict).to_owned(),
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::Unclaimed => "-",
        Verdict::NotPromisedBroken => "(broken)",
        Verdict::NotPromisedUnbroken => "(-)",
        Verdict::NotInstrumentable => "n/a",
        Verdict::Inconclusive => "open",
        Verdict::Hung => "hung",
        Verdict::Error => "ERROR",
    }
}

/// A count in at most four characters, never rounded up.
fn short(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        1_000_000..1_000_000_000 => format!("{}M", count / 1_000_000),
        _ => format!("{}G", count / 1_000_000_000),
    }
}

/// Whether a verdict fails a check. Unclaimed and uncheckable properties do not.
pub(super) const fn fails(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Fail | Verdict::Inconclusive | Verdict::Hung | Verdict::Error
    )
}

/// The result of a cell, as text.
pub(super) fn sentence(proof: &Proof) -> String {
    let said = match proof.verdict {
        Verdict::Inconclusive => "undecided:",
        Verdict::Hung => "hung:",
        Verdict::NotPromisedBroken => "not promised and broken:",
        Verdict::NotPromisedUnbroken => "not promised, not seen broken:",
        verdict => word(verdict),
    };
    format!(
        "{said} {} {} under {}: {}",
        proof.implementation,
        proof.property,
        proof.world,
        proof.detail.as_deref().unwrap_or("no word of why"),
    )
}

/// Failed and undecided cells, and those that are not promised and broken, with the command that reproduces them. Then
/// notes on those that passed, the number of each outcome, and how far each world was explored.
pub(super) fn summary(judged: &[Judged]) -> String {
    let mut text = String::new();
    let proofs = || judged.iter().map(|(_, proof)| proof);
    let not_promised = proofs().filter(|proof| proof.verdict == Verdict::NotPromisedBroken);
    let failed = proofs().filter(|proof| fails(proof.verdict));
    for proof in not_promised.chain(failed) {
        text.push_str(&format!("{}\n", sentence(proof)));
        if let Some(bound) = &proof.bound {
            text.push_str(&format!("    explored: {bound}\n"));
        }
        let replay = proof.replay.as_deref().unwrap_or("");
        text.push_str(&format!("    {replay}\n"));
    }
    text.push_str(&notes(
        proofs().filter(|proof| proof.verdict == Verdict::Pass),
    ));
    let count = |verdict| proofs().filter(|proof| proof.verdict == verdict).count();
    let executions: u64 = proofs().map(|proof| proof.executions).sum();
    let seconds: f64 = proofs().map(|proof| proof.seconds).sum();
    let some = |verdict, what: &str| match count(verdict) {
        0 => String::new(),
        some => format!(", {some} {what}"),
    };
    text.push_str(&format!(
        "{} passed, {} failed{}{}{}{}{}, {} not claimed{}; {executions} executions in {seconds:.0} s",
        count(Verdict::Pass),
        count(Verdict::Fail),
        some(Verdict::Inconclusive, "open"),
        some(Verdict::Hung, "hung"),
        some(Verdict::Error, "broke off"),
        some(Verdict::NotPromisedBroken, "not promised and broken"),
        some(
            Verdict::NotPromisedUnbroken,
            "not promised, not seen broken"
        ),
        count(Verdict::Unclaimed),
        some(Verdict::NotInstrumentable, "not in that world"),
    ));
    text + &explored(&proofs().collect::<Vec<_>>())
}

/// A line for each world: the bound within which its claimed properties held.
fn explored(proofs: &[&Proof]) -> String {
    let mut text = String::new();
    for world in distinct(proofs.iter().map(|proof| &*proof.world)) {
        let held = proofs.iter();
        let held = held.filter(|proof| proof.world == world && proof.verdict == Verdict::Pass);
        let together = held
            .filter_map(|proof| proof.bound.clone())
            .reduce(|a, b| Bound {
                cases: a.cases + b.cases,
                fewest: a.fewest.min(b.fewest),
                seeds: a.seeds.max(b.seeds),
                ..a
            });
        if let Some(bound) = together {
            text.push_str(&format!("\nheld in {world}: {bound}"));
        }
    }
    text
}

/// A line for each note; cells with the same note share it.
fn notes<'a>(passed: impl Iterator<Item = &'a Proof>) -> String {
    let mut noted: Vec<(&str, &Proof, usize)> = Vec::new();
    for proof in passed {
        let Some(note) = proof.detail.as_deref() else {
            continue;
        };
        match noted.iter_mut().find(|(other, ..)| *other == note) {
            Some((.., more)) => *more += 1,
            None => noted.push((note, proof, 0)),
        }
    }
    let lines = noted.into_iter().map(|(note, proof, more)| {
        let cell = format!(
            "{} {} under {}",
            proof.implementation, proof.property, proof.world
        );
        match more {
            0 => format!("* {cell}: {note}\n"),
            more => format!("* {cell} and {more} more: {note}\n"),
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptions::Due;
    use crate::properties::PROPERTIES;

    /// Cells of one implementation, of the first properties.
    fn judged(verdicts: &[(Verdict, Option<&str>)]) -> Vec<Judged> {
        let cells = PROPERTIES.iter().zip(verdicts);
        let judged = cells.map(|(property, (verdict, detail))| {
            let cell = Owed {
                implementation: "mutex",
                property,
                world: "std",
                due: Due::Owed,
            };
            let proof = Proof {
                implementation: "mutex".to_owned(),
                property: property.name.to_owned(),
                world: "std".to_owned(),
                verdict: *verdict,
                complete: false,
                executions: 7,
                seconds: 1.0,
                counterexample: None,
                detail: detail.map(str::to_owned),
                replay: None,
                bound: None,
            };
            (cell, proof)
        });
        judged.collect()
    }

    #[test]
    fn what_hung_is_told_apart_from_what_failed_and_what_broke_off() {
        let told = summary(&judged(&[
            (Verdict::Pass, None),
            (Verdict::Fail, Some("C1: lost")),
            (Verdict::Hung, Some("fixed(1): no answer within 12 s")),
            (Verdict::Error, Some("the process ended")),
            (Verdict::Inconclusive, Some("2 histories were too much")),
            (Verdict::Unclaimed, None),
        ]));
        let lines: Vec<&str> = told.lines().collect();
        let of = |index: usize| PROPERTIES[index].name;
        let hung = format!(
            "hung: mutex {} under std: fixed(1): no answer within 12 s",
            of(2)
        );
        assert_eq!(
            lines[0],
            format!("FAIL mutex {} under std: C1: lost", of(1))
        );
        assert_eq!(lines[2], hung);
        assert_eq!(
            lines[6],
            format!(
                "undecided: mutex {} under std: 2 histories were too much",
                of(4)
            )
        );
        assert_eq!(
            lines[8],
            "1 passed, 1 failed, 1 open, 1 hung, 1 broke off, 1 not claimed; 42 executions in 6 s"
        );
    }

    #[test]
    fn what_is_not_promised_has_its_own_marks_and_does_not_fail() {
        let mut judged = judged(&[
            (Verdict::Pass, None),
            (Verdict::NotPromisedBroken, Some("C9: a value was lost")),
            (Verdict::NotPromisedUnbroken, None),
        ]);
        // The first property is claimed in part, and the rest of it is broken.
        let mut rest = judged[1].clone();
        rest.0.property = judged[0].0.property;
        rest.1.property.clone_from(&judged[0].1.property);
        judged.push(rest);
        assert!(!judged.iter().any(|(_, proof)| fails(proof.verdict)));
        let table = tables(&judged);
        let table = table.split(LEGEND).next().unwrap_or_default();
        assert_eq!(table.matches("(broken)").count(), 2, "{table}");
        assert_eq!(table.matches("(-)").count(), 1, "{table}");
        assert_eq!(table.matches("pass 7").count(), 1, "{table}");
        let told = summary(&judged);
        let first = format!(
            "not promised and broken: mutex {} under std: C9: a value was lost",
            PROPERTIES[1].name
        );
        assert!(told.starts_with(&first), "{told}");
        assert!(
            told.contains("2 not promised and broken, 1 not promised, not seen broken"),
            "{told}"
        );
    }

    #[test]
    fn a_summary_says_how_far_each_world_was_explored() {
        let mut judged = judged(&[(Verdict::Pass, None), (Verdict::Pass, None)]);
        for ((_, proof), fewest) in judged.iter_mut().zip([40, 30]) {
            proof.bound = Some(Bound {
                cases: 2,
                fewest,
                executions: None,
                preemptions: Some(2),
                seed: 7,
                seeds: 1,
            });
        }
        let told = summary(&judged);
        let last = told.lines().last();
        let expected =
            "held in std: 4 cases, 30 executions of each at least, within 2 preemptions, seed 7";
        assert_eq!(last, Some(expected));
    }

    #[test]
    fn a_pass_with_a_note_has_a_mark_and_a_line() {
        let missed = "not on one core: refused";
        let judged = judged(&[
            (Verdict::Pass, None),
            (Verdict::Pass, Some("no answer within 12 s, once")),
            (Verdict::Pass, Some(missed)),
            (Verdict::Pass, Some(missed)),
        ]);
        let table = tables(&judged);
        assert_eq!(table.matches("pass 7*").count(), 3, "{table}");
        assert_eq!(table.matches("pass 7").count(), 4, "{table}");
        let told = summary(&judged);
        let lines: Vec<&str> = told.lines().collect();
        let [once, twice] = [1, 2].map(|index: usize| PROPERTIES[index].name);
        let expected = [
            format!("* mutex {once} under std: no answer within 12 s, once"),
            format!("* mutex {twice} under std and 1 more: {missed}"),
            "4 passed, 0 failed, 0 not claimed; 28 executions in 4 s".to_owned(),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn counts_are_short_and_never_more_than_there_were() {
        for (count, text) in [
            (0, "0"),
            (9_999, "9999"),
            (10_999, "10k"),
            (999_999, "999k"),
            (17_900_000, "17M"),
            (2_000_000_000, "2G"),
        ] {
            assert_eq!(short(count), text);
        }
    }
}
