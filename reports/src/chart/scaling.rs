//! How a value changes along one axis (threads, capacity, message size, clauses, load), with all else
//! the same. A cell with two modes has a tick at each.

use std::collections::BTreeMap;

use flowmeter_records::{Measure, Scenario};
use plotters::element::{Rectangle, Text};
use plotters::style::Color;
use plotters_backend::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::frame::{Frame, line, marker, text_style};
use super::svg::{Ink, UNITS};
use super::{Chart, Data, Hover, direction, failures, form, modes_remark, placebo_spread};
use crate::error::ReportError;
use crate::number;

/// How far the tick of a mode reaches to each side, as a share of the distance of two points.
const TICK: f64 = 0.03;

/// What varies along a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Along {
    Threads,
    Capacity,
    MessageSize,
    Clauses,
    Waiting,
    Parallelism,
    Rate,
    Share,
}

/// Where a scenario stands along an axis: a value to sort by, and a label.
type Position = Option<((usize, usize), String)>;

impl Along {
    const ALL: [Along; 8] = [
        Along::Rate,
        Along::Share,
        Along::Waiting,
        Along::Parallelism,
        Along::Clauses,
        Along::Threads,
        Along::Capacity,
        Along::MessageSize,
    ];

    fn position(self, scenario: &Scenario) -> Position {
        let axes = &scenario.axes;
        match self {
            Along::Threads => {
                let (p, c) = (axes.producers?, axes.consumers.unwrap_or(0));
                Some(((p + c, p), format!("{p}:{c}")))
            }
            Along::Capacity if axes.unbounded => Some(((usize::MAX, 0), "∞".to_owned())),
            Along::Capacity => axes.capacity.map(|n| ((n, 0), n.to_string())),
            Along::MessageSize => {
                let bytes = axes.message_bytes?;
                Some(((bytes, 0), number::bytes(bytes as u64)))
            }
            Along::Clauses => axes.width.map(|n| ((n, 0), n.to_string())),
            Along::Waiting => {
                let waiting = axes.waiting?;
                Some(((waiting, 0), number::tick(waiting as f64, "")))
            }
            Along::Parallelism => axes.parallelism.map(|n| ((n, 0), n.to_string())),
            // A limiter's rate is no load.
            Along::Rate if scenario.measure != Measure::Latency => None,
            Along::Rate => {
                let rate = axes.rate?;
                Some(((rate as usize, 0), number::tick(rate as f64, "")))
            }
            Along::Share => {
                let percent = axes.load_percent?;
                Some(((percent as usize, 0), format!("{percent} %")))
            }
        }
    }

    /// With its unit, for the axis.
    fn name(self, group: &str) -> &'static str {
        match self {
            Along::Threads => "threads, producers:consumers",
            Along::Capacity => "capacity, values (0: rendezvous)",
            Along::MessageSize => "size of a message",
            Along::Clauses => "clauses",
            Along::Waiting => waiting(group),
            Along::Parallelism => "items in work at a time",
            Along::Rate => "offered load, messages/s",
            Along::Share => "offered load, of its own capacity",
        }
    }

    /// In a title.
    fn word(self, group: &str) -> &'static str {
        match self {
            Along::Threads => "threads",
            Along::Capacity => "capacity",
            Along::MessageSize => "message size",
            Along::Clauses => "clauses",
            Along::Waiting => waiting(group),
            Along::Parallelism => "parallelism",
            Along::Rate | Along::Share => "load",
        }
    }
}

/// What waits.
fn waiting(group: &str) -> &'static str {
    match group {
        "timers" | "timers-idle" | "timers-idle-async" => "timers armed",
        "limiters" => "acquirers",
        "executors" => "parked tasks",
        _ => "waiting at a time",
    }
}

/// Scenarios that differ along one axis.
pub struct Line<'a> {
    along: Along,
    points: Vec<(String, &'a Scenario)>,
}

