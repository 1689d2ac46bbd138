//! Cumulative distributions of timers' lateness: time across in decades, and up the share of firings that were no
//! later, on HdrHistogram's axis, so that the tail is readable.
//!
//! References, the system's own sleeps, are dashed and without markers: no timer can be expected to beat them by
//! far.

use flowmeter_records::Scenario;

use super::axis::Axis;
use super::frame::{Frame, line, marker};
use super::svg::Ink;
use super::{Chart, Data, Hover, Key, placebo_spread};
use crate::error::ReportError;
use crate::number;
use crate::statistics::{LatenessCurves, Percentile};

/// Lateness below this counts as none, in nanoseconds: a few clock readings.
const NONE: u64 = 100;

/// Draws a scenario's curves, if it has any.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn chart(data: &Data, scenario: &Scenario) -> Result<Option<Chart>, ReportError> {
    let of = |name: &str| {
        let curves = data.estimates.lateness.iter();
        let mut of_scenario = curves.filter(|c| c.scenario == scenario.name);
        of_scenario.find(|c| c.implementation == name && !c.called.is_empty())
    };
    // References first, so that the others are drawn over them.
    let mut keys = data.those(|name| of(name).is_some());
    keys.sort_by_key(|key| !key.reference);
    let curves: Vec<(&Key, &LatenessCurves)> = keys
        .iter()
        .filter_map(|key| Some((key, of(&key.name)?)))
        .collect();
    let all = || {
        curves
            .iter()
            .flat_map(|(_, c)| c.called.iter().chain(&c.claimed))
    };
    let Some(hi) = all().map(|p| p.nanos).max() else {
        return Ok(None);
    };
    let lo = all().map(|p| p.nanos.max(NONE)).min().unwrap_or(NONE);
    let last = all().map(|p| p.quantile).fold(0.9, f64::max);
    let frame = Frame {
        width: 440,
        height: 290,
        x: Axis::decades(lo as f64, hi.max(NONE) as f64, |v| number::tick(v, "ns")),
        y: Axis::percentiles(last),
        x_name: "lateness: time from the deadline to the call".to_owned(),
        y_name: "share of firings that were no later".to_owned(),
        x_grid: true,
        y_grid: true,
    };
    let up = |p: &Percentile| -(1.0 - p.quantile).log10();
    let points = |percentiles: &[Percentile]| -> Vec<(f64, f64)> {
        let each = percentiles.iter();
        each.map(|p| (p.nanos.max(NONE) as f64, up(p))).collect()
    };
    let shapes = frame.draw(&scenario.name, |inside, _| {
        for (key, curve) in &curves {
            let called = points(&curve.called);
            if key.reference {
                inside.draw_series([line(called, Ink::Reference(key.place))])?;
                continue;
            }
            if !curve.claimed.is_empty() {
                let claimed = points(&curve.claimed);
                inside.draw_series([line(claimed, Ink::SecondLine(key.place))])?;
            }
            let some: Vec<_> = called.iter().skip(2).step_by(4).copied().collect();
            inside.draw_series([line(called, Ink::Line(key.place))])?;
            inside.draw_series(some.into_iter().map(|point| marker(point, key.place)))?;
        }
        Ok(())
    })?;
    let longest = curves
        .iter()
        .map(|(_, c)| &c.called)
        .max_by_key(|c| c.len());
    let levels: Vec<&Percentile> = longest.into_iter().flatten().collect();
    let mut head = vec!["called / claimed".to_owned()];
    head.extend(levels.iter().map(|p| number::percentile(p.quantile)));
    head.extend(["firings", "early"].map(str::to_owned));
    let title = "How late timers fire: left and up is better".to_owned();
    let split = curves.iter().any(|(_, c)| !c.claimed.is_empty());
    let referred = curves.iter().any(|(key, _)| key.reference);
    let rows = curves
        .iter()
        .map(|(key, curve)| row(key, curve, levels.len()))
        .collect();
    Ok(Some(Chart {
        subtitle: format!(
            "{}{}{} · all complete rounds",
            scenario.name,
            if split {
                " · solid until the call, dotted until the timer noticed"
            } else {
                ""
            },
            if referred {
                " · dashed the system's sleep"
            } else {
                ""
            }
        ),
        description: format!(
            "{title}. Cumulative distributions of {} implementations between {} and {}; what fewer than ten \
             firings exceed is left out, and firings before their deadline are in no curve.",
            curves.len(),
            number::nanos(lo as f64),
            number::nanos(hi as f64)
        ),
        title,
        size: (frame.width, frame.height),
        shapes,
        hover: Hover::Levels(levels.into_iter().map(|p| frame.y_pixel(up(p))).collect()),
        head,
        rows,
        failures: super::failures(data, scenario)
            .into_iter()
            .map(|(name, error)| format!("{name}: {error}"))
            .collect(),
        alarms: early(&curves),
        remark: remark(&curves),
        why: String::new(),
        placebo: placebo_spread(data, &[scenario]),
        scenarios: vec![scenario.name.clone()],
        keys: keys.into_iter().map(named).collect(),
    }))
}

fn row(key: &Key, curve: &LatenessCurves, columns: usize) -> Vec<String> {
    let time = |percentiles: &[Percentile], n: usize| {
        let at = percentiles.get(n);
        at.map_or("–".to_owned(), |p| number::nanos(p.nanos as f64))
    };
    let fields = (0..columns).map(|n| match curve.claimed.is_empty() {
        true => time(&curve.called, n),
        false => format!("{} / {}", time(&curve.called, n), time(&curve.claimed, n)),
    });
    let early = match curve.early {
        0 => "0".to_owned(),
        some => format!("✗ {}", number::count(some)),
    };
    [named(key.clone()).name]
        .into_iter()
        .chain(fields)
        .chain([number::count(curve.count), early])
        .collect()
}

/// The key, with a note if it is a reference.
fn named(key: Key) -> Key {
    let name = match key.reference {
        true => format!("{} (system's sleep)", key.name),
        false => key.name,
    };
    Key { name, ..key }
}

/// The timers that fired before their deadlines.
fn early(curves: &[(&Key, &LatenessCurves)]) -> Vec<String> {
    let early = curves.iter().filter(|(_, curve)| curve.early > 0);
    early
        .map(|(key, curve)| {
            format!(
                "{}: {} of {} firings came before their deadline; they are in no curve.",
                key.name,
                number::count(curve.early),
                number::count(curve.early + curve.count)
            )
        })
        .collect()
}

fn remark(curves: &[(&Key, &LatenessCurves)]) -> String {
    let firings: u64 = curves.iter().map(|(_, curve)| curve.count).sum();
    match curves.iter().all(|(_, curve)| curve.early == 0) {
        true => format!(
            "None of {} firings came before its deadline.",
            number::count(firings)
        ),
        false => String::new(),
    }
}
