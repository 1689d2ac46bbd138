//! The ranking of each group.

use std::fmt::Write;

use super::{Lines, Style, Tone, between_notes, cut, longest_name};
use crate::checked::Checked;
use crate::number;
use crate::statistics::{Estimates, Quantity, Ranking, View};

/// The rankings of every group over all its cells, one for each quantity, or the cells where they are too few. `width` is in
/// columns.
pub fn rank_table(estimates: &Estimates, width: usize, style: Style) -> String {
    let all = || estimates.rankings.iter().filter(|r| r.view == View::All);
    let tables = all().map(|ranking| one_ranking(estimates, ranking, width, style));
    let mut tables: Vec<String> = tables.collect();
    if tables.is_empty() {
        tables.push("No cell has a number.\n".to_owned());
    }
    let origins = all().flat_map(|ranking| &ranking.ranks);
    let origins = origins.map(|rank| rank.origin);
    between_notes(estimates, tables, origins, width, style)
}

fn one_ranking(estimates: &Estimates, ranking: &Ranking, width: usize, style: Style) -> String {
    match ranking.is_ranked() {
        true => in_order(estimates, ranking, width, style),
        false => few(estimates, ranking, width, style),
    }
}

/// What was checked of an implementation, in a word or two for each form of its numbers.
fn proved(ranking: &Ranking, implementation: &str) -> String {
    let words = ranking.checked(implementation).iter().map(Checked::word);
    words.collect::<Vec<_>>().join("; ")
}

/// The cells of a group with too few of them for an order.
fn few(estimates: &Estimates, ranking: &Ranking, width: usize, style: Style) -> String {
    let mut out = String::new();
    let cells = match ranking.cells {
        1 => "1 cell".to_owned(),
        n => format!("{n} cells"),
    };
    let why = match ranking.quantity {
        Quantity::Ceiling => "kept or not, in no ranking",
        Quantity::OwnLoad => "each at a load of its own, in no ranking",
        _ => "too few for a ranking",
    };
    let title = format!("{}: {cells}, {why}", ranking.title());
    let _ = writeln!(out, "{}", style.paint(Tone::Heading, &cut(&title, width)));
    let cells = estimates.cells_of(ranking);
    let scenarios = longest_name(cells.iter().map(|c| &*c.scenario), 30);
    let names = longest_name(cells.iter().map(|c| &*c.implementation), 24);
    let mut lines = Lines::new(
        &[
            "scenario",
            "implementation",
            "median",
            "95 % interval",
            "checked",
            "",
        ],
        &[false, false, true, false, false, false],
    );
    for cell in cells {
        let (tone, median, interval, said) = match cell.measured() {
            Some(m) => (
                if cell.competes() {
                    Tone::Usual
                } else {
                    Tone::Aside
                },
                format!(
                    "{}{}",
                    m.bound(),
                    number::value_with_unit(m.median, &cell.unit)
                ),
                number::interval(m.lo, m.hi, &cell.unit),
                match &cell.unproved {
                    Some(why) => format!("unproved: {why}"),
                    None => cell.word(estimates.exploratory).to_owned(),
                },
            ),
            None => (
                Tone::Failed,
                "no number".to_owned(),
                String::new(),
                cell.failed().unwrap_or_default().to_owned(),
            ),
        };
        let fields = [
            cut(&cell.scenario, scenarios),
            cut(&cell.implementation, names),
            median,
            interval,
            proved(ranking, &cell.implementation),
            said,
        ];
        lines.push(tone, fields.to_vec());
    }
    lines.write(style, width, &mut out);
    write_references(estimates, ranking, width, style, &mut out);
    out
}

