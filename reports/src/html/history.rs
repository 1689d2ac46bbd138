//! Changes from run to run on one machine.

use flowmeter_records::RunData;

use super::Source;
use crate::number;
use crate::statistics::{Change, Diff, Verdict};

/// The runs of a machine, in order.
pub struct History {
    /// The machine; empty if it is the only one.
    pub name: String,
    pub steps: Vec<Leap>,
}

/// From a run to the next one.
pub struct Leap {
    pub from: String,
    pub to: String,
    /// How many cells changed in which way, or why none is judged.
    pub summary: String,
    /// The cells that changed.
    pub rows: Vec<Row>,
    /// The command that prints it in a terminal.
    pub command: String,
}

/// A cell that changed.
pub struct Row {
    pub scenario: String,
    pub implementation: String,
    pub base: String,
    pub new: String,
    pub ratio: String,
    pub interval: String,
    pub drift: String,
    /// For its colour.
    pub kind: &'static str,
    pub verdict: &'static str,
    pub why: String,
    /// The sort key: the ratio.
    pub sort: String,
}

/// The history of a machine with two runs or more.
pub fn of(source: &Source) -> Option<History> {
    let steps: Vec<Leap> = source
        .steps
        .iter()
        .map(|step| {
            let (base, new) = (&source.all[step.base], &source.all[step.base + 1]);
            let (summary, rows) = match &step.diff {
                Ok(diff) => (summary(diff), changed(diff)),
                Err(why) => (format!("Nothing is said: {why}."), Vec::new()),
            };
            Leap {
                from: run(base),
                to: run(new),
                summary,
                rows,
                command: format!("cargo flowmeter diff {} {}", quoted(base), quoted(new)),
            }
        })
        .collect();
    (!steps.is_empty()).then(|| History {
        name: source.name.clone(),
        steps,
    })
}

fn quoted(run: &RunData) -> String {
    super::reproduce::shell_quoted(&run.folder.display().to_string())
}

/// When the run started, and its build.
fn run(run: &RunData) -> String {
    let commit: String = run.run.commit.chars().take(12).collect();
    let dirty = match run.run.commit.ends_with("-dirty") && !commit.ends_with("-dirty") {
        true => "-dirty",
        false => "",
    };
    format!("{} ({commit}{dirty})", run.run.started)
}

fn summary(diff: &Diff) -> String {
    if let Some(why) = &diff.unjudged {
        return format!("Nothing is called a change: {why}.");
    }
    let said = [
        (Verdict::Regression, "slower"),
        (Verdict::Improvement, "faster"),
        (Verdict::Lost, "without a number now"),
        (Verdict::Gained, "with a number now"),
        (Verdict::Level, "not told apart"),
        (Verdict::Unjudged, "not judged"),
        (Verdict::OnlyBase, "gone"),
        (Verdict::OnlyNew, "new"),
    ];
    let said = said
        .into_iter()
        .map(|(verdict, word)| (diff.count(verdict), word));
    let said: Vec<String> = said
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match said.is_empty() {
        true => "No cell has a number in either.".to_owned(),
        false => format!("Of {} cells: {}.", diff.changes.len(), said.join(", ")),
    }
}

/// The cells called a change, and those that lost or gained a number.
fn changed(diff: &Diff) -> Vec<Row> {
    let word = |change: &Change| match change.verdict {
        Verdict::Regression => Some(("fail", "slower")),
        Verdict::Lost => Some(("fail", "lost its number")),
        Verdict::Improvement => Some(("pass", "faster")),
        Verdict::Gained => Some(("pass", "has a number now")),
        Verdict::Level | Verdict::Unjudged | Verdict::OnlyBase | Verdict::OnlyNew => None,
    };
    let changes = diff.changes.iter();
    let rows = changes.filter_map(|change| {
        let (kind, verdict) = word(change)?;
        let value = |of: Option<f64>| {
            of.map_or("–".to_owned(), |v| {
                number::value_with_unit(v, &change.unit)
            })
        };
        let ratio = |of: Option<f64>| of.map_or(String::new(), number::ratio);
        Some(Row {
            scenario: change.scenario.clone(),
            implementation: change.implementation.clone(),
            base: value(change.base),
            new: value(change.new),
            ratio: ratio(change.ratio),
            interval: match (change.ratio_lo, change.ratio_hi) {
                (Some(lo), Some(hi)) => number::ratio_interval(lo, hi),
                _ => String::new(),
            },
            drift: ratio(change.drift),
            kind,
            verdict,
            why: change.why.clone().unwrap_or_default(),
            sort: change.ratio.map_or(String::new(), |r| format!("{r:.4}")),
        })
    });
    rows.collect()
}
