//! The same in short, for a terminal: one line a row, nothing wider than asked for.

use std::fmt::Write;

use comfy_table::{Cell as Field, CellAlignment, Table, presets};
use flowmeter_harness::caps::Origin;
use flowmeter_harness::record::Better;

use crate::checked::SELF_CHECKED;
use crate::number;
use crate::statistics::{
    Cell, Change, Diff, Estimates, Measured, Ranking, Standing, Verdict, View,
};

/// Width that tables fit when nothing else is known, columns.
pub const DEFAULT_WIDTH: usize = 100;

/// Whether to colour. The caller knows whether it writes to a terminal, and about `NO_COLOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// With ANSI colours.
    Colour,
}

/// What a line is, for its colour.
#[derive(Clone, Copy)]
enum Tone {
    Heading,
    Leading,
    Usual,
    Aside,
    Failed,
}

impl Style {
    fn paint(self, tone: Tone, line: &str) -> String {
        let code = match (self, tone) {
            (Style::Plain, _) | (_, Tone::Usual) => return line.to_owned(),
            (_, Tone::Heading) => "1",
            (_, Tone::Leading) => "32",
            (_, Tone::Aside) => "2",
            (_, Tone::Failed) => "31",
        };
        format!("\x1b[{code}m{line}\x1b[0m")
    }
}

/// Cuts text to so many columns, with an ellipsis where something is lost. Control characters, which
/// could move the cursor, become a replacement character.
fn cut(text: &str, width: usize) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    if text.chars().count() <= width {
        return text.chars().map(clean).collect();
    }
    let kept = text.chars().take(width.saturating_sub(1)).map(clean);
    kept.chain(['…']).collect()
}

/// A table of left- and right-aligned columns without borders, one line a row.
struct Lines {
    table: Table,
    tones: Vec<Tone>,
    right: &'static [bool],
}

impl Lines {
    fn new(header: &[&str], right: &'static [bool]) -> Lines {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let mut lines = Lines {
            table,
            tones: Vec::new(),
            right,
        };
        lines.push(
            Tone::Aside,
            header.iter().map(|h| (*h).to_owned()).collect(),
        );
        lines
    }

    fn push(&mut self, tone: Tone, fields: Vec<String>) {
        let fields = fields.into_iter().zip(self.right).map(|(text, &right)| {
            Field::new(text).set_alignment(if right {
                CellAlignment::Right
            } else {
                CellAlignment::Left
            })
        });
        self.table.add_row(fields.collect::<Vec<_>>());
        self.tones.push(tone);
    }

    fn write(&self, style: Style, width: usize, out: &mut String) {
        for (line, &tone) in self.table.lines().zip(&self.tones) {
            let line = cut(line.trim_end(), width);
            let _ = writeln!(out, "{}", style.paint(tone, &line));
        }
    }
}

fn longest_name<'a>(names: impl Iterator<Item = &'a str>, most: usize) -> usize {
    names
        .map(|n| n.chars().count())
        .max()
        .unwrap_or(0)
        .min(most)
}