fn in_order(estimates: &Estimates, ranking: &Ranking, width: usize, style: Style) -> String {
    let mut out = String::new();
    let title = format!(
        "{}: geometric mean of ratios to the best of {} cells",
        ranking.title(),
        ranking.cells
    );
    let _ = writeln!(out, "{}", style.paint(Tone::Heading, &cut(&title, width)));
    let names = longest_name(ranking.ranks.iter().map(|r| &*r.implementation), 28);
    let checked = ranking.ranks.iter();
    let checked = checked.map(|rank| proved(ranking, &rank.implementation).chars().count());
    // The remaining width after the other columns, for a bar.
    let others = names + checked.max().unwrap_or(0).max(7) + 58;
    let bar_width = width.saturating_sub(others).min(24);
    let mut lines = Lines::new(
        &[
            "tier",
            "implementation",
            "origin",
            "ratio",
            "95 % interval",
            "cells",
            "checked",
            "",
        ],
        &[true, false, false, true, false, true, false, false],
    );
    let mut drawn = "";
    for rank in &ranking.ranks {
        let (complete, telling) = (ranking.complete(rank), ranking.telling(rank));
        let line = match (complete, &rank.unproved) {
            (true, _) => "",
            (false, None) => "below: not in every cell",
            (false, Some(_)) => "below: unproved, not ranked",
        };
        if line != drawn {
            drawn = line;
            let fields = ["", line, "", "", "", "", "", ""];
            lines.push(Tone::Aside, fields.map(str::to_owned).to_vec());
        }
        let tone = match (complete, rank.tier) {
            (false, _) => Tone::Aside,
            (true, 1) => Tone::Leading,
            (true, _) => Tone::Usual,
        };
        let failed = failures(estimates, ranking, &rank.implementation);
        let [ratio, interval, last] = match (telling, &rank.unproved) {
            (true, _) => [
                format!("{}{}", rank.at_least(), number::ratio(rank.ratio)),
                number::ratio_interval(rank.lo, rank.hi),
                bar(rank.ratio, bar_width),
            ],
            (false, None) => ["–".to_owned(), "too few cells".to_owned(), String::new()],
            (false, Some(_)) => ["–".to_owned(), String::new(), String::new()],
        };
        lines.push(
            tone,
            vec![
                if complete {
                    rank.tier.to_string()
                } else {
                    "–".to_owned()
                },
                cut(&rank.implementation, names),
                rank.origin.to_string(),
                ratio,
                interval,
                format!("{}/{}", rank.cells, ranking.cells),
                proved(ranking, &rank.implementation),
                match failed {
                    0 => last,
                    failed => format!("no number in {failed}"),
                },
            ],
        );
    }
    for (name, count) in without_number(estimates, ranking) {
        lines.push(
            Tone::Failed,
            vec![
                "–".to_owned(),
                cut(name, names.max(12)),
                String::new(),
                "none".to_owned(),
                String::new(),
                format!("0/{}", ranking.cells),
                proved(ranking, name),
                format!("no number in {count}"),
            ],
        );
    }
    lines.write(style, width, &mut out);
    for rank in &ranking.ranks {
        if let Some(why) = &rank.unproved {
            let line = format!("       {} is unproved: {why}", rank.implementation);
            let _ = writeln!(out, "{}", style.paint(Tone::Aside, &cut(&line, width)));
        }
    }
    write_references(estimates, ranking, width, style, &mut out);
    out
}

fn write_references(
    estimates: &Estimates,
    ranking: &Ranking,
    width: usize,
    style: Style,
    out: &mut String,
) {
    let references = references(estimates, &ranking.group);
    if !references.is_empty() {
        let line = format!(
            "       for reference, in no ranking: {}",
            references.join(", ")
        );
        let _ = writeln!(out, "{}", style.paint(Tone::Aside, &cut(&line, width)));
    }
}

/// Cells of an implementation in a ranking that have a failure instead of a number.
fn failures(estimates: &Estimates, ranking: &Ranking, implementation: &str) -> usize {
    estimates
        .cells
        .iter()
        .filter(|c| ranking.scenarios.contains(&c.scenario) && c.implementation == implementation)
        .filter(|c| c.measured().is_none())
        .count()
}

/// References that were measured in a group.
pub(crate) fn references<'a>(estimates: &'a Estimates, group: &str) -> Vec<&'a str> {
    let of_group = estimates.cells.iter();
    let mut names: Vec<&str> = of_group
        .filter(|c| c.group == group && c.reference && c.measured().is_some())
        .map(|c| &*c.implementation)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The implementations that failed in every cell of a ranking, with the number of these cells.
pub(crate) fn without_number<'a>(
    estimates: &'a Estimates,
    ranking: &Ranking,
) -> Vec<(&'a str, usize)> {
    let mut names: Vec<&str> = estimates
        .cells
        .iter()
        .filter(|c| {
            ranking.scenarios.contains(&c.scenario) && ranking.quantity != Quantity::CpuTime
        })
        .filter(|c| !c.reference && c.measured().is_none())
        .map(|c| &*c.implementation)
        .filter(|name| !ranking.ranks.iter().any(|r| r.implementation == *name))
        .collect();
    names.sort_unstable();
    names
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0], same.len()))
        .collect()
}

/// A bar of eighths, `width` columns at ratio 1.
fn bar(ratio: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (ratio.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}
