//! What changed between two runs.

use std::fmt::Write;

use super::{Lines, Style, Tone, cut, longest_name};
use crate::number;
use crate::statistics::{Change, Diff, Verdict};

/// The changes between two runs, worst first, and a line that counts all cells. With `all` also the cells that did
/// not change. `width` is in columns.
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
