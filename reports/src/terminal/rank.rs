//! The ranking of each group.

use std::fmt::Write;

use super::{Lines, Style, Tone, between_notes, cut, longest_name};
use crate::number;
use crate::statistics::{Estimates, Ranking, View};

/// The ranking of every group over all its cells. `width` is in columns.
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
    let mut out = String::new();
    let title = format!(
        "{}: geometric mean of ratios to the best of {} cell{}",
        ranking.group,
        ranking.cells,
        if ranking.cells == 1 { "" } else { "s" }
    );
    let _ = writeln!(out, "{}", style.paint(Tone::Heading, &cut(&title, width)));
    let names = longest_name(ranking.ranks.iter().map(|r| &*r.implementation), 28);
    // What is left of the width after the other columns, for a bar.
    let bar_width = width.saturating_sub(names + 56).min(24);
    let mut lines = Lines::new(
        &[
            "tier",
            "implementation",
            "origin",
            "ratio",
            "95 % interval",
            "cells",
            "",
        ],
        &[true, false, false, true, false, true, false],
    );
    let mut line_drawn = false;
    for rank in &ranking.ranks {
        let (complete, telling) = (ranking.complete(rank), ranking.telling(rank));
        if !complete && !line_drawn {
            line_drawn = true;
            let fields = ["", "below: not in every cell", "", "", "", "", ""];
            lines.push(Tone::Aside, fields.map(str::to_owned).to_vec());
        }
        let tone = match (complete, rank.tier) {
            (false, _) => Tone::Aside,
            (true, 1) => Tone::Leading,
            (true, _) => Tone::Usual,
        };
        let failed = failures(estimates, &ranking.group, &rank.implementation);
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
                if telling {
                    format!("{}{}", rank.at_least(), number::ratio(rank.ratio))
                } else {
                    "–".to_owned()
                },
                if telling {
                    number::ratio_interval(rank.lo, rank.hi)
                } else {
                    "too few cells".to_owned()
                },
                format!("{}/{}", rank.cells, ranking.cells),
                if failed > 0 {
                    format!("{failed} failed")
                } else if !telling {
                    String::new()
                } else {
                    bar(rank.ratio, bar_width)
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
                format!("{count} failed"),
            ],
        );
    }
    lines.write(style, width, &mut out);
    let references = references(estimates, &ranking.group);
    if !references.is_empty() {
        let line = format!(
            "       for reference, in no ranking: {}",
            references.join(", ")
        );
        let _ = writeln!(out, "{}", style.paint(Tone::Aside, &cut(&line, width)));
    }
    out
}

/// Cells of an implementation in a group that have a failure instead of a number.
fn failures(estimates: &Estimates, group: &str, implementation: &str) -> usize {
    estimates
        .cells
        .iter()
        .filter(|c| c.group == group && c.implementation == implementation)
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

/// Implementations of a group whose every cell failed, with how many those are.
pub(crate) fn without_number<'a>(
    estimates: &'a Estimates,
    ranking: &Ranking,
) -> Vec<(&'a str, usize)> {
    let mut names: Vec<&str> = estimates
        .cells
        .iter()
        .filter(|c| c.group == ranking.group && !c.reference && c.measured().is_none())
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
