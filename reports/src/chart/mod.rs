//! Charts: what each draws, in words, with its data beside it.

mod axis;
mod cpu;
mod dots;
mod frame;
mod latency;
mod scaling;
mod svg;

use std::collections::BTreeMap;

use flowmeter_harness::caps::Origin;
use flowmeter_harness::record::{Better, RunData, Scenario, Uncontended};

pub use frame::legend_symbol;

use crate::error::ReportError;
use crate::number;
use crate::statistics::{Cell, Estimates};

/// What charts are drawn from.
pub struct Data<'a> {
    /// All runs.
    pub runs: &'a [RunData],
    /// Their estimates.
    pub estimates: &'a Estimates,
    /// Scenarios in the order of the page.
    pub scenarios: Vec<&'a Scenario>,
    /// Implementations in the order of the page; the place of one decides its colour and marker.
    pub implementations: Vec<(&'a str, Origin)>,
    cells: BTreeMap<(&'a str, &'a str), &'a Cell>,
}

impl<'a> Data<'a> {
    /// Of these runs.
    ///
    /// # Errors
    /// As [`crate::statistics::scenarios`].
    pub fn new(runs: &'a [RunData], estimates: &'a Estimates) -> Result<Data<'a>, ReportError> {
        let all = runs.iter().flat_map(|run| run.implementations.values());
        let mut implementations: Vec<(&str, Origin)> =
            all.map(|it| (&*it.name, it.origin)).collect();
        let rank = |origin: Origin| match origin {
            Origin::Own => 0,
            Origin::Peer => 1,
            Origin::Foreign => 2,
            Origin::Mutant => 3,
        };
        implementations.sort_by_key(|&(name, origin)| (rank(origin), name));
        implementations.dedup_by_key(|(name, _)| *name);
        let key = |cell: &'a Cell| ((&*cell.scenario, &*cell.implementation), cell);
        Ok(Data {
            runs,
            estimates,
            scenarios: crate::statistics::scenarios(runs)?,
            implementations,
            cells: estimates.cells.iter().map(key).collect(),
        })
    }

    /// A cell, if it was measured or failed.
    pub fn cell(&self, scenario: &str, implementation: &str) -> Option<&'a Cell> {
        self.cells.get(&(scenario, implementation)).copied()
    }

    /// The place of an implementation on the page.
    pub fn place(&self, implementation: &str) -> u16 {
        let place = self
            .implementations
            .iter()
            .position(|(name, _)| *name == implementation);
        place.unwrap_or(0) as u16
    }

    /// Names with their places, of those for which that holds.
    pub fn those(&self, mut holds: impl FnMut(&str) -> bool) -> Vec<Key> {
        let all = (0..).zip(&self.implementations);
        all.filter(|(_, (name, _))| holds(name))
            .map(|(place, (name, _))| Key {
                place,
                name: (*name).to_owned(),
            })
            .collect()
    }
}

/// A name in a legend.
#[derive(Clone, Debug)]
pub struct Key {
    /// Place of the implementation on the page.
    pub place: u16,
    /// Its name.
    pub name: String,
}

/// How the page's script finds the part of the data table that belongs to a place in the picture.
#[derive(Clone, Debug)]
pub enum Hover {
    /// The nearest of these x (pixels) is a column.
    Columns(Vec<i32>),
    /// The nearest of these y (pixels) is a row.
    Rows(Vec<i32>),
    /// The nearest of these points is a row.
    Points(Vec<(i32, i32)>),
}

/// A picture with everything that stands around it.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows and which way is better.
    pub title: String,
    /// What is fixed in it.
    pub subtitle: String,
    /// A sentence for those who do not see it.
    pub description: String,
    /// Width and height of the picture, pixels.
    pub size: (u32, u32),
    /// The shapes of the picture.
    pub shapes: String,
    /// Whose lines these are; empty where names stand in the picture.
    pub keys: Vec<Key>,
    /// How hovering finds data.
    pub hover: Hover,
    /// Head of the data table.
    pub head: Vec<String>,
    /// Its rows: names first.
    pub rows: Vec<Vec<String>>,
    /// Those without a number, and why.
    pub failures: Vec<String>,
    /// How far the placebo was off.
    pub placebo: String,
    /// Its scenarios.
    pub scenarios: Vec<String>,
    /// Why it matters, in a paragraph.
    pub why: String,
}

/// The charts of one group of scenarios.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn charts(data: &Data, group: &str) -> Result<Vec<Chart>, ReportError> {
    let of_group = data.scenarios.iter().copied().filter(|s| s.group == group);
    let scenarios: Vec<&Scenario> = of_group
        .filter(|s| {
            data.implementations
                .iter()
                .any(|(name, _)| data.cell(&s.name, name).is_some())
        })
        .collect();
    let mut charts = Vec::new();
    let families = |s: &&Scenario| (s.axes.family.clone(), s.form.clone(), s.unit.clone());
    let mut by_family: BTreeMap<_, Vec<&Scenario>> = BTreeMap::new();
    for scenario in &scenarios {
        by_family
            .entry(families(scenario))
            .or_default()
            .push(scenario);
    }
    for family in by_family.values() {
        let lines = scaling::lines(family);
        let mut drawn: Vec<&str> = Vec::new();
        for line in &lines {
            drawn.extend(line.scenarios().map(|s| &*s.name));
            charts.push(scaling::chart(data, line)?);
        }
        for scenario in family.iter().filter(|s| !drawn.contains(&&*s.name)) {
            charts.push(dots::chart(data, scenario)?);
        }
        for scenario in family {
            charts.extend(latency::chart(data, scenario)?);
        }
    }
    charts.extend(cpu::chart(data, group)?);
    Ok(charts)
}

/// Criterion's estimates, a chart for each scenario.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn uncontended(data: &Data) -> Result<Vec<Chart>, ReportError> {
    let all: Vec<&Uncontended> = data.estimates.uncontended.iter().collect();
    all.chunk_by(|a, b| a.scenario == b.scenario)
        .map(|of| dots::uncontended(data, &of[0].scenario, of))
        .collect()
}

/// How far the placebos of these scenarios were off, in words.
fn placebo_spread(data: &Data, scenarios: &[&Scenario]) -> String {
    let mut widths: Vec<f64> = scenarios
        .iter()
        .filter_map(|s| data.estimates.placebo(&s.name))
        .map(|placebo| placebo.half_width)
        .collect();
    widths.sort_unstable_by(f64::total_cmp);
    match (widths.first(), widths.last()) {
        (Some(lo), Some(hi)) if widths.len() > 1 => {
            format!(
                "placebo ±{}–{}",
                number::percent(*lo).trim_end_matches(" %"),
                number::percent(*hi)
            )
        }
        (Some(only), _) => format!("placebo ±{}", number::percent(*only)),
        _ => "no placebo".to_owned(),
    }
}

/// Which way is up, in words.
fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    }
}

/// Those of a scenario without a number, in words.
fn failures(data: &Data, scenario: &Scenario) -> Vec<(String, String)> {
    let names = data.implementations.iter();
    names
        .filter_map(|(name, _)| {
            Some((
                (*name).to_owned(),
                data.cell(&scenario.name, name)?.error()?,
            ))
        })
        .collect()
}
