//! Charts, each with a description in words and a table of its data.

mod axis;
mod cpu;
mod dots;
mod excess;
mod fairness;
mod flight;
mod frame;
mod latency;
mod lateness;
mod scaling;
mod svg;

use std::collections::BTreeMap;

use flowmeter_harness::caps::{Kind, Origin};
use flowmeter_records::{Better, Implementation, Measure, RunData, Scenario, Uncontended};

pub use frame::legend_symbol;

use crate::error::ReportError;
use crate::number;
use crate::statistics::{Cell, Estimates, Measured};

/// What charts are drawn from.
pub struct Data<'a> {
    /// All runs.
    pub runs: &'a [RunData],
    /// Their estimates.
    pub estimates: &'a Estimates,
    /// Scenarios in the order of the page.
    pub scenarios: Vec<&'a Scenario>,
    /// Implementations in the order of the page: by kind and origin.
    pub implementations: Vec<(&'a str, Origin)>,
    marks: BTreeMap<&'a str, Mark<'a>>,
    cells: BTreeMap<(&'a str, &'a str), &'a Cell>,
}

/// The look and kind of an implementation.
struct Mark<'a> {
    /// Place among its kind, which decides its colour and marker: only implementations of one kind share a
    /// picture.
    place: u16,
    kind: &'a str,
    reference: bool,
}

impl<'a> Data<'a> {
    /// The data of these runs. `page` has all runs of the page: an implementation looks alike on all machines of a
    /// page.
    ///
    /// # Errors
    /// As [`crate::statistics::scenarios`].
    pub fn new(
        runs: &'a [RunData],
        page: &[&'a RunData],
        estimates: &'a Estimates,
    ) -> Result<Data<'a>, ReportError> {
        let all = page.iter().flat_map(|run| run.implementations.values());
        let mut all: Vec<&Implementation> = all.collect();
        let of_kind = |kind: &str| Kind::ALL.iter().position(|known| known.name() == kind);
        let rank = |origin: Origin| match origin {
            Origin::Own => 0,
            Origin::Peer => 1,
            Origin::Foreign => 2,
            Origin::Mutant => 3,
        };
        all.sort_by_key(|it| (of_kind(&it.kind), &it.kind, rank(it.origin), &it.name));
        let mut marks: BTreeMap<&str, Mark> = BTreeMap::new();
        let mut places: BTreeMap<&str, u16> = BTreeMap::new();
        let mut implementations = Vec::new();
        for it in all {
            if marks.contains_key(&*it.name) {
                continue;
            }
            let next = places.entry(&it.kind).or_default();
            let mark = Mark {
                place: *next,
                kind: &it.kind,
                reference: it.reference,
            };
            *next += 1;
            marks.insert(&it.name, mark);
            implementations.push((&*it.name, it.origin));
        }
        let key = |cell: &'a Cell| ((&*cell.scenario, &*cell.implementation), cell);
        Ok(Data {
            runs,
            estimates,
            scenarios: crate::statistics::scenarios(runs)?,
            implementations,
            marks,
            cells: estimates.cells.iter().map(key).collect(),
        })
    }

    /// A cell, if it was measured or failed.
    pub fn cell(&self, scenario: &str, implementation: &str) -> Option<&'a Cell> {
        self.cells.get(&(scenario, implementation)).copied()
    }

    /// The place of an implementation among its kind.
    pub fn place(&self, implementation: &str) -> u16 {
        self.marks.get(implementation).map_or(0, |mark| mark.place)
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        let last = self.marks.values().map(|mark| mark.place).max();
        last.map_or(0, |last| usize::from(last) + 1)
    }

    /// The kind of an implementation; empty if no run records it.
    pub fn kind(&self, implementation: &str) -> &'a str {
        self.marks.get(implementation).map_or("", |mark| mark.kind)
    }

    /// The keys of the implementations for which `holds` is true.
    pub fn those(&self, mut holds: impl FnMut(&str) -> bool) -> Vec<Key> {
        let all = self.implementations.iter().map(|(name, _)| *name);
        all.filter(|name| holds(name))
            .map(|name| Key {
                place: self.place(name),
                name: name.to_owned(),
                reference: self.marks.get(name).is_some_and(|mark| mark.reference),
            })
            .collect()
    }
}

/// A name in a legend.
#[derive(Clone, Debug)]
pub struct Key {
    /// Place of the implementation among its kind.
    pub place: u16,
    /// Its name.
    pub name: String,
    /// Whether it is a reference: dashed, without markers.
    pub reference: bool,
}

/// How the page's script finds the part of the data table that belongs to a position in the picture.
#[derive(Clone, Debug)]
pub enum Hover {
    /// The nearest of these x (pixels) is a column.
    Columns(Vec<i32>),
    /// The nearest of these y (pixels) is a column.
    Levels(Vec<i32>),
    /// The nearest of these y (pixels) is a row.
    Rows(Vec<i32>),
    /// The nearest of these points is a row.
    Points(Vec<(i32, i32)>),
}

/// A picture with its texts and data.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows and which way is better.
    pub title: String,
    /// What is fixed in it.
    pub subtitle: String,
    /// A sentence that describes it for screen readers.
    pub description: String,
    /// Width and height of the picture, pixels.
    pub size: (u32, u32),
    /// The shapes of the picture.
    pub shapes: String,
    /// The legend; empty if names are in the picture.
    pub keys: Vec<Key>,
    /// How hovering finds data.
    pub hover: Hover,
    /// Head of the data table.
    pub head: Vec<String>,
    /// Its rows: names first. A field that begins with ✗ is a failure.
    pub rows: Vec<Vec<String>>,
    /// Implementations without a number, and why.
    pub failures: Vec<String>,
    /// Observations that must not occur.
    pub alarms: Vec<String>,
    /// Further observations, and how to read them.
    pub remark: String,
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
    let families = |s: &&Scenario| {
        // The load on a channel is an axis; another limit is another question.
        let rate = s.axes.rate.filter(|_| s.measure != Measure::Latency);
        (s.axes.family.clone(), s.form.clone(), s.unit.clone(), rate)
    };
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
            charts.extend(lateness::chart(data, scenario)?);
            charts.extend(flight::chart(data, scenario)?);
            charts.extend(excess::chart(data, scenario)?);
        }
    }
    charts.extend(fairness::chart(data, group)?);
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

/// A form in words.
fn form(scenario: &Scenario) -> &str {
    match &*scenario.form {
        "native" => "each in its own form",
        form => form,
    }
}

/// What ticks beside a median mean, where any of these cells has two modes.
fn modes_remark<'a>(mut cells: impl Iterator<Item = &'a Measured>) -> String {
    let has_modes = cells.any(|cell| cell.modes.is_some());
    let remark = "Two ticks beside a median are the modes of a cell with two groups of rounds.";
    if has_modes { remark } else { "" }.to_owned()
}

/// How far the placebos of these scenarios were off, in words.
fn placebo_spread(data: &Data, scenarios: &[&Scenario]) -> String {
    let placebos = scenarios.iter();
    let placebos = placebos.filter_map(|s| data.estimates.placebo(&s.name));
    let ends = placebos.map(|twin| (twin.lo, twin.hi));
    match ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) {
        Some((lo, hi)) => format!("placebo {}", number::ratio_interval(lo, hi)),
        None => "no placebo".to_owned(),
    }
}

/// Whether more or less is better, in words.
fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    }
}

/// Implementations of a scenario without a number, with the reason.
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
