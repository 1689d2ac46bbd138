//! CPU time per operation against throughput: it separates implementations that are fast because they
//! work little from those that are fast because they spin.

use std::collections::BTreeMap;

use flowmeter_records::Measure;
use plotters::element::Pixel;

use super::axis::Axis;
use super::frame::{Frame, marker};
use super::svg::Ink;
use super::{Chart, Data, Hover, Key, placebo_spread};
use crate::error::ReportError;
use crate::number;

/// An implementation's cells: speed and CPU time, each against the scenario's best.
struct Points {
    key: Key,
    cells: Vec<(f64, f64)>,
}

impl Points {
    /// Geometric means.
    fn middle(&self) -> (f64, f64) {
        let n = self.cells.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| {
            (self.cells.iter().map(|cell| of(cell).ln()).sum::<f64>() / n).exp()
        };
        (mean(|c| c.0), mean(|c| c.1))
    }
}

/// Draws a group's throughput cells, if their CPU time was recorded.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn chart(data: &Data, group: &str) -> Result<Option<Chart>, ReportError> {
    let scenarios: Vec<_> = data
        .scenarios
        .iter()
        .copied()
        .filter(|s| s.group == group && s.measure == Measure::Throughput)
        .collect();
    let mut cells: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for scenario in &scenarios {
        let of_scenario: Vec<(&str, f64, f64)> = data
            .implementations
            .iter()
            .filter_map(|&(name, _)| {
                let cell = data
                    .cell(&scenario.name, name)
                    .filter(|cell| cell.competes())?;
                let measured = cell.measured()?;
                Some((
                    name,
                    measured.ratio,
                    measured.cost.cpu_nanos_per_op.filter(|c| *c > 0.0)?,
                ))
            })
            .collect();
        let least = of_scenario
            .iter()
            .map(|c| c.2)
            .fold(f64::INFINITY, f64::min);
        for (name, ratio, cost) in of_scenario {
            cells.entry(name).or_default().push((ratio, cost / least));
        }
    }
    let points: Vec<Points> = data
        .those(|name| cells.contains_key(name))
        .into_iter()
        .map(|key| Points {
            cells: cells[&*key.name].clone(),
            key,
        })
        .collect();
    let all = || points.iter().flat_map(|p| p.cells.iter());
    let Some(slowest) = all().map(|c| c.0).reduce(f64::min) else {
        return Ok(None);
    };
    let dearest = all().map(|c| c.1).fold(1.0, f64::max);
    let times = |v: f64| format!("{}×", number::tick(v, ""));
    let frame = Frame {
        width: 440,
        height: 290,
        x: Axis::decades(slowest, 1.0, |v| {
            number::ratio(v)
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        }),
        y: Axis::decades(1.0, dearest, times),
        x_name: "throughput, ratio to the best".to_owned(),
        y_name: "CPU time per operation, times the least".to_owned(),
        x_grid: true,
        y_grid: true,
    };
    let shapes = frame.draw(group, |inside, _| {
        for p in &points {
            let colour = Ink::Dot(p.key.place).colour();
            inside.draw_series(p.cells.iter().map(|&cell| Pixel::new(cell, colour)))?;
        }
        inside.draw_series(points.iter().map(|p| marker(p.middle(), p.key.place)))?;
        Ok(())
    })?;
    let rows = points.iter().map(|p| {
        let (ratio, cost) = p.middle();
        let fields = [number::ratio(ratio), times(cost), p.cells.len().to_string()];
        [p.key.name.clone()].into_iter().chain(fields).collect()
    });
    let head = [
        "",
        "throughput, ratio to the best",
        "CPU time per operation, times the least",
        "cells",
    ];
    let title = "CPU per operation against throughput: right and low is better".to_owned();
    Ok(Some(Chart {
        subtitle: format!("{group} · markers are geometric means, dots are cells"),
        description: format!(
            "{title}. A point high up wins by spinning. {} implementations in {} scenarios.",
            points.len(),
            scenarios.len()
        ),
        title,
        size: (frame.width, frame.height),
        shapes,
        hover: Hover::Points(
            points
                .iter()
                .map(|p| (frame.x_pixel(p.middle().0), frame.y_pixel(p.middle().1)))
                .collect(),
        ),
        head: head.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        failures: Vec::new(),
        alarms: Vec::new(),
        remark: String::new(),
        why: String::new(),
        placebo: placebo_spread(data, &scenarios),
        // The whole group: a short command, though it measures a little more.
        scenarios: data
            .scenarios
            .iter()
            .filter(|s| s.group == group)
            .map(|s| s.name.clone())
            .collect(),
        keys: points.into_iter().map(|p| p.key).collect(),
    }))
}