impl<'a> Line<'a> {
    /// Its scenarios.
    pub fn scenarios(&self) -> impl Iterator<Item = &'a Scenario> {
        self.points.iter().map(|(_, scenario)| *scenario)
    }

    fn new(along: Along, scenarios: &[&'a Scenario]) -> Option<Line<'a>> {
        let mut points: Vec<((usize, usize), String, &Scenario)> = scenarios
            .iter()
            .filter_map(|s| along.position(s).map(|(at, label)| (at, label, *s)))
            .collect();
        points.sort_by_key(|(at, _, s)| (*at, s.name.clone()));
        points.dedup_by_key(|(at, _, _)| *at);
        (points.len() > 1).then(|| Line {
            along,
            points: points.into_iter().map(|(_, label, s)| (label, s)).collect(),
        })
    }
}

/// The lines that a family's scenarios form. If axes change together, so that no line has everything
/// else constant, the axis with the most positions is used.
pub fn lines<'a>(family: &[&'a Scenario]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for along in Along::ALL {
        let mut alike: BTreeMap<Vec<Position>, Vec<&Scenario>> = BTreeMap::new();
        for scenario in family {
            let others = Along::ALL.into_iter().filter(|other| *other != along);
            let rest = others.map(|other| other.position(scenario)).collect();
            alike.entry(rest).or_default().push(scenario);
        }
        lines.extend(alike.values().filter_map(|same| Line::new(along, same)));
    }
    let left: Vec<&Scenario> = family
        .iter()
        .copied()
        .filter(|s| {
            !lines
                .iter()
                .any(|line| line.scenarios().any(|drawn| drawn.name == s.name))
        })
        .collect();
    let together = Along::ALL
        .into_iter()
        .filter_map(|along| Line::new(along, &left))
        .reduce(|a, b| {
            if b.points.len() > a.points.len() {
                b
            } else {
                a
            }
        });
    lines.extend(together);
    lines
}

/// What is measured, in a title.
pub fn measured(scenario: &Scenario) -> &'static str {
    match scenario.measure {
        Measure::Throughput => "Throughput",
        Measure::Latency if scenario.axes.family.starts_with("timer-lateness") => "p99 lateness",
        Measure::Latency => "p99 response time",
        Measure::Cost if scenario.unit == "x ideal" => "Time over the ideal",
        Measure::Cost => "Cost",
    }
}

