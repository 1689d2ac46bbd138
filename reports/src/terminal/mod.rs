//! The same in short, for a terminal: one line for each row, within the requested width.

mod cmp;
mod diff;
mod layouts;
mod paired;
mod rank;

use std::fmt::Write;

use comfy_table::{Cell as Field, CellAlignment, Table, presets};
use flowmeter_harness::caps::Origin;

use crate::checked::SELF_CHECKED;
use crate::statistics::{Estimates, UNOPTIMISED};

pub use cmp::cmp_table;
pub use diff::diff_table;
pub use layouts::layouts_table;
pub(crate) use paired::{Told, in_order, paired_sentence};
pub use paired::{given_up, paired_markdown, paired_table};
pub use rank::rank_table;
pub(crate) use rank::{references, without_number};

/// The default width of tables, in columns.
pub const DEFAULT_WIDTH: usize = 100;

/// Whether to colour. The caller knows whether it writes to a terminal, and about `NO_COLOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    Plain,
    /// With ANSI colours.
    Colour,
}

/// The role of a line, for its colour.
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

/// Cuts text to so many columns, with an ellipsis for the lost part. Control characters, which could move the cursor,
/// are replaced.
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

/// Tables one below the other, between the warnings and the explanations of some of their words.
fn between_notes(
    estimates: &Estimates,
    mut tables: Vec<String>,
    mut origins: impl Iterator<Item = Origin>,
    width: usize,
    style: Style,
) -> String {
    let note = |tone: Tone, text: &str| style.paint(tone, &cut(text, width)) + "\n";
    if estimates.unoptimised {
        tables.insert(0, note(Tone::Failed, UNOPTIMISED));
    }
    let health = estimates.health();
    match health.is_sound() {
        true => tables.push(note(Tone::Aside, &format!("health: {}", health.sentence()))),
        false => tables.insert(0, note(Tone::Failed, &health.sentence())),
    }
    if origins.any(|origin| origin == Origin::Foreign) {
        tables.push(note(Tone::Aside, &format!("foreign: {SELF_CHECKED}")));
    }
    tables.join("\n")
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
