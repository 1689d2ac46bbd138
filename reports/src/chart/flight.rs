//! Tasks of pipelines in flight over time: a strip for each implementation, with the requested number and the
//! claimed bound drawn in.

use flowmeter_records::Scenario;
use plotters::element::Text;
use plotters_backend::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::frame::{Frame, line, text_style};
use super::svg::{Ink, UNITS};
use super::{Chart, Data, Hover, Key, placebo_spread};
use crate::error::ReportError;
use crate::number;
use crate::statistics::Flight;

/// Height of a strip over the height of its plot: the name is above the plot.
const STRIP: f64 = 1.55;

/// Pixels of a strip.
const PIXELS: u32 = 66;

/// Intervals of time that the picture distinguishes: two pixels each.
const STRETCHES: u64 = 200;

/// The number of moments in the table.
const MOMENTS: u64 = 10;

/// Draws a scenario's chart, if its tasks were counted.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn chart(data: &Data, scenario: &Scenario) -> Result<Option<Chart>, ReportError> {
    let of = |name: &str| {
        let mut flights = data.estimates.flights.iter();
        flights.find(|f| f.scenario == scenario.name && f.implementation == name)
    };
    let keys = data.those(|name| of(name).is_some());
    let flights: Vec<(&Key, &Flight)> = keys
        .iter()
        .filter_map(|key| Some((key, of(&key.name)?)))
        .collect();
    let (Some((_, first)), Some(most)) = (flights.first(), flights.iter().map(|f| top(f.1)).max())
    else {
        return Ok(None);
    };
    let n = first.parallelism;
    let longest = flights.iter().map(|f| end(f.1)).max().unwrap_or(0);
    // Strips from the top, in the order of the page.
    let base = |row: usize| (flights.len() - 1 - row) as f64 * STRIP;
    let height = |level: u64| level as f64 / most.max(1) as f64;
    let x = Axis::from_zero(longest as f64, |v| number::tick(v, "ns"));
    let ticks = flights.iter().enumerate().flat_map(|(row, (_, flight))| {
        let levels = labelled(flight, most);
        let tick = move |level| (base(row) + height(level), level.to_string());
        levels.into_iter().map(tick)
    });
    let frame = Frame {
        width: 440,
        height: 62 + PIXELS * flights.len() as u32,
        x,
        y: Axis::marked(0.0, flights.len() as f64 * STRIP, ticks.collect()),
        x_name: "time since the first task".to_owned(),
        y_name: "tasks in flight".to_owned(),
        x_grid: false,
        y_grid: false,
    };
    let shapes = frame.draw(&scenario.name, |inside, root| {
        let across = |level: u64, row: usize, ink| {
            let y = base(row) + height(level);
            line(vec![(0.0, y), (frame.x.ends().1, y)], ink)
        };
        for (row, (key, flight)) in flights.iter().enumerate() {
            inside.draw_series([across(0, row, Ink::Grid), across(n, row, Ink::Grid)])?;
            inside.draw_series([line(
                steps(flight, longest / STRETCHES, &|l| base(row) + height(l)),
                Ink::Line(key.place),
            )])?;
            if let Some(bound) = flight.bound {
                inside.draw_series([across(bound, row, Ink::Bound)])?;
            }
            let ink = if flight.is_over() {
                Ink::Failure
            } else {
                Ink::Text
            };
            let at = (
                frame.x_pixel(0.0) + 3,
                frame.y_pixel(base(row) + 1.0 + (STRIP - 1.0) * 0.5),
            );
            let style = text_style(ink, HPos::Left, VPos::Center);
            let words = format!("{}: {}", key.name, said(flight));
            root.draw(&Text::new(words, (at.0 * UNITS, at.1 * UNITS), style))?;
        }
        Ok(())
    })?;
    let moments: Vec<u64> = (0..MOMENTS)
        .map(|i| longest / (2 * MOMENTS) * (2 * i + 1))
        .collect();
    let mut head = vec!["in flight at".to_owned()];
    head.extend(moments.iter().map(|at| number::nanos(*at as f64)));
    head.extend(["claims at most", "peak", "mean over time", "rounds"].map(str::to_owned));
    let rows = flights.iter().map(|(key, flight)| {
        let levels = moments.iter().map(|at| match *at <= end(flight) {
            true => level_at(flight, *at).to_string(),
            false => "done".to_owned(),
        });
        let peak = match flight.is_over() {
            true => format!("✗ {}", against(flight)),
            false => against(flight),
        };
        let rest = [
            claim(flight),
            peak,
            format!("{:.2}", flight.mean),
            flight.rounds.to_string(),
        ];
        [key.name.clone()]
            .into_iter()
            .chain(levels)
            .chain(rest)
            .collect()
    });
    let title =
        format!("Tasks in flight, {n} asked for: close to {n} and not above the bound is better");
    let alarms = flights.iter().filter(|(_, flight)| flight.is_over());
    Ok(Some(Chart {
        subtitle: format!(
            "{} · thin line: n = {n}; dashed: the bound that it claims · first complete round, the same items for all",
            scenario.name
        ),
        description: format!(
            "{title}. {}.",
            flights
                .iter()
                .map(|(key, flight)| format!("{}: {}", key.name, said(flight)))
                .collect::<Vec<_>>()
                .join("; ")
        ),
        title,
        size: (frame.width, frame.height),
        shapes,
        hover: Hover::Columns(moments.iter().map(|at| frame.x_pixel(*at as f64)).collect()),
        head,
        rows: rows.collect(),
        failures: super::failures(data, scenario)
            .into_iter()
            .map(|(name, error)| format!("{name}: {error}"))
            .collect(),
        alarms: alarms
            .map(|(key, flight)| {
                format!(
                    "{} had {} tasks in flight, and claims at most {}: its bound (P1) does not hold.",
                    key.name,
                    flight.peak,
                    claim(flight)
                )
            })
            .collect(),
        remark: "Peaks are those of all complete rounds, means their median. Drawn is the most within each stretch of time."
            .to_owned(),
        why: String::new(),
        placebo: placebo_spread(data, &[scenario]),
        scenarios: vec![scenario.name.clone()],
        keys: Vec::new(),
    }))
}

