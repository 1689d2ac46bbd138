//! How far layouts move each cell.

use std::fmt::Write;

use super::{Lines, Style, Tone, cut, longest_name};
use crate::number;
use crate::statistics::Moved;

/// All cells, those moved furthest first, and a sentence. Empty without cells. `width` is in columns.
pub fn layouts_table(moved: &[Moved], width: usize, style: Style) -> String {
    let mut out = String::new();
    let Some(furthest) = moved.first() else {
        return out;
    };
    let scenarios = longest_name(moved.iter().map(|it| &*it.scenario), 30);
    let names = longest_name(moved.iter().map(|it| &*it.implementation), 24);
    let headings = [
        "scenario",
        "implementation",
        "layouts differ by",
        "forks of a layout differ by",
    ];
    let mut lines = Lines::new(&headings, &[false, false, true, true]);
    for cell in moved {
        let within = cell.within.map_or_else(String::new, number::percent);
        let fields = [
            cut(&cell.scenario, scenarios),
            cut(&cell.implementation, names),
            number::percent(cell.between),
            within,
        ];
        lines.push(Tone::Usual, fields.to_vec());
    }
    lines.write(style, width, &mut out);
    let sentence = format!(
        "{} layouts of one build differ by up to {}.",
        furthest.layouts,
        number::percent(furthest.between)
    );
    let _ = writeln!(out, "\n{}", style.paint(Tone::Heading, &sentence));
    out
}
