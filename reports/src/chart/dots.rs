//! One scenario: a dot with its interval for each implementation, best on top. Below it is a small dot for each window
//! that it was computed from. A cell with two modes has a tick at each. Failures are shown in words in place of the dot.

use std::collections::BTreeMap;

use flowmeter_records::{Measure, Scenario, Uncontended};
use plotters::element::{Pixel, Text};
use plotters_backend::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::frame::{Frame, line, marker, text_style};
use super::scaling::measured;
use super::svg::{Ink, UNITS};
use super::{Chart, Data, Hover, direction, form, modes_remark, placebo_spread};
use crate::error::ReportError;
use crate::number;
use crate::statistics::{Cell, Entry, Mode, samples};

/// Characters of a name that fit beside the dots.
const NAME: usize = 18;

/// How far a window's dot lies below the line of its implementation, as a share of the distance of two lines. On the
/// line it would hide the ends of the interval.
const BELOW: f64 = 0.3;
/// How far the tick of a mode reaches from the line of its implementation, in the same measure.
const TICK: f64 = 0.25;

/// How wide the dot of a window is, pixels.
const DOT: i32 = 2;

/// A name that fits, shortened in the middle: variants of an implementation differ at the end.
pub fn short(name: &str) -> String {
    let count = name.chars().count();
    if count <= NAME {
        return name.to_owned();
    }
    let begin = name.chars().take(NAME / 2);
    let end = name.chars().skip(count - (NAME - 1 - NAME / 2));
    begin.chain(['…']).chain(end).collect()
}

/// Draws a scenario.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn chart(data: &Data, scenario: &Scenario) -> Result<Chart, ReportError> {
    let unit = &scenario.unit;
    let cells = data.implementations.iter();
    let mut cells: Vec<&Cell> = cells
        .filter_map(|(name, _)| data.cell(&scenario.name, name))
        .collect();
    // Competing implementations, unproved ones, references, failures.
    let place = |cell: &Cell| {
        (
            cell.measured().is_none(),
            cell.reference,
            cell.unproved.is_some(),
        )
    };
    let ratio = |cell: &Cell| cell.measured().map_or(-1.0, |m| m.ratio);
    cells.sort_by(|a, b| {
        let by_ratio = || ratio(b).total_cmp(&ratio(a));
        place(a).cmp(&place(b)).then_with(by_ratio)
    });
    let numbers = || cells.iter().filter_map(|cell| cell.measured());
    let samples = samples(data.runs, scenario);
    let dots: Vec<Dot> = cells
        .iter()
        .map(|cell| {
            let windows = samples.values(&cell.implementation, Entry::Original);
            let windows = windows.into_iter().map(|(_, value)| value);
            let (number, windows) = match cell.measured() {
                Some(m) => (Ok((m.lo, m.median, m.hi)), windows.collect()),
                None => (Err(cell.failed().unwrap_or_default()), Vec::new()),
            };
            Dot {
                name: &cell.implementation,
                reference: cell.reference,
                number,
                modes: cell.measured().and_then(|m| m.modes),
                windows,
            }
        })
        .collect();
    let picture = picture(data, &scenario.name, (unit, axis_name(scenario)), &dots)?;
    let title = format!(
        "{}: {}",
        scenario.title,
        direction(scenario.measure.better())
    );
    let has_remark = numbers().any(|m| m.remark(unit).is_some());
    let rows = cells.iter().zip(&dots).map(|(cell, dot)| {
        let name = cell.implementation.clone();
        let mut row = match cell.measured() {
            Some(m) => vec![
                name,
                format!("{}{}", m.bound(), number::value(m.median, unit)),
                number::interval(m.lo, m.hi, unit),
                range(&dot.windows, unit),
                match cell.competes() {
                    false => format!("{}, {}", number::ratio(m.ratio), cell.word(true)),
                    true => number::ratio(m.ratio),
                },
            ],
            None => [&name, "no number", "", "", ""].map(str::to_owned).to_vec(),
        };
        if has_remark {
            let remark = cell.measured().and_then(|m| m.remark(unit));
            row.push(remark.unwrap_or_default());
        }
        row
    });
    let head = ["", "median", "95 % interval", "all windows", "ratio"];
    let head = head.into_iter().chain(has_remark.then_some("remark"));
    Ok(Chart {
        subtitle: format!("{} · {}", scenario.name, form(scenario)),
        description: match numbers().next() {
            Some(_) => format!(
                "{title}. {} implementations, from {} to {}.",
                numbers().count(),
                number::value_with_unit(picture.ends.0, unit),
                number::value_with_unit(picture.ends.1, unit)
            ),
            None => format!("{title}. No implementation has a number."),
        },
        title,
        size: picture.size,
        shapes: picture.shapes,
        keys: Vec::new(),
        hover: picture.hover,
        head: head.map(str::to_owned).collect(),
        rows: rows.collect(),
        failures: cells
            .iter()
            .filter_map(|cell| Some(format!("{}: {}", cell.implementation, cell.error()?)))
            .collect(),
        alarms: Vec::new(),
        remark: modes_remark(numbers()),
        why: scenario.why.clone(),
        placebo: placebo_spread(data, &[scenario]),
        scenarios: vec![scenario.name.clone()],
    })
}

