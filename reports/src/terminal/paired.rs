//! How two builds differ, for a terminal and for the summary of a build server.

use std::fmt::Write;

use super::{Lines, Style, Tone, cut, longest_name};
use crate::number;
use crate::statistics::{Call, Pair, Paired};

/// All pairs, the slower ones first, and a sentence that counts them. `width` is in columns.
pub fn paired_table(paired: &Paired, width: usize, style: Style) -> String {
    let shown = in_order(paired);
    let mut out = String::new();
    if !shown.is_empty() {
        let scenarios = longest_name(shown.iter().map(|p| &*p.scenario), 30);
        let names = longest_name(shown.iter().map(|p| &*p.implementation), 24);
        let mut lines = Lines::new(
            &[
                "scenario",
                "implementation",
                "change",
                "95 % interval",
                "verdict",
            ],
            &[false, false, true, false, false],
        );
        for pair in shown {
            let tone = match pair.verdict {
                Call::Slower | Call::Lost => Tone::Failed,
                Call::Faster => Tone::Leading,
                Call::Level | Call::Gained => Tone::Usual,
                Call::Undecided | Call::NoNumber => Tone::Aside,
            };
            let told = Told::of(pair);
            let fields = [
                cut(&pair.scenario, scenarios),
                cut(&pair.implementation, names),
                told.change,
                told.interval,
                told.verdict,
            ];
            lines.push(tone, fields.to_vec());
        }
        lines.write(style, width, &mut out);
        out.push('\n');
    }
    let sentence = style.paint(Tone::Heading, &paired_sentence(paired));
    let _ = writeln!(out, "{sentence}");
    out
}

/// The same as a table in Markdown, below the sentence. Cells without a difference are only counted.
pub fn paired_markdown(paired: &Paired) -> String {
    let mut out = format!("{}\n", paired_sentence(paired));
    for line in given_up(paired) {
        let _ = writeln!(out, "\n{line}");
    }
    let mut shown = in_order(paired);
    shown.retain(|pair| pair.verdict != Call::Level);
    if shown.is_empty() {
        return out;
    }
    out.push_str("\n| scenario | implementation | change | 95 % interval | verdict |\n");
    out.push_str("| --- | --- | ---: | --- | --- |\n");
    for pair in shown {
        let told = Told::of(pair);
        let verdict = told.verdict.replace(['|', '\n'], " ");
        let _ = writeln!(
            out,
            "| {} | `{}` | {} | {} | {verdict} |",
            pair.scenario, pair.implementation, told.change, told.interval
        );
    }
    out
}

/// What the base build does not promise, and which crates do not either: a sentence or two for each promise.
pub fn given_up(paired: &Paired) -> Vec<String> {
    let told = paired.without.iter().map(|it| {
        let crates = match it.crates.is_empty() {
            true => String::new(),
            false => format!(" Crates registered without it: {}.", it.crates.join(", ")),
        };
        format!(
            "The base build gives up {}: {}.{crates}",
            it.promise, it.says
        )
    });
    told.collect()
}

/// Worst first.
pub(crate) fn in_order(paired: &Paired) -> Vec<&Pair> {
    let mut pairs: Vec<&Pair> = paired.pairs.iter().collect();
    let ratio = |pair: &Pair| pair.ratio.unwrap_or(1.0);
    pairs.sort_by(|a, b| {
        let by_ratio = || ratio(a).total_cmp(&ratio(b));
        a.verdict.cmp(&b.verdict).then_with(by_ratio)
    });
    pairs
}

/// The summary of all pairs.
pub(crate) fn paired_sentence(paired: &Paired) -> String {
    let beyond = format!(
        "without a difference beyond {}",
        number::percent(paired.threshold)
    );
    let counted = [
        (Call::Slower, "slower"),
        (Call::Lost, "lost their number"),
        (Call::Faster, "faster"),
        (Call::Gained, "without a number in the base build"),
        (Call::Level, &beyond),
        (Call::Undecided, "undecided"),
        (Call::NoNumber, "without a number in both builds"),
    ];
    let counted: Vec<String> = counted
        .into_iter()
        .map(|(call, said)| (paired.count(call), said, call))
        // That nothing is slower is a result.
        .filter(|&(count, _, call)| count > 0 || call == Call::Slower)
        .map(|(count, said, _)| format!("{count} {said}"))
        .collect();
    let counted = match paired.pairs.len() {
        0 => "No cell was measured in two builds.".to_owned(),
        1 => format!("1 cell: {}.", counted.join(", ")),
        n => format!("{n} cells: {}.", counted.join(", ")),
    };
    match paired.dropped {
        0 => counted,
        1 => format!("{counted} 1 scenario was dropped for lack of time."),
        n => format!("{counted} {n} scenarios were dropped for lack of time."),
    }
}

/// The columns of a pair.
pub(crate) struct Told {
    /// Positive is better.
    pub(crate) change: String,
    pub(crate) interval: String,
    pub(crate) verdict: String,
}

impl Told {
    pub(crate) fn of(pair: &Pair) -> Told {
        Told {
            change: change(pair),
            interval: interval(pair),
            verdict: said(pair),
        }
    }
}

fn change(pair: &Pair) -> String {
    pair.ratio.map_or_else(String::new, |ratio| {
        let percent = percent(ratio);
        format!("{percent} %")
    })
}

fn interval(pair: &Pair) -> String {
    let ends = pair.ratio_lo.zip(pair.ratio_hi);
    ends.map_or_else(String::new, |(lo, hi)| {
        format!("{} to {} %", percent(lo), percent(hi))
    })
}

fn percent(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match percent.abs() >= 99.95 {
        true => format!("{percent:+.0}"),
        false => format!("{percent:+.1}"),
    }
}

fn said(pair: &Pair) -> String {
    let verdict = match pair.verdict {
        Call::Slower => "slower".to_owned(),
        Call::Faster => "faster".to_owned(),
        Call::Level => "no difference".to_owned(),
        Call::Undecided => "undecided".to_owned(),
        Call::Lost => "lost".to_owned(),
        Call::Gained => "new".to_owned(),
        Call::NoNumber => "no number".to_owned(),
    };
    match &pair.why {
        Some(why) => format!("{verdict}: {why}"),
        None => verdict,
    }
}
