//! The lines that `rank` and `cmp` print as JSON, and the part that `show` shares with them: keys are stable, numbers
//! are not rounded.

use flowmeter_harness::caps::Origin;
use flowmeter_records::Better;
use serde::{Deserialize, Serialize};

use crate::checked::Checked;
use crate::statistics::{Cell, Estimates, Quantity, Standing, View};

/// A line of `rank --format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankRow {
    /// Group of scenarios.
    pub group: String,
    /// What its cells measure: one ranking each.
    pub quantity: Quantity,
    /// The implementation.
    pub implementation: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Geometric mean of its ratios to the best of each cell, at most 1.
    pub ratio_to_best: f64,
    /// Lower end of its interval.
    pub lo: f64,
    /// Upper end of its interval.
    pub hi: f64,
    /// Tier, from 1. The next begins where all that follow are slower than the best of this one; in an exploratory run
    /// all are 1. Partial entrants (fewer cells than the group's leader) share one after all others.
    pub tier: u32,
    /// The verdict about it among those with every cell.
    pub verdict: Standing,
    /// Whether it has a place in the order. Without one its ratio and tier mean nothing: its group has fewer than three
    /// cells, or nothing was proved of it. Omitted if true.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub ranked: bool,
    /// Cells in which it has a number.
    pub cells: usize,
    /// Why it is not proved in the forms of its cells. Omitted if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproved: Option<String>,
    /// What was checked of it, by the form of its cells if that makes a difference.
    pub checked: Vec<Checked>,
    /// Some of these numbers are bounds, so the true ratio is at least this. Omitted if none is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

/// The default: a row has a place in the order.
fn yes() -> bool {
    true
}

/// A cell's number in lines of JSON. Without one `error` says why, and every number is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRow {
    /// Which scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Median, in `unit`.
    pub median: Option<f64>,
    /// Lower end of its interval.
    pub lo: Option<f64>,
    /// Upper end of its interval.
    pub hi: Option<f64>,
    /// Unit of the median.
    pub unit: String,
    /// Whether more or less is better.
    pub better: Better,
    /// Ratio to the scenario's best, at most 1 except for a reference and an unproved cell. Above 1 is better, whether
    /// more or less of the value is better.
    pub ratio_to_best: Option<f64>,
    /// The median is an upper bound, since the load generator was the limit. Omitted if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// Why nothing was proved of it in the scenario's form: never the best, and in no ranking. Omitted if something
    /// was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproved: Option<String>,
    /// Why it has no number.
    pub error: Option<String>,
}

impl CellRow {
    /// From an estimated cell.
    pub(crate) fn of(cell: &Cell) -> CellRow {
        let measured = cell.measured();
        CellRow {
            scenario: cell.scenario.clone(),
            implementation: cell.implementation.clone(),
            median: measured.map(|m| m.median),
            lo: measured.map(|m| m.lo),
            hi: measured.map(|m| m.hi),
            unit: cell.unit.clone(),
            better: cell.better,
            ratio_to_best: measured.map(|m| m.ratio),
            at_most: measured.is_some_and(|m| m.standing == Standing::AtMost),
            unproved: cell.unproved.clone(),
            error: cell.error(),
        }
    }
}

/// A line of `cmp --format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CmpRow {
    /// Its number.
    #[serde(flatten)]
    pub cell: CellRow,
    /// Where the implementation comes from.
    pub origin: Origin,
    /// Lower end of the ratio's interval.
    pub ratio_lo: Option<f64>,
    /// Upper end of the ratio's interval.
    pub ratio_hi: Option<f64>,
    /// The verdict about it; `null` without a number.
    pub verdict: Option<Standing>,
    /// A reference: never the best itself. Omitted if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
}

/// The rankings of every group over all its cells, one for each quantity, best first, partial entrants after these, unproved ones last.
pub fn rank_rows(estimates: &Estimates) -> Vec<RankRow> {
    let all = estimates.rankings.iter().filter(|r| r.view == View::All);
    all.flat_map(|ranking| {
        ranking.ranks.iter().map(|rank| RankRow {
            group: ranking.group.clone(),
            quantity: ranking.quantity,
            implementation: rank.implementation.clone(),
            origin: rank.origin,
            ratio_to_best: rank.ratio,
            lo: rank.lo,
            hi: rank.hi,
            tier: rank.tier,
            verdict: rank.standing,
            ranked: ranking.is_ranked() && rank.unproved.is_none(),
            cells: rank.cells,
            unproved: rank.unproved.clone(),
            checked: ranking.checked(&rank.implementation).to_vec(),
            at_least: rank.bounds > 0,
        })
    })
    .collect()
}

/// Every cell, by scenario, best first, then unproved ones, then references, cells without a number last.
pub fn cmp_rows(estimates: &Estimates) -> Vec<CmpRow> {
    let mut rows: Vec<CmpRow> = Vec::new();
    for scenario in estimates.cells.chunk_by(|a, b| a.scenario == b.scenario) {
        let first = rows.len();
        rows.extend(scenario.iter().map(|cell| {
            let measured = cell.measured();
            CmpRow {
                cell: CellRow::of(cell),
                origin: cell.origin,
                ratio_lo: measured.map(|m| m.ratio_lo),
                ratio_hi: measured.map(|m| m.ratio_hi),
                verdict: measured.map(|m| m.standing),
                reference: cell.reference,
            }
        }));
        // Stable: equal ones stay in the order of their names.
        rows[first..].sort_by(|a, b| {
            let place = |row: &CmpRow| {
                let cell = &row.cell;
                (cell.error.is_some(), row.reference, cell.unproved.is_some())
            };
            let ratio = |row: &CmpRow| row.cell.ratio_to_best.unwrap_or(f64::NEG_INFINITY);
            let by_ratio = || ratio(b).total_cmp(&ratio(a));
            place(a).cmp(&place(b)).then_with(by_ratio)
        });
    }
    rows
}