/// Draws criterion's estimates of one scenario.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn uncontended(
    data: &Data,
    scenario: &str,
    estimates: &[&Uncontended],
) -> Result<Chart, ReportError> {
    let mut estimates = estimates.to_vec();
    estimates.sort_by(|a, b| a.nanos.total_cmp(&b.nanos));
    let dots = estimates.iter().map(|it| Dot {
        name: &it.implementation,
        reference: false,
        number: Ok((it.lo, it.nanos, it.hi)),
        modes: None,
        windows: Vec::new(),
    });
    let picture = picture(
        data,
        scenario,
        ("ns", number::axis_name("ns")),
        &dots.collect::<Vec<_>>(),
    )?;
    let known = data.scenarios.iter().find(|s| s.name == scenario);
    let title = format!(
        "{}: lower is better",
        known.map_or(scenario, |scenario| &scenario.title)
    );
    let rows = estimates.iter().map(|it| {
        let interval = number::interval(it.lo, it.hi, "ns");
        vec![it.implementation.clone(), number::nanos(it.nanos), interval]
    });
    Ok(Chart {
        subtitle: format!("{scenario} · an operation on one thread, by criterion"),
        description: format!(
            "{title}. {} implementations, from {} to {}.",
            estimates.len(),
            number::nanos(picture.ends.0),
            number::nanos(picture.ends.1)
        ),
        title,
        size: picture.size,
        shapes: picture.shapes,
        keys: Vec::new(),
        hover: picture.hover,
        head: ["", "estimate", "95 % interval"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.collect(),
        failures: Vec::new(),
        placebo: "no placebo".to_owned(),
        scenarios: vec![scenario.to_owned()],
        alarms: Vec::new(),
        remark: String::new(),
        why: String::new(),
    })
}

/// A row of such a picture.
struct Dot<'a> {
    name: &'a str,
    reference: bool,
    /// Its number between the ends of its interval, or why it has none.
    number: Result<(f64, f64, f64), &'a str>,
    /// Its two modes, where it has two.
    modes: Option<[Mode; 2]>,
    /// The values that this was computed from.
    windows: Vec<f64>,
}

/// From the least to the most of some values.
fn range(values: &[f64], unit: &str) -> String {
    let least = values.iter().copied().reduce(f64::min);
    let most = values.iter().copied().reduce(f64::max);
    let ends = least.zip(most);
    ends.map_or_else(String::new, |(least, most)| {
        number::interval(least, most, unit)
    })
}

/// Rows from the top, drawn.
struct Picture {
    size: (u32, u32),
    shapes: String,
    hover: Hover,
    /// The ends of all intervals and modes.
    ends: (f64, f64),
}