/// The highest level that its strip shows.
fn top(flight: &Flight) -> u64 {
    flight
        .peak
        .max(flight.bound.unwrap_or(0))
        .max(flight.parallelism)
}

/// The levels to label beside a strip. Labels that would overlap are left to the strip's text.
fn labelled(flight: &Flight, most: u64) -> Vec<u64> {
    let n = flight.parallelism;
    let mut levels = vec![0, n];
    let far = |level: u64| level.abs_diff(n) >= most.div_ceil(4).max(1);
    levels.extend(flight.bound.filter(|bound| far(*bound)));
    levels
}

/// `n + 2 = 6`.
fn claim(flight: &Flight) -> String {
    match flight.bound {
        Some(bound) if bound == flight.parallelism => format!("n = {bound}"),
        Some(bound) if bound > flight.parallelism => {
            format!("n + {} = {bound}", bound - flight.parallelism)
        }
        Some(bound) => bound.to_string(),
        None => "unknown".to_owned(),
    }
}

/// `6, at its bound`.
fn against(flight: &Flight) -> String {
    let words = match flight.bound {
        None => "",
        Some(bound) if flight.peak > bound => ", above its bound",
        Some(bound) if flight.peak == bound => ", at its bound",
        Some(_) => ", below its bound",
    };
    format!("{}{words}", flight.peak)
}

fn said(flight: &Flight) -> String {
    let peak = match flight.bound {
        None => "",
        Some(bound) if flight.peak > bound => " above it",
        Some(bound) if flight.peak == bound => " at it",
        Some(_) => " below it",
    };
    format!(
        "bound {}, peak {}{peak}, mean {:.1}",
        claim(flight),
        flight.peak,
        flight.mean
    )
}

/// A line of horizontal steps: the maximum within each interval of time, down to zero at the end.
fn steps(flight: &Flight, stretch: u64, up: &impl Fn(u64) -> f64) -> Vec<(f64, f64)> {
    let (end, stretch) = (end(flight), stretch.max(1));
    let mut changes = flight.timeline.iter().peekable();
    let (mut now, mut drawn) = (0, 0);
    let mut points = vec![(0.0, up(0))];
    for from in (0..end).step_by(stretch as usize) {
        let mut most = now;
        // A change at the beginning of an interval replaces the level before.
        if changes.peek().is_some_and(|(at, _)| *at == from) {
            most = 0;
        }
        while let Some((_, level)) = changes.next_if(|(at, _)| *at < (from + stretch).min(end)) {
            now = *level;
            most = most.max(now);
        }
        if most != drawn {
            points.extend([(from as f64, up(drawn)), (from as f64, up(most))]);
            drawn = most;
        }
    }
    points.extend([(end as f64, up(drawn)), (end as f64, up(0))]);
    points
}

/// When the last task ended, nanoseconds since the first began.
fn end(flight: &Flight) -> u64 {
    flight.timeline.last().map_or(0, |(moment, _)| *moment)
}

fn level_at(flight: &Flight, moment: u64) -> u64 {
    let past = flight.timeline.iter().take_while(|(at, _)| *at <= moment);
    past.last().map_or(0, |(_, level)| *level)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(timeline: &[(u64, u64)]) -> Flight {
        Flight {
            scenario: "pipelines/tasks".to_owned(),
            implementation: "unordered".to_owned(),
            parallelism: 2,
            bound: Some(2),
            peak: 2,
            mean: 1.0,
            rounds: 1,
            timeline: timeline.to_vec(),
        }
    }

    #[test]
    fn a_stretch_shows_the_most_in_it_and_a_quiet_one_what_was_left() {
        let flight = flight(&[(0, 2), (3, 1), (5, 3), (7, 1), (95, 0)]);
        let points = steps(&flight, 10, &|level| level as f64);
        let expected = [
            (0.0, 0.0),
            (0.0, 0.0),
            (0.0, 3.0),
            (10.0, 3.0),
            (10.0, 1.0),
            (95.0, 1.0),
            (95.0, 0.0),
        ];
        assert_eq!(points, expected);
        assert_eq!([2, 6, 94].map(|at| level_at(&flight, at)), [2, 3, 1]);
    }

    #[test]
    fn a_change_at_the_beginning_of_a_stretch_leaves_nothing_of_before() {
        let flight = flight(&[(0, 2), (10, 1), (20, 0)]);
        let points = steps(&flight, 10, &|level| level as f64);
        assert!(
            points.contains(&(10.0, 1.0)) && points.contains(&(10.0, 2.0)),
            "{points:?}"
        );
    }
}
