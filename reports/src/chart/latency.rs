//! Percentiles of latency on the axis of HdrHistogram: 1/(1-p) across, time in decades up.
//!
//! The response time counts from the moment at which a message should have been sent (corrected for
//! coordinated omission). The service time counts from the moment at which it was sent (raw).

use flowmeter_records::Scenario;

use super::axis::Axis;
use super::frame::{Frame, line, marker};
use super::svg::Ink;
use super::{Chart, Data, Hover, placebo_spread};
use crate::error::ReportError;
use crate::number;
use crate::statistics::{LatencyCurves, Percentile};

/// Draws a scenario's curves, if it has any.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn chart(data: &Data, scenario: &Scenario) -> Result<Option<Chart>, ReportError> {
    let curves = data.estimates.latencies.iter();
    let curves: Vec<&LatencyCurves> = curves
        .filter(|c| c.scenario == scenario.name && !c.response.is_empty())
        .collect();
    let all = || {
        curves
            .iter()
            .flat_map(|c| c.response.iter().chain(&c.service))
    };
    let Some(lo) = all().map(|p| p.nanos.max(1)).min() else {
        return Ok(None);
    };
    let hi = all().map(|p| p.nanos).max().unwrap_or(lo);
    let last = all().map(|p| p.quantile).fold(0.9, f64::max);
    let frame = Frame {
        width: 440,
        height: 270,
        x: Axis::percentiles(last),
        y: Axis::decades(lo as f64, hi as f64, |v| number::tick(v, "ns")),
        x_name: "share of messages at or below".to_owned(),
        y_name: "latency".to_owned(),
        x_grid: true,
        y_grid: true,
    };
    let across = |p: &Percentile| -(1.0 - p.quantile).log10();
    let points = |percentiles: &[Percentile]| -> Vec<(f64, f64)> {
        percentiles
            .iter()
            .map(|p| (across(p), p.nanos.max(1) as f64))
            .collect()
    };
    let keys = data.those(|name| curves.iter().any(|c| c.implementation == name));
    let shapes = frame.draw(&scenario.name, |inside, _| {
        for key in &keys {
            for curve in curves.iter().filter(|c| c.implementation == key.name) {
                inside.draw_series([line(points(&curve.service), Ink::SecondLine(key.place))])?;
                let response = points(&curve.response);
                let ends = response
                    .iter()
                    .skip(1)
                    .step_by(4)
                    .copied()
                    .collect::<Vec<_>>();
                inside.draw_series([line(response, Ink::Line(key.place))])?;
                inside.draw_series(ends.into_iter().map(|point| marker(point, key.place)))?;
            }
        }
        Ok(())
    })?;
    let longest = curves.iter().map(|c| &c.response).max_by_key(|r| r.len());
    let columns: Vec<f64> = longest.into_iter().flatten().map(|p| p.quantile).collect();
    let mut head = vec!["response / service".to_owned()];
    head.extend(columns.iter().map(|q| number::percentile(*q)));
    let field = |percentiles: &[Percentile], n: usize| {
        percentiles
            .get(n)
            .map_or("–".to_owned(), |p| number::nanos(p.nanos as f64))
    };
    let rows = keys.iter().flat_map(|key| {
        let of_key = curves.iter().filter(move |c| c.implementation == key.name);
        of_key.map(|curve| {
            let fields = (0..columns.len()).map(|n| {
                format!(
                    "{} / {}",
                    field(&curve.response, n),
                    field(&curve.service, n)
                )
            });
            [key.name.clone()].into_iter().chain(fields).collect()
        })
    });
    let title = "Latency by percentile: lower is better".to_owned();
    Ok(Some(Chart {
        subtitle: format!(
            "{} · response time solid, service time dotted",
            scenario.name
        ),
        description: format!(
            "{title}. Curves of {} implementations between {} and {}; percentiles with fewer than ten \
             messages above them are left out.",
            keys.len(),
            number::nanos(lo as f64),
            number::nanos(hi as f64)
        ),
        title,
        size: (frame.width, frame.height),
        shapes,
        hover: Hover::Columns(
            longest
                .into_iter()
                .flatten()
                .map(|p| frame.x_pixel(across(p)))
                .collect(),
        ),
        head,
        rows: rows.collect(),
        failures: super::failures(data, scenario)
            .into_iter()
            .map(|(name, error)| format!("{name}: {error}"))
            .collect(),
        alarms: Vec::new(),
        remark: String::new(),
        why: String::new(),
        placebo: placebo_spread(data, &[scenario]),
        scenarios: vec![scenario.name.clone()],
        keys,
    }))
}