/// Draws a line.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn chart(data: &Data, of: &Line) -> Result<Chart, ReportError> {
    let first = of.points[0].1;
    let scenarios: Vec<&Scenario> = of.scenarios().collect();
    let unit = &first.unit;
    let keys = data.those(|name| {
        scenarios.iter().any(|s| {
            data.cell(&s.name, name)
                .is_some_and(|c| c.measured().is_some())
        })
    });
    let number_of = |scenario: &Scenario, name: &str| data.cell(&scenario.name, name)?.measured();
    let all = || {
        keys.iter()
            .flat_map(|k| scenarios.iter().filter_map(|s| number_of(s, &k.name)))
    };
    let ends = || all().flat_map(|m| [m.lo, m.hi].into_iter().chain(m.mode_medians()));
    let lo = ends().fold(f64::INFINITY, f64::min);
    let hi = ends().fold(0.0, f64::max);
    let labels: Vec<String> = of.points.iter().map(|(label, _)| label.clone()).collect();
    let frame = Frame {
        width: 440,
        height: 270,
        x: Axis::categories(labels.clone()),
        y: Axis::values(lo, hi, |v| number::tick(v, unit)),
        x_name: of.along.name(&first.group).to_owned(),
        y_name: number::axis_name(unit),
        x_grid: false,
        y_grid: true,
    };
    let title = format!(
        "{} against {}: {}",
        measured(first),
        of.along.word(&first.group),
        direction(first.measure.better())
    );
    let places: Vec<f64> = (0..of.points.len() as u32).map(f64::from).collect();
    // Side by side rather than on top of each other.
    let aside = |n: usize| (n as f64 - (keys.len() as f64 - 1.0) / 2.0) * 0.4 / keys.len() as f64;
    let shapes = frame.draw(&first.axes.family, |inside, root| {
        let (bottom, top) = frame.y.ends();
        let crowded = places
            .iter()
            .zip(&scenarios)
            .filter(|(_, s)| s.axes.oversubscribed);
        inside.draw_series(crowded.map(|(x, _)| {
            let corners = [(x - 0.5, top), (x + 0.5, bottom)];
            Rectangle::new(corners, Ink::Oversubscribed.colour().filled())
        }))?;
        if let Some(n) = scenarios.iter().position(|s| s.axes.oversubscribed) {
            let at = (frame.x_pixel(places[n] - 0.5) + 5, frame.y_pixel(top) + 4);
            let style = text_style(Ink::Text, HPos::Left, VPos::Top);
            let word = "oversubscribed";
            root.draw(&Text::new(word, (at.0 * UNITS, at.1 * UNITS), style))?;
        }
        for (n, key) in keys.iter().enumerate() {
            let points: Vec<_> = places
                .iter()
                .zip(&scenarios)
                .filter_map(|(x, s)| number_of(s, &key.name).map(|m| (x + aside(n), m)))
                .collect();
            let intervals = points.iter().map(|&(x, m)| vec![(x, m.lo), (x, m.hi)]);
            inside.draw_series(intervals.map(|ends| line(ends, Ink::Interval(key.place))))?;
            let modes = points.iter().flat_map(|&(x, m)| {
                let ends = move |y| vec![(x - TICK, y), (x + TICK, y)];
                m.mode_medians()
                    .map(move |y| line(ends(y), Ink::Interval(key.place)))
            });
            inside.draw_series(modes)?;
            let middle = points.iter().map(|&(x, m)| (x, m.median));
            inside.draw_series([line(middle.clone().collect(), Ink::Line(key.place))])?;
            inside.draw_series(middle.map(|point| marker(point, key.place)))?;
        }
        Ok(())
    })?;
    let mut head = vec![format!(
        "median and 95 % interval, {}",
        number::axis_name(unit)
    )];
    head.extend(labels);
    let rows = keys.iter().map(|key| {
        let fields = scenarios
            .iter()
            .map(|s| match data.cell(&s.name, &key.name) {
                Some(cell) => match cell.measured() {
                    Some(m) => format!(
                        "{}{} ({}){}",
                        m.bound(),
                        number::value(m.median, unit),
                        number::interval(m.lo, m.hi, unit),
                        m.remark(unit).map_or(String::new(), |it| format!(", {it}"))
                    ),
                    None => "no number".to_owned(),
                },
                None => "–".to_owned(),
            });
        [key.name.clone()].into_iter().chain(fields).collect()
    });
    Ok(Chart {
        subtitle: subtitle(of, &scenarios),
        description: format!(
            "{title}. {} implementations at {} points, from {} to {}.",
            keys.len(),
            of.points.len(),
            number::value_with_unit(lo, unit),
            number::value_with_unit(hi, unit)
        ),
        title,
        size: (frame.width, frame.height),
        shapes,
        hover: Hover::Columns(places.iter().map(|&x| frame.x_pixel(x)).collect()),
        head,
        rows: rows.collect(),
        failures: without(data, of),
        alarms: Vec::new(),
        remark: modes_remark(all()),
        why: first.why.clone(),
        placebo: placebo_spread(data, &scenarios),
        scenarios: scenarios.iter().map(|s| s.name.clone()).collect(),
        keys,
    })
}

/// The implementations without a number at some point, and why; a reason for several points is given
/// once.
fn without(data: &Data, of: &Line) -> Vec<String> {
    let mut reasons: Vec<(String, String, Vec<&str>)> = Vec::new();
    for (label, scenario) in &of.points {
        for (name, error) in failures(data, scenario) {
            match reasons
                .iter_mut()
                .find(|(n, e, _)| *n == name && *e == error)
            {
                Some((_, _, labels)) => labels.push(label),
                None => reasons.push((name, error, vec![label])),
            }
        }
    }
    let said = reasons.into_iter();
    said.map(|(name, error, labels)| format!("{name} at {}: {error}", labels.join(", ")))
        .collect()
}

/// The family, and what is the same at every point.
fn subtitle(of: &Line, scenarios: &[&Scenario]) -> String {
    let first = scenarios[0];
    let mut parts = vec![first.axes.family.clone(), form(first).to_owned()];
    for other in Along::ALL.into_iter().filter(|other| *other != of.along) {
        let position = other.position(first);
        if scenarios.iter().all(|s| other.position(s) == position)
            && let Some((_, label)) = position
        {
            parts.push(match other {
                Along::Threads => format!("threads {label}"),
                Along::Capacity if label == "0" => "rendezvous".to_owned(),
                Along::Capacity if label == "∞" => "unbounded".to_owned(),
                Along::Capacity => format!("capacity {label}"),
                Along::MessageSize => format!("{label} messages"),
                Along::Clauses => format!("{label} clauses"),
                Along::Waiting => format!("{label} {}", waiting(&first.group)),
                Along::Parallelism => format!("{label} at a time"),
                Along::Rate => format!("{label} messages/s"),
                Along::Share => format!("{label} of its own capacity"),
            });
        }
    }
    parts.join(" · ")
}
