//! Implementations side by side, a table for each scenario.

use std::fmt::Write;

use flowmeter_records::Better;

use super::{Lines, Style, Tone, between_notes, cut, longest_name};
use crate::number;
use crate::statistics::{Cell, Estimates, Measured, Standing};

/// Every cell, a table for each scenario, best first; unproved ones and references last. `width` is in columns; below
/// 80 the interval of the median is left out.
pub fn cmp_table(estimates: &Estimates, width: usize, style: Style) -> String {
    let scenarios = estimates.cells.chunk_by(|a, b| a.scenario == b.scenario);
    let tables = scenarios.map(|cells| one_scenario(estimates, cells, width, style));
    let mut tables: Vec<String> = tables.collect();
    if tables.is_empty() {
        tables.push("No cell was measured.\n".to_owned());
    }
    let measured = estimates.cells.iter().filter(|c| c.measured().is_some());
    let origins = measured.map(|cell| cell.origin);
    between_notes(estimates, tables, origins, width, style)
}

fn one_scenario(estimates: &Estimates, cells: &[Cell], width: usize, style: Style) -> String {
    let mut out = String::new();
    let scenario = &cells[0];
    let noise = match estimates.placebo(&scenario.scenario) {
        Some(placebo) => format!("placebo {}", placebo.range()),
        None => "no placebo".to_owned(),
    };
    let direction = match scenario.better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    };
    let title = format!(
        "{}  {}, {direction}, {noise}",
        scenario.scenario,
        number::axis_name(&scenario.unit)
    );
    let _ = writeln!(out, "{}", style.paint(Tone::Heading, &cut(&title, width)));
    let wide = width >= 80;
    let names = longest_name(
        cells.iter().map(|c| &*c.implementation),
        if wide { 24 } else { 18 },
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
            &["implementation", "median", "ratio", "95 % interval", ""],
            &[false, true, true, false, false],
        )
    };
    let mut measured: Vec<(&Cell, &Measured)> = cells
        .iter()
        .filter_map(|c| Some((c, c.measured()?)))
        .collect();
    measured.sort_by(|a, b| {
        let place = |cell: &Cell| (cell.reference, cell.unproved.is_some());
        let by_ratio = || b.1.ratio.total_cmp(&a.1.ratio);
        place(a.0).cmp(&place(b.0)).then_with(by_ratio)
    });
    for (cell, m) in measured {
        let tone = match m.standing {
            _ if !cell.competes() => Tone::Aside,
            Standing::Best => Tone::Leading,
            _ => Tone::Usual,
        };
        let name = cut(&cell.implementation, names);
        let median = format!("{}{}", m.bound(), number::value(m.median, &cell.unit));
        let ratio = number::ratio(m.ratio);
        let ratio_interval = number::ratio_interval(m.ratio_lo, m.ratio_hi);
        lines.push(
            tone,
            if wide {
                let said = match &cell.unproved {
                    Some(why) => format!("unproved: {why}"),
                    None => cell.word(estimates.exploratory).to_owned(),
                };
                vec![
                    name,
                    cell.origin.to_string(),
                    median,
                    number::interval(m.lo, m.hi, &cell.unit),
                    ratio,
                    ratio_interval,
                    said,
                ]
            } else {
                let word = cell.word(estimates.exploratory).to_owned();
                vec![name, median, ratio, ratio_interval, word]
            },
        );
    }
    lines.write(style, width, &mut out);
    for cell in cells {
        if let Some(error) = cell.error() {
            let name = cut(&cell.implementation, names.max(14));
            let line = cut(&format!(" {name:names$}  no number: {error}"), width);
            let _ = writeln!(out, "{}", style.paint(Tone::Failed, &line));
        }
    }
    out
}
