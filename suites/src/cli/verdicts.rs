//! Verdicts as tables and in words.

use comfy_table::{Cell as TableCell, CellAlignment, ContentArrangement, Table, presets};
use flowmeter_harness::caps::Kind;
use flowmeter_harness::record::{Proof, Verdict};

use super::output::width;
use crate::roster::Owed;

/// A cell and what came of it.
pub(super) type Judged = (Owed, Proof);

/// More columns of implementations are not readable in the width of a table.
const PER_TABLE: usize = 6;

const LEGEND: &str = "pass: held in so many executions; full: in the whole space; -: not claimed; \
n/a: not in that world;\nopen: the budget ended first";

/// For each world and kind: properties down, implementations across, as many tables as that takes. Whoever
/// has no model in a world has no column there.
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
            let cell = judged.iter().find(|(cell, _)| {
                cell.implementation == *implementation && cell.property.name == property
            });
            let mark = cell.map_or_else(String::new, |(_, proof)| mark(proof));
            TableCell::new(mark).set_alignment(CellAlignment::Center)
        });
        table.add_row(std::iter::once(TableCell::new(property)).chain(marks));
    }
    table
}

fn mark(proof: &Proof) -> String {
    match proof.verdict {
        Verdict::Pass if proof.complete => format!("full {}", short(proof.executions)),
        Verdict::Pass => format!("pass {}", short(proof.executions)),
        verdict => word(verdict).to_owned(),
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::Unclaimed => "-",
        Verdict::NotInstrumentable => "n/a",
        Verdict::Inconclusive => "open",
        Verdict::Error => "ERROR",
    }
}

/// A count in at most four characters; nothing is rounded up.
fn short(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        1_000_000..1_000_000_000 => format!("{}M", count / 1_000_000),
        _ => format!("{}G", count / 1_000_000_000),
    }
}

/// Whether a verdict fails a check. What is not claimed, or cannot be looked at, does not.
pub(super) const fn fails(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Fail | Verdict::Error | Verdict::Inconclusive
    )
}

/// What came of a cell, in words.
pub(super) fn sentence(proof: &Proof) -> String {
    format!(
        "{} {} {} under {}: {}",
        word(proof.verdict),
        proof.implementation,
        proof.property,
        proof.world,
        proof.detail.as_deref().unwrap_or("no word of why"),
    )
}

/// What failed, in words and with the command that shows it again; then how many did what.
pub(super) fn summary(judged: &[Judged]) -> String {
    let mut text = String::new();
    let proofs = || judged.iter().map(|(_, proof)| proof);
    for proof in proofs().filter(|proof| fails(proof.verdict)) {
        text.push_str(&format!(
            "{}\n    {}\n",
            sentence(proof),
            proof.replay.as_deref().unwrap_or(""),
        ));
    }
    let count = |verdict| proofs().filter(|proof| proof.verdict == verdict).count();
    let failed = proofs().filter(|proof| fails(proof.verdict)).count();
    let executions: u64 = proofs().map(|proof| proof.executions).sum();
    let seconds: f64 = proofs().map(|proof| proof.seconds).sum();
    let absent = match count(Verdict::NotInstrumentable) {
        0 => String::new(),
        absent => format!(", {absent} not in that world"),
    };
    text.push_str(&format!(
        "{} passed, {failed} failed, {} not claimed{absent}; {executions} executions in {seconds:.0} s",
        count(Verdict::Pass),
        count(Verdict::Unclaimed),
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::short;

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