/// The name of the horizontal axis.
fn axis_name(scenario: &Scenario) -> String {
    let name = number::axis_name(&scenario.unit);
    match scenario.measure {
        Measure::Latency => format!("{name}, {}", measured(scenario)),
        Measure::Throughput | Measure::Cost => name,
    }
}

/// `unit` is that of the numbers, and the name of their axis.
fn picture(
    data: &Data,
    name: &str,
    (unit, axis): (&str, String),
    dots: &[Dot],
) -> Result<Picture, ReportError> {
    let numbers = || dots.iter().filter_map(|dot| dot.number.ok());
    let modes = || dots.iter().flat_map(|dot| dot.modes.into_iter().flatten());
    let ends = || {
        numbers()
            .flat_map(|(lo, _, hi)| [lo, hi])
            .chain(modes().map(|it| it.median))
    };
    let lo = ends().fold(f64::INFINITY, f64::min);
    let hi = ends().fold(0.0, f64::max);
    // Categories count upwards, and the best is on top.
    let names = dots.iter().rev().map(|dot| match dot.reference {
        true => format!("{}, ref.", short(dot.name)),
        false => short(dot.name),
    });
    let row = |n: usize| (dots.len() - 1 - n) as f64;
    let frame = Frame {
        width: 440,
        height: 70 + 19 * dots.len() as u32,
        // The axis spans intervals and modes, so that one disturbed window does not compress all others.
        x: Axis::values(lo, hi, |v| number::tick(v, unit)),
        y: Axis::categories(names.collect()),
        x_name: axis,
        y_name: String::new(),
        x_grid: true,
        y_grid: false,
    };
    let shapes = frame.draw(name, |inside, root| {
        for (n, dot) in dots.iter().enumerate() {
            let place = data.place(dot.name);
            let colour = Ink::Dot(place).colour();
            // One dot for several that would cover each other; those beyond the axis are drawn at its end.
            let (least, most) = frame.x.ends();
            let windows = dot.windows.iter().map(|value| value.clamp(least, most));
            let step = |at: f64| frame.x_pixel(at) / DOT;
            let places: BTreeMap<i32, f64> = windows.map(|at| (step(at), at)).collect();
            let below = |at: f64| (at, row(n) - BELOW);
            inside.draw_series(places.values().map(|&at| Pixel::new(below(at), colour)))?;
            match dot.number {
                Ok((lo, middle, hi)) => {
                    let ends = vec![(lo, row(n)), (hi, row(n))];
                    inside.draw_series([line(ends, Ink::Interval(place))])?;
                    let modes = dot.modes.iter().flatten().map(|mode| {
                        let at = mode.median;
                        line(
                            vec![(at, row(n) - TICK), (at, row(n) + TICK)],
                            Ink::Interval(place),
                        )
                    });
                    inside.draw_series(modes)?;
                    inside.draw_series([marker((middle, row(n)), place)])?;
                }
                Err(why) => {
                    let at = (frame.x_pixel(frame.x.ends().0) + 6, frame.y_pixel(row(n)));
                    let style = text_style(Ink::Failure, HPos::Left, VPos::Center);
                    let words = format!("no number: {why}");
                    root.draw(&Text::new(words, (at.0 * UNITS, at.1 * UNITS), style))?;
                }
            }
        }
        Ok(())
    })?;
    Ok(Picture {
        size: (frame.width, frame.height),
        shapes,
        hover: Hover::Rows((0..dots.len()).map(|n| frame.y_pixel(row(n))).collect()),
        ends: (lo, hi),
    })
}

#[cfg(test)]
mod tests {
    use super::{NAME, short};

    #[test]
    fn variants_of_a_name_stay_apart() {
        assert_eq!(short("hierarchical_wheel"), "hierarchical_wheel");
        let variants = ["hierarchical_wheel-spinning", "hierarchical_wheel-futures"].map(short);
        assert_eq!(variants[0], "hierarchi…spinning");
        assert_ne!(variants[0], variants[1]);
        assert!(variants.iter().all(|name| name.chars().count() == NAME));
    }
}
