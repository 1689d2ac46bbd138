//! One scenario: a dot with its interval for each implementation, best on top, failures in words where
//! the dot would be.

use flowmeter_harness::record::Scenario;
use plotters::element::Text;
use plotters_backend::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::frame::{Frame, line, marker, text_style};
use super::svg::{Ink, UNITS};
use super::{Chart, Data, Hover, direction, placebo_spread};
use crate::error::ReportError;
use crate::number;
use crate::statistics::Cell;

/// Characters of a name that fit beside the dots.
const NAME: usize = 18;

/// A name that fits.
fn short(name: &str) -> String {
    if name.chars().count() <= NAME {
        name.to_owned()
    } else {
        name.chars().take(NAME - 1).chain(['…']).collect()
    }
}

/// Draws one.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn chart(data: &Data, scenario: &Scenario) -> Result<Chart, ReportError> {
    let unit = &scenario.unit;
    let cells = data.implementations.iter();
    let mut cells: Vec<&Cell> = cells
        .filter_map(|(name, _)| data.cell(&scenario.name, name))
        .collect();
    let ratio = |cell: &Cell| cell.measured().map_or(-1.0, |m| m.ratio);
    cells.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let numbers = || cells.iter().filter_map(|cell| cell.measured());
    let lo = numbers().map(|m| m.lo).fold(f64::INFINITY, f64::min);
    let hi = numbers().map(|m| m.hi).fold(0.0, f64::max);
    // Categories count upwards, and the best stands on top.
    let names = cells.iter().rev().map(|cell| short(&cell.implementation));
    let row = |n: usize| (cells.len() - 1 - n) as f64;
    let frame = Frame {
        width: 440,
        height: 70 + 19 * cells.len() as u32,
        x: Axis::values(lo, hi, |v| number::tick(v, unit)),
        y: Axis::categories(names.collect()),
        x_name: number::axis_name(unit),
        y_name: String::new(),
        x_grid: true,
        y_grid: false,
    };
    let shapes = frame.draw(&scenario.name, |inside, root| {
        for (n, cell) in cells.iter().enumerate() {
            let place = data.place(&cell.implementation);
            match cell.measured() {
                Some(m) => {
                    let ends = vec![(m.lo, row(n)), (m.hi, row(n))];
                    inside.draw_series([line(ends, Ink::Interval(place))])?;
                    inside.draw_series([marker((m.median, row(n)), place)])?;
                }
                None => {
                    let at = (frame.x_pixel(frame.x.ends().0) + 6, frame.y_pixel(row(n)));
                    let style = text_style(Ink::Failure, HPos::Left, VPos::Center);
                    let words = format!("no number: {}", cell.failed().unwrap_or_default());
                    root.draw(&Text::new(words, (at.0 * UNITS, at.1 * UNITS), style))?;
                }
            }
        }
        Ok(())
    })?;
    let title = format!(
        "{}: {}",
        scenario.title,
        direction(scenario.measure.better())
    );
    let disturbed = numbers().any(|m| m.disturbed > 0);
    let rows = cells.iter().map(|cell| {
        let name = cell.implementation.clone();
        let mut row = match cell.measured() {
            Some(m) => vec![
                name,
                format!("{}{}", m.bound(), number::value(m.median, unit)),
                number::interval(m.lo, m.hi, unit),
                number::ratio(m.ratio),
            ],
            None => [&name, "no number", "", ""].map(str::to_owned).to_vec(),
        };
        if disturbed {
            let said = cell.measured().and_then(|m| m.disturbance());
            row.push(said.unwrap_or_default());
        }
        row
    });
    let head = ["", "median", "95 % interval", "ratio"];
    let head = head.into_iter().chain(disturbed.then_some("rate"));
    Ok(Chart {
        subtitle: format!("{} · {}", scenario.name, scenario.form),
        description: match numbers().next() {
            Some(_) => format!(
                "{title}. {} implementations, from {} to {}.",
                numbers().count(),
                number::value_with_unit(lo, unit),
                number::value_with_unit(hi, unit)
            ),
            None => format!("{title}. No implementation has a number."),
        },
        title,
        size: (frame.width, frame.height),
        shapes,
        keys: Vec::new(),
        hover: Hover::Rows((0..cells.len()).map(|n| frame.y_pixel(row(n))).collect()),
        head: head.map(str::to_owned).collect(),
        rows: rows.collect(),
        failures: cells
            .iter()
            .filter_map(|cell| Some(format!("{}: {}", cell.implementation, cell.error()?)))
            .collect(),
        why: scenario.why.clone(),
        placebo: placebo_spread(data, &[scenario]),
        scenarios: vec![scenario.name.clone()],
    })
}
