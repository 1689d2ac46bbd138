//! How evenly turns were distributed among the threads of one side: a bar of Jain's index for each
//! implementation.

use flowmeter_records::Scenario;
use plotters::element::{Pixel, Rectangle};
use plotters::style::Color;

use super::axis::Axis;
use super::frame::Frame;
use super::svg::Ink;
use super::{Chart, Data, Hover, Key, dots, placebo_spread};
use crate::error::ReportError;
use crate::number;

/// An implementation: its index in each scenario that it has a number in.
struct Even {
    key: Key,
    indices: Vec<Option<f64>>,
}

impl Even {
    fn known(&self) -> impl Iterator<Item = f64> {
        self.indices.iter().copied().flatten()
    }

    /// The mean over its scenarios.
    fn mean(&self) -> f64 {
        self.known().sum::<f64>() / self.known().count() as f64
    }
}

/// Draws a group's chart, if turns were counted.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn chart(data: &Data, group: &str) -> Result<Option<Chart>, ReportError> {
    let index = |scenario: &Scenario, name: &str| {
        let measured = data.cell(&scenario.name, name)?.measured()?;
        measured.cost.fairness
    };
    let counted = |s: &&Scenario| {
        let mut names = data.implementations.iter();
        s.group == group && names.any(|(name, _)| index(s, name).is_some())
    };
    let scenarios: Vec<&Scenario> = data.scenarios.iter().copied().filter(counted).collect();
    let keys = data.those(|name| scenarios.iter().any(|s| index(s, name).is_some()));
    let mut all: Vec<Even> = keys
        .into_iter()
        .map(|key| Even {
            indices: scenarios.iter().map(|s| index(s, &key.name)).collect(),
            key,
        })
        .collect();
    if all.is_empty() {
        return Ok(None);
    }
    all.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
    let row = |n: usize| (all.len() - 1 - n) as f64;
    let names = all.iter().rev().map(|even| dots::short(&even.key.name));
    let frame = Frame {
        width: 440,
        height: 70 + 19 * all.len() as u32,
        x: Axis::from_zero(1.0, |v| number::tick(v, "")),
        y: Axis::categories(names.collect()),
        x_name: "Jain’s index".to_owned(),
        y_name: String::new(),
        x_grid: true,
        y_grid: false,
    };
    let shapes = frame.draw(group, |inside, _| {
        for (n, even) in all.iter().enumerate() {
            let corners = [(0.0, row(n) + 0.3), (even.mean(), row(n) - 0.3)];
            let style = Ink::Marker(even.key.place).colour().filled();
            inside.draw_series([Rectangle::new(corners, style)])?;
            let each = even.known().map(|index| (index, row(n)));
            let ink = Ink::Text.colour();
            inside.draw_series(each.map(|at| Pixel::new(at, ink)))?;
        }
        Ok(())
    })?;
    let text = |index: Option<f64>| index.map_or("–".to_owned(), |index| format!("{index:.3}"));
    let rows = all.iter().map(|even| {
        let first = [even.key.name.clone(), text(Some(even.mean()))];
        let each = even.indices.iter().map(|index| text(*index));
        first.into_iter().chain(each).collect()
    });
    let scenario_names = || scenarios.iter().map(|s| s.name.clone());
    let head = ["".to_owned(), "mean".to_owned()];
    let title = "How evenly threads of one side take turns: right is better".to_owned();
    Ok(Some(Chart {
        subtitle: format!("{group} · bars are means, dots are scenarios"),
        description: format!(
            "{title}. {}.",
            all.iter()
                .map(|even| format!("{}: {:.2}", even.key.name, even.mean()))
                .collect::<Vec<_>>()
                .join("; ")
        ),
        title,
        size: (frame.width, frame.height),
        shapes,
        hover: Hover::Rows((0..all.len()).map(|n| frame.y_pixel(row(n))).collect()),
        head: head.into_iter().chain(scenario_names()).collect(),
        rows: rows.collect(),
        failures: Vec::new(),
        alarms: Vec::new(),
        remark: "1 is quite even; where one of n threads had every turn it is 1/n. Of the side, putting or taking, \
                 where it is lower."
            .to_owned(),
        why: String::new(),
        placebo: placebo_spread(data, &scenarios),
        scenarios: scenario_names().collect(),
        keys: Vec::new(),
    }))
}