/// A bar of eighths, `width` columns at ratio 1.
fn bar(ratio: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (ratio.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// The ranking of every group over all its cells. `width` is in columns.
pub fn rank_table(estimates: &Estimates, width: usize, style: Style) -> String {
    let mut out = String::new();
    for ranking in estimates.rankings.iter().filter(|r| r.view == View::All) {
        if !out.is_empty() {
            out.push('\n');
        }
        one_ranking(estimates, ranking, width, style, &mut out);
    }
    if out.is_empty() {
        out.push_str("No cell has a number.\n");
    }
    let all = estimates.rankings.iter().flat_map(|ranking| &ranking.ranks);
    self_checked(all.map(|rank| rank.origin), width, style, &mut out);
    out
}

/// What stands for the numbers of those in other languages, where there are some.
fn self_checked(
    mut origins: impl Iterator<Item = Origin>,
    width: usize,
    style: Style,
    out: &mut String,
) {
    if origins.any(|origin| origin == Origin::Foreign) {
        let line = cut(&format!("foreign: {SELF_CHECKED}"), width);
        let _ = writeln!(out, "\n{}", style.paint(Tone::Aside, &line));
    }
}

fn one_ranking(
    estimates: &Estimates,
    ranking: &Ranking,
    width: usize,
    style: Style,
    out: &mut String,
) {
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
    lines.write(style, width, out);
    let references = references(estimates, &ranking.group);
    if !references.is_empty() {
        let line = format!(
            "       for reference, in no ranking: {}",
            references.join(", ")
        );
        let _ = writeln!(out, "{}", style.paint(Tone::Aside, &cut(&line, width)));
    }
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

/// A table of texts, one line a row.
pub(crate) fn plain_table(
    header: [&str; 5],
    rows: impl Iterator<Item = [String; 5]>,
    width: usize,
) -> String {
    let mut lines = Lines::new(&header, &[false; 5]);
    rows.for_each(|row| lines.push(Tone::Usual, row.into()));
    let mut out = String::new();
    lines.write(Style::Plain, width, &mut out);
    out
}

/// Every cell, a table for each scenario, best first. `width` is in columns; below 80 the interval of
/// the median is left out.
pub fn cmp_table(estimates: &Estimates, width: usize, style: Style) -> String {
    let mut out = String::new();
    for cells in estimates.cells.chunk_by(|a, b| a.scenario == b.scenario) {
        if !out.is_empty() {
            out.push('\n');
        }
        one_scenario(estimates, cells, width, style, &mut out);
    }
    if out.is_empty() {
        out.push_str("No cell was measured.\n");
    }
    let measured = estimates.cells.iter().filter(|c| c.measured().is_some());
    self_checked(measured.map(|cell| cell.origin), width, style, &mut out);
    out
}

fn one_scenario(
    estimates: &Estimates,
    cells: &[Cell],
    width: usize,
    style: Style,
    out: &mut String,
) {
    let scenario = &cells[0];
    let noise = match estimates.placebo(&scenario.scenario) {
        Some(placebo) => format!("placebo ±{}", number::percent(placebo.half_width)),
        None => "no placebo".to_owned(),
    };
    let direction = match scenario.better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    };
    let title = format!(
        "{}  {}, {direction}, {noise}",
        scenario.scenario, scenario.unit
    );
    let _ = writeln!(out, "{}", style.paint(Tone::Heading, &cut(&title, width)));
    let wide = width >= 80;
    let names = longest_name(
        cells.iter().map(|c| &*c.implementation),
        if wide { 28 } else { 18 },
    );
    let mut lines = if wide {
        Lines::new(
            &[
                "implementation",
                "origin",
                "median",
                "95 % interval",
                "ratio",
                "95 % interval",
                "",
            ],
            &[false, false, true, false, true, false, false],
        )
    } else {
        Lines::new(
            &["implementation", "median", "ratio", "95 % interval"],
            &[false, true, true, false],
        )
    };
    let mut measured: Vec<(&Cell, &Measured)> = cells
        .iter()
        .filter_map(|c| Some((c, c.measured()?)))
        .collect();
    measured.sort_by(|a, b| {
        let by_ratio = || b.1.ratio.total_cmp(&a.1.ratio);
        a.0.reference.cmp(&b.0.reference).then_with(by_ratio)
    });
    for (cell, m) in measured {
        let tone = match m.standing {
            Standing::Best => Tone::Leading,
            Standing::Slower | Standing::Level | Standing::AtMost => Tone::Usual,
            Standing::Reference => Tone::Aside,
        };
        let name = cut(&cell.implementation, names);
        let median = format!("{}{}", m.bound(), number::value(m.median, &cell.unit));
        let ratio = number::ratio(m.ratio);
        let ratio_interval = number::ratio_interval(m.ratio_lo, m.ratio_hi);
        lines.push(
            tone,
            if wide {
                let said = match m.standing {
                    Standing::Best => "best",
                    Standing::Slower => "slower",
                    Standing::AtMost => "by generator",
                    Standing::Reference => "reference",
                    Standing::Level if estimates.exploratory => "",
                    Standing::Level => "not told apart",
                };
                vec![
                    name,
                    cell.origin.to_string(),
                    median,
                    number::interval(m.lo, m.hi, &cell.unit),
                    ratio,
                    ratio_interval,
                    said.to_owned(),
                ]
            } else {
                vec![name, median, ratio, ratio_interval]
            },
        );
    }
    lines.write(style, width, out);
    for cell in cells {
        if let Some(error) = cell.error() {
            let name = cut(&cell.implementation, names.max(14));
            let line = cut(&format!(" {name:names$}  no number: {error}"), width);
            let _ = writeln!(out, "{}", style.paint(Tone::Failed, &line));
        }
    }
}

/// What changed between two runs, worst first, and a line that counts all cells. With `all` those that did not change
/// as well. `width` is in columns.
pub fn diff_table(diff: &Diff, all: bool, width: usize, style: Style) -> String {
    let mut out = String::new();
    let mut shown: Vec<&Change> = diff.changes.iter().collect();
    if !all {
        shown.retain(|change| !matches!(change.verdict, Verdict::Level | Verdict::Unjudged));
    }
    // Worst first, and one-sided cells after all comparisons.
    shown.sort_by(|a, b| {
        let place = |change: &Change| match change.verdict {
            Verdict::Lost => 0,
            Verdict::Regression | Verdict::Level | Verdict::Unjudged | Verdict::Improvement => 1,
            Verdict::Gained | Verdict::OnlyBase | Verdict::OnlyNew => 2,
        };
        let ratio = |change: &Change| change.ratio.unwrap_or(1.0);
        let by_ratio = || ratio(a).total_cmp(&ratio(b));
        place(a).cmp(&place(b)).then_with(by_ratio)
    });
    if !shown.is_empty() {
        let scenarios = longest_name(shown.iter().map(|c| &*c.scenario), 30);
        let names = longest_name(shown.iter().map(|c| &*c.implementation), 20);
        let mut lines = Lines::new(
            &[
                "scenario",
                "implementation",
                "base",
                "new",
                "ratio",
                "95 % interval",
                "",
            ],
            &[false, false, true, true, true, false, false],
        );
        for change in shown {
            let tone = match change.verdict {
                Verdict::Regression | Verdict::Lost => Tone::Failed,
                Verdict::Improvement => Tone::Leading,
                Verdict::Level | Verdict::Gained => Tone::Usual,
                Verdict::Unjudged | Verdict::OnlyBase | Verdict::OnlyNew => Tone::Aside,
            };
            let number = |value: Option<f64>| match value {
                Some(value) => number::value(value, &change.unit),
                None => "–".to_owned(),
            };
            let interval = change.ratio_lo.zip(change.ratio_hi);
            let fields = [
                cut(&change.scenario, scenarios),
                cut(&change.implementation, names),
                number(change.base),
                number(change.new),
                change.ratio.map_or_else(String::new, number::ratio),
                interval.map_or_else(String::new, |(lo, hi)| number::ratio_interval(lo, hi)),
                said(change),
            ];
            lines.push(tone, fields.to_vec());
        }
        lines.write(style, width, &mut out);
        out.push('\n');
    }
    let counted = [
        (Verdict::Regression, "regressed"),
        (Verdict::Lost, "lost their number"),
        (Verdict::Improvement, "improved"),
        (Verdict::Gained, "gained a number"),
        (Verdict::Level, "not told apart"),
        (Verdict::Unjudged, "not judged"),
        (Verdict::OnlyBase, "only in the first run"),
        (Verdict::OnlyNew, "only in the second run"),
    ];
    let counted: Vec<String> = counted
        .into_iter()
        .map(|(verdict, said)| (diff.count(verdict), said))
        .filter(|&(count, _)| count > 0)
        .map(|(count, said)| format!("{count} {said}"))
        .collect();
    let cells = match diff.changes.len() {
        0 => "No cell has a number in either run.".to_owned(),
        1 => format!("1 cell: {}.", counted.join(", ")),
        n => format!("{n} cells: {}.", counted.join(", ")),
    };
    let _ = writeln!(out, "{}", style.paint(Tone::Heading, &cut(&cells, width)));
    if let Some(why) = &diff.unjudged {
        let line = format!("No change is called one: {why}.");
        let _ = writeln!(out, "{}", style.paint(Tone::Aside, &line));
    }
    out
}

fn said(change: &Change) -> String {
    match change.verdict {
        Verdict::Regression => "regression".to_owned(),
        Verdict::Improvement => "improvement".to_owned(),
        Verdict::Level => String::new(),
        Verdict::Unjudged => "not judged".to_owned(),
        Verdict::Lost => match &change.why {
            Some(why) => format!("lost: {why}"),
            None => "lost".to_owned(),
        },
        Verdict::Gained => "gained".to_owned(),
        Verdict::OnlyBase => "only before".to_owned(),
        Verdict::OnlyNew => "only now".to_owned(),
    }
}
