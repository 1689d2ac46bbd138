//! The cells of a run for other tools: spreadsheets, and services that keep the history of a benchmark.

use std::collections::BTreeMap;

use flowmeter_records::Better;
use serde::Serialize;

use crate::rows::{CellRow, cmp_rows};
use crate::statistics::{Estimates, Standing};

const COLUMNS: [&str; 15] = [
    "scenario",
    "implementation",
    "origin",
    "median",
    "lo",
    "hi",
    "unit",
    "better",
    "ratio_to_best",
    "ratio_lo",
    "ratio_hi",
    "at_most",
    "reference",
    "unproved",
    "error",
];

/// A text that no spreadsheet takes for a formula. A text that begins like a formula gets an apostrophe in front, which
/// marks it as text.
///
/// Source: OWASP, "CSV Injection".
fn text(text: String) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text,
    }
}

/// Every cell as a line of comma-separated values below a line of names, those of `cmp --format json`. A cell without a
/// number has empty fields and its `error`. A text that a spreadsheet would take for a formula has an apostrophe before
/// it.
pub fn csv(estimates: &Estimates) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut line = |fields: [String; 15]| {
        writer.write_record(fields).expect("memory takes all of it");
    };
    line(COLUMNS.map(str::to_owned));
    for row in cmp_rows(estimates) {
        let cell = row.cell;
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        line([
            text(cell.scenario),
            text(cell.implementation),
            row.origin.to_string(),
            number(cell.median),
            number(cell.lo),
            number(cell.hi),
            text(cell.unit),
            match cell.better {
                Better::Higher => "higher",
                Better::Lower => "lower",
            }
            .to_owned(),
            number(cell.ratio_to_best),
            number(row.ratio_lo),
            number(row.ratio_hi),
            cell.at_most.to_string(),
            row.reference.to_string(),
            text(cell.unproved.unwrap_or_default()),
            text(cell.error.unwrap_or_default()),
        ]);
    }
    let bytes = writer.into_inner().expect("memory takes all of it");
    String::from_utf8(bytes).expect("it was made of text")
}

/// The cells with a number as github-action-benchmark reads them: `customBiggerIsBetter` or `customSmallerIsBetter`.
/// Only cells with the direction `better`, since one file has one direction.
///
/// Source: the action's README, "Examples of custom benchmarks".
pub fn github_action_benchmark(estimates: &Estimates, better: Better) -> String {
    #[derive(Serialize)]
    struct Entry {
        name: String,
        unit: String,
        value: f64,
        range: String,
    }
    let entries: Vec<Entry> = numbers(estimates)
        .filter(|(cell, ..)| cell.better == better)
        .map(|(cell, median, lo, hi)| Entry {
            name: format!("{}/{}", cell.scenario, cell.implementation),
            unit: cell.unit,
            value: median,
            range: format!("{lo} to {hi}"),
        })
        .collect();
    pretty(&entries)
}

/// Bencher's metric format: a benchmark for each cell with a number. The measure is its unit; nanoseconds are Bencher's
/// own `latency`.
///
/// Source: Bencher's reference, "Bencher Metric Format (BMF)".
pub fn bencher(estimates: &Estimates) -> String {
    #[derive(Serialize)]
    struct Metric {
        value: f64,
        lower_value: f64,
        upper_value: f64,
    }
    let benchmarks: BTreeMap<String, BTreeMap<String, Metric>> = numbers(estimates)
        .map(|(cell, value, lower_value, upper_value)| {
            let measure = match &*cell.unit {
                "ns" => "latency".to_owned(),
                _ => cell.unit,
            };
            let metric = Metric {
                value,
                lower_value,
                upper_value,
            };
            let name = format!("{}/{}", cell.scenario, cell.implementation);
            (name, BTreeMap::from([(measure, metric)]))
        })
        .collect();
    pretty(&benchmarks)
}

/// Cells with a proved number that is no bound and was not had at a load of its own: the median and its interval.
fn numbers(estimates: &Estimates) -> impl Iterator<Item = (CellRow, f64, f64, f64)> {
    let rows = cmp_rows(estimates).into_iter();
    let rows = rows.filter(|row| row.verdict != Some(Standing::OwnLoad));
    let cells = rows.map(|row| row.cell);
    let cells = cells.filter(|cell| !cell.at_most && cell.unproved.is_none());
    cells.filter_map(|cell| {
        let (median, lo, hi) = (cell.median?, cell.lo?, cell.hi?);
        Some((cell, median, lo, hi))
    })
}

fn pretty(of: &impl Serialize) -> String {
    // Plain data with string keys: serialising cannot fail.
    serde_json::to_string_pretty(of).expect("it is plain data")
}
