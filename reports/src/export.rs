//! The cells of a run for other tools: spreadsheets, and services that keep the history of a benchmark.

use std::collections::BTreeMap;

use flowmeter_harness::record::Better;
use serde::Serialize;

use crate::rows::{CmpRow, cmp_rows};
use crate::statistics::Estimates;

/// Every cell as a line of comma-separated values below a line of names, those of [`CmpRow`]; a cell without a number
/// has empty fields and its `error`.
pub fn csv(estimates: &Estimates) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        scenario: &'a str,
        implementation: &'a str,
        origin: String,
        median: Option<f64>,
        lo: Option<f64>,
        hi: Option<f64>,
        unit: &'a str,
        better: Better,
        ratio_to_best: Option<f64>,
        ratio_lo: Option<f64>,
        ratio_hi: Option<f64>,
        at_most: bool,
        reference: bool,
        error: Option<&'a str>,
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in &cmp_rows(estimates) {
        let line = Line {
            scenario: &row.scenario,
            implementation: &row.implementation,
            origin: row.origin.to_string(),
            median: row.median,
            lo: row.lo,
            hi: row.hi,
            unit: &row.unit,
            better: row.better,
            ratio_to_best: row.ratio_to_best,
            ratio_lo: row.ratio_lo,
            ratio_hi: row.ratio_hi,
            at_most: row.at_most,
            reference: row.reference,
            error: row.error.as_deref(),
        };
        writer.serialize(line).expect("memory takes all of it");
    }
    let bytes = writer.into_inner().expect("memory takes all of it");
    String::from_utf8(bytes).expect("it was made of text")
}

/// What github-action-benchmark reads as `customBiggerIsBetter` or `customSmallerIsBetter`: the cells with a number
/// whose values point that way, since a file of it points one way.
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
        .filter(|(row, ..)| row.better == better)
        .map(|(row, median, lo, hi)| Entry {
            name: format!("{}/{}", row.scenario, row.implementation),
            unit: row.unit,
            value: median,
            range: format!("{lo} to {hi}"),
        })
        .collect();
    pretty(&entries)
}

/// Bencher's metric format: a benchmark for each cell with a number, whose measure is `throughput` where more is better
/// and `latency` where less is, both of them Bencher's own.
///
/// Source: Bencher's reference, "Bencher Metric Format (BMF)".
pub fn bencher(estimates: &Estimates) -> String {
    #[derive(Serialize)]
    struct Metric {
        value: f64,
        lower_value: f64,
        upper_value: f64,
    }
    let benchmarks: BTreeMap<String, BTreeMap<&str, Metric>> = numbers(estimates)
        .map(|(row, value, lower_value, upper_value)| {
            let measure = match row.better {
                Better::Higher => "throughput",
                Better::Lower => "latency",
            };
            let metric = Metric {
                value,
                lower_value,
                upper_value,
            };
            let name = format!("{}/{}", row.scenario, row.implementation);
            (name, BTreeMap::from([(measure, metric)]))
        })
        .collect();
    pretty(&benchmarks)
}

/// Cells with a number: the median and its interval.
fn numbers(estimates: &Estimates) -> impl Iterator<Item = (CmpRow, f64, f64, f64)> {
    let rows = cmp_rows(estimates).into_iter();
    rows.filter_map(|row| {
        let (median, lo, hi) = (row.median?, row.lo?, row.hi?);
        Some((row, median, lo, hi))
    })
}

fn pretty(of: &impl Serialize) -> String {
    // Plain data with string keys: there is no error but a lack of memory.
    serde_json::to_string_pretty(of).expect("it is plain data")
}
